"""Draft the columns of a Parquet file from their types and values."""

import glob
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from decimal import Context, Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import duckdb

from app.dp.table.columns import Kind
from app.dp.table.dates import first_unit, format_units, last_unit
from app.engines.ingest.drafting.draft_texts import NO_KIND, CheckNames
from app.engines.ingest.drafting.text_profile import DECLARABLE, MAX_CATEGORIES
from app.engines.stored_columns import INT64_MAX, INT64_MIN

MAX_COLUMNS_AT_ONCE = 500
"""The maximum number of columns that one query reads."""

MAX_BYTES_AT_ONCE = 2**26
"""About so much of the file is read by one query, if its columns are equally large."""

_ROWS_AT_ONCE = 2_048
_MAX_CHARACTERS = 256
"""Texts are cut to this length, which is one more than a category may have."""

_T = TypeVar("_T")
_U = TypeVar("_U")

_REALS = {"DOUBLE", "FLOAT"}
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_MAX_DIGITS = 18
_EXACT = Context(prec=80)


def draft_parquet(
    connection: duckdb.DuckDBPyConnection, path: Path, check: CheckNames
) -> tuple[list[str], list[dict[str, Any] | str]]:
    """Return the names of a Parquet file's columns, and a declaration of each, or why it has none.

    Exactly this file is read. `check` is called with the names before anything else is done for each of them.
    """
    quoted_path = _quote(glob.escape(str(path)))
    check(_list_names(connection, quoted_path))
    source = _Source(connection, f"read_parquet({quoted_path}, hive_partitioning = false)", path.stat().st_size)
    found = connection.execute(f"DESCRIBE FROM {source.read}").fetchall()
    names = [name for name, *_ in found]
    times = Counter(names)
    drafted: list[dict[str, Any] | None] = [None] * len(names)
    texts: dict[int, str] = {}
    summaries: dict[int, _Summary] = {}
    for place, (name, kind, *_) in enumerate(found):
        if times[name] > 1:
            continue
        quoted = '"' + name.replace('"', '""') + '"'
        if kind == "BOOLEAN":
            drafted[place] = {"kind": "boolean"}
        elif kind in {"VARCHAR", "UUID", "JSON", "BLOB"} or kind.startswith("ENUM"):
            # Old writers do not say which bytes are texts.
            texts[place] = f"TRY(decode({quoted}))" if kind == "BLOB" else quoted
        elif summary := _summarize(quoted, kind):
            summaries[place] = summary
    for place, different in zip(texts, source.find_texts([*texts.values()]), strict=True):
        drafted[place] = _draft_texts(different)
    rows = source.compute([summary.expressions for summary in summaries.values()])
    for (place, summary), row in zip(summaries.items(), rows, strict=True):
        least, most = row[:2]
        drafted[place] = None if least is None or least == most else summary.draft(*row)
    return names, [column or NO_KIND for column in drafted]


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _list_names(connection: duckdb.DuckDBPyConnection, quoted_path: str) -> list[str]:
    """Return the names of a file's columns as its schema has them, without the parts of nested ones.

    This is much faster than `DESCRIBE` if there are very many.
    """
    query = f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({quoted_path})"  # noqa: S608 - quoted
    elements = connection.execute(query).fetchall()
    names, nested = [], 0
    for name, children in elements[1:]:  # the first is the table
        if nested == 0:
            names.append(name)
        else:
            nested -= 1
        nested += children
    return names


class _Summary(NamedTuple):
    """Aggregates of a column, of which the first two are its ends, and what makes a declaration of their values."""

    expressions: Sequence[str]
    draft: Callable[..., dict[str, Any]]


def _summarize(quoted: str, kind: str) -> _Summary | None:
    """Return the aggregates that a declaration of a column of numbers or dates needs; None for other types."""
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        seconds = f"CAST(floor(epoch({quoted})) AS BIGINT)"
        whole = [f"bool_and({seconds} % {unit} = 0)" for unit in (86_400, 3_600, 60)]
        return _Summary([f"min({seconds})", f"max({seconds})", *whole], partial(_draft_dates, kind))
    if kind not in _REALS and not _WHOLE.fullmatch(kind) and not _DECIMAL.fullmatch(kind):
        return None
    finite = f" FILTER (WHERE isfinite({quoted}))" if kind in _REALS else ""
    ends = [f"CAST({end}({quoted}){finite} AS VARCHAR)" for end in ("min", "max")]
    return _Summary(ends, partial(_draft_number, kind))


