"""What registration keeps of each column of a table: its sums at the declared bounds, and how many rows hold what.

It is as sensitive as the table: it is stored in one file beside it, with the same protection, and deleted with it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import to_nearest_double
from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import value_after, value_before
from app.engines.atomic_files import write_atomically
from app.engines.stored_columns import INT64_MAX, INT64_MIN

GRAMMAR = "1"
"""The version of the grammar of codes. Change it with the grammar, so that old sums are not used for the new one."""

MAX_COLUMNS = 1_000
"""Of a table with more columns nothing is prepared: it would have too many small files and arrays."""

MAX_COUNTED_VALUES = 2**13
"""A column whose bounds have at most this many whole numbers between them is counted value by value."""

MAX_COUNTS = 2**18
"""The most counts of the values of one table; further columns are not counted value by value."""

Values: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ranges:
    """The ranges of stored values whose rows are counted, ascending: they cover all values, and do not overlap.

    Attributes:
        least, most: the ends of each range, included.
        each: whether each whole number within the bounds is a range of its own.
    """

    least: Values
    most: Values
    each: bool

    def __len__(self) -> int:
        """The number of ranges."""
        return len(self.least)


@dataclass(frozen=True)
class ColumnPlan:
    """What is prepared of a column, which its declaration alone decides.

    Attributes:
        column: the column as declared.
        codes: its codes at the declared bounds; None for categories.
        ranges: of a numeric column, the ranges of values whose rows are counted: below the bounds, between them (each
            whole number by itself if they are few), and above. None if the bounds hold no stored value.
    """

    column: Column
    codes: Codes | None
    ranges: Ranges | None

    @property
    def has_codes(self) -> bool:
        """Whether a stored table has a column of its codes or places.

        Exact codes are the values themselves, clamped and less the lower bound: a column of them would take as much
        space as the values.
        """
        return self.codes is None or not self.codes.exact

    @property
    def counts(self) -> int:
        """How many numbers of rows are counted, missing values aside."""
        if self.column.kind is Kind.CATEGORY:
            return len(self.column.categories) + 1
        return 2 if self.column.kind is Kind.BOOLEAN else len(self.ranges or ())


@dataclass(frozen=True)
class PreparedColumn:
    """The exact integers of a column.

    Attributes:
        plan: what they are about.
        total, squares: the sums of the codes and of their squares; 0 for categories.
        missing: the rows without a value.
        counts: the rows of each range, of each category and then of all other texts, or of false and true.
    """

    plan: ColumnPlan
    total: int
    squares: int
    missing: int
    counts: Sequence[int]


def plan_columns(columns: Sequence[Column]) -> list[ColumnPlan]:
    """Return what is prepared of a table with these columns; nothing if it has too many."""
    if len(columns) > MAX_COLUMNS:
        return []
    left, plans = MAX_COUNTS, []
    for column in columns:
        codes = None
        if column.kind is not Kind.CATEGORY:
            try:
                codes = codes_for(column, None)
            except InvalidStatistic:
                continue
        elif not column.categories:
            continue
        plan = ColumnPlan(column, codes, _choose_ranges(codes, left))
        left -= plan.counts
        plans.append(plan)
    return plans


def _choose_ranges(codes: Codes | None, most: int) -> Ranges | None:
    if codes is None or codes.kind is Kind.BOOLEAN:
        return None
    if codes.kind is Kind.REAL:
        first, last = to_nearest_double(codes.lower), to_nearest_double(codes.upper)
        return Ranges(
            np.array([-math.inf, first, value_after(last, codes.kind)]),
            np.array([value_before(first, codes.kind), last, math.inf]),
            each=False,
        )
    lowest, highest = math.ceil(codes.lower * 10**codes.scale), math.floor(codes.upper * 10**codes.scale)
    if not INT64_MIN < lowest <= highest < INT64_MAX:
        return None
    few = highest - lowest < min(MAX_COUNTED_VALUES, most)
    each = np.arange(lowest, highest + 1, dtype=np.int64) if few else np.array([lowest], np.int64)
    last_of_each = each if few else np.array([highest], np.int64)
    return Ranges(
        np.concatenate([np.array([INT64_MIN]), each, np.array([highest + 1])]),
        np.concatenate([np.array([lowest - 1]), last_of_each, np.array([INT64_MAX])]),
        each=few,
    )


@dataclass(frozen=True)
class PreparedTable:
    """The exact integers of a table.

    Attributes:
        n: the number of rows.
        has_codes: whether the table's file has columns of codes; a live table has none.
        columns: what is known of each column, by its name.
    """

    n: int
    has_codes: bool
    columns: Mapping[str, PreparedColumn]

    def find_codes(self, name: str) -> Codes | None:
        """Return the codes that the stored table has of a column, if it has them."""
        known = self.columns.get(name)
        return known.plan.codes if known is not None and self.has_codes and known.plan.has_codes else None

    def find_categories(self, name: str) -> tuple[str, ...]:
        """Return the categories whose places the stored table has, or none."""
        known = self.columns.get(name)
        return known.plan.column.categories if known is not None and self.has_codes else ()


def prepared_file(table: Path) -> Path:
    """Return the path of the prepared sums of a table, whose rows or description are at `table`."""
    return table.with_suffix(".prepared")


def write_prepared(table: Path, prepared: PreparedTable) -> None:
    """Write the prepared sums of a table beside it.

    Raises:
        OSError: the file could not be written; nothing is left behind.
    """
    with write_atomically(prepared_file(table)) as file:
        file.write(encode(prepared))


def encode(table: PreparedTable) -> bytes:
    """Return the content of the file of prepared sums: what was declared, and the integers."""
    columns = [
        {
            "name": each.plan.column.name,
            "kind": each.plan.column.kind,
            "bounds": [*map(str, each.plan.column.bounds or ())],
            "scale": each.plan.column.scale,
            "null_value": None if each.plan.column.null_value is None else str(each.plan.column.null_value),
            "categories": each.plan.column.categories,
            "sums": [each.total, each.squares, each.missing],
            "counts": [*map(int, each.counts)],
        }
        for each in table.columns.values()
    ]
    return json.dumps({"grammar": GRAMMAR, "n": table.n, "has_codes": table.has_codes, "columns": columns}).encode()


def decode(content: bytes) -> PreparedTable | None:
    """Return the prepared sums of a file, or None if another version of the grammar wrote it.

    Raises:
        ValueError, TypeError, LookupError, ArithmeticError: the content is damaged.
    """
    document = json.loads(content)
    if document["grammar"] != GRAMMAR:
        return None
    plans = plan_columns([_decode_column(each) for each in document["columns"]])
    found = {}
    for plan, each in zip(plans, document["columns"], strict=True):
        total, squares, missing = map(int, each["sums"])
        if len(each["counts"]) != plan.counts:
            raise ValueError("not the counts of this column")
        found[plan.column.name] = PreparedColumn(plan, total, squares, missing, each["counts"])
    return PreparedTable(int(document["n"]), bool(document["has_codes"]), found)


def _decode_column(told: Mapping[str, Any]) -> Column:
    bounds, null_value = told["bounds"], told["null_value"]
    return Column(
        told["name"],
        Kind(told["kind"]),
        bounds=(mpq(bounds[0]), mpq(bounds[1])) if bounds else None,
        scale=told["scale"],
        null_value=None if null_value is None else mpq(null_value),
        categories=tuple(told["categories"]),
    )