class _Source(NamedTuple):
    """A Parquet file, and how DuckDB reads it. Each query reads the whole footer, so it is about many columns."""

    connection: duckdb.DuckDBPyConnection
    read: str
    size: int

    def compute(self, expressions: Sequence[Sequence[str]]) -> list[Sequence[Any]]:
        """Return the values of each column's aggregates."""
        return self._in_batches(self._compute, expressions)

    def find_texts(self, expressions: Sequence[str]) -> list[set[str]]:
        """Return the different texts of each column: all, or more than `MAX_CATEGORIES`. Long ones are cut."""
        return self._in_batches(self._find_texts, expressions)

    def _in_batches(self, of_batch: Callable[[Sequence[_T]], list[_U]], expressions: Sequence[_T]) -> list[_U]:
        """Return the results for all columns, of as many at once as fit into memory."""
        columns = len(expressions)
        most = max(1, min(MAX_COLUMNS_AT_ONCE, columns, MAX_BYTES_AT_ONCE * columns // max(1, self.size)))
        found: list[_U] = []
        while len(found) < columns:
            try:
                found += of_batch(expressions[len(found) : len(found) + most])
            except (duckdb.OutOfMemoryException, MemoryError):
                if most == 1:
                    raise
                most = (most + 1) // 2
        return found

    def _compute(self, expressions: Sequence[Sequence[str]]) -> list[Sequence[Any]]:
        every = ", ".join(chain.from_iterable(expressions))
        (row,) = self.connection.execute(f"SELECT {every} FROM {self.read}").fetchall()  # noqa: S608 - quoted
        values = iter(row)
        return [[*islice(values, len(each))] for each in expressions]

    def _find_texts(self, expressions: Sequence[str]) -> list[set[str]]:
        every = ", ".join(f"left(CAST({each} AS VARCHAR), {_MAX_CHARACTERS})" for each in expressions)
        found: list[set[str]] = [set() for _ in expressions]
        for batch in self.connection.sql(f"SELECT {every} FROM {self.read}").to_arrow_reader(_ROWS_AT_ONCE):  # noqa: S608
            wanted = [(texts, place) for place, texts in enumerate(found) if len(texts) <= MAX_CATEGORIES]
            if not wanted:
                break
            for texts, place in wanted:
                texts.update(batch.column(place).unique().drop_null().slice(0, MAX_CATEGORIES + 1).to_pylist())
        return found


def _draft_texts(different: Collection[str]) -> dict[str, Any] | None:
    texts = sorted(different)
    if texts and {text.lower() for text in texts} <= {"true", "false"}:
        return {"kind": "boolean"}
    fits = 0 < len(texts) <= MAX_CATEGORIES and all(map(DECLARABLE.fullmatch, texts))
    return {"kind": "category", "categories": texts, "unconfirmed": ["categories"]} if fits else None


def _draft_dates(kind: str, least: int, most: int, *are_whole: bool) -> dict[str, Any]:
    """Return a declaration of a column of dates or times: a date if all times are midnight, and its type has no zone.

    The resolution is the coarsest of hours, minutes and seconds that keeps each time. `are_whole` is whether all times
    are whole days, hours and minutes.
    """
    of_days, of_hours, of_minutes = are_whole
    ends = max(least, first_unit(Kind.SECONDS)), min(most, last_unit(Kind.SECONDS))
    bounds = [format_units(second, Kind.SECONDS) for second in ends]
    if of_days and "WITH TIME ZONE" not in kind:
        return {"kind": "date", "bounds": [bound[:10] for bound in bounds], "unconfirmed": ["bounds"]}
    resolution = "hour" if of_hours else "minute" if of_minutes else "second"
    declared = {"kind": "timestamp", "time_zone": "UTC", "resolution": resolution, "bounds": bounds}
    return declared | {"unconfirmed": ["bounds", "time_zone"]}


def _draft_number(kind: str, least: str, most: str) -> dict[str, Any]:
    return _choose_number_kind(kind, least, most) | {"bounds": [least, most], "unconfirmed": ["bounds"]}


def _choose_number_kind(kind: str, least: str, most: str) -> dict[str, Any]:
    """Return an exact kind if it holds all numbers: some writers declare 38 digits for every integer."""
    match = _DECIMAL.fullmatch(kind)
    scale = int(match[2]) if match else 0
    units = [Decimal(bound).scaleb(scale, _EXACT) for bound in (least, most)]
    if kind in _REALS or scale > _MAX_DIGITS or not INT64_MIN <= units[0] <= units[1] <= INT64_MAX:
        return {"kind": "real"}
    return {"kind": "decimal", "scale": scale} if scale else {"kind": "integer"}
