"""What only the owner of a table learns, once, when it is registered: how the declaration fits the values.

The report has numbers of rows and never a value. It is in the answer to the registration and nowhere else: it is not
stored, logged, measured or recorded, and no later call returns it.
"""

import logging
import math
from collections.abc import Iterator, Sequence
from typing import Any

from app.dp.numbers.exact import to_nearest_double
from app.dp.statistics.treatment import treat_in_sums
from app.dp.table.bins import BooleanBins, CategoryBins
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import INT64_LEAST, INT64_MOST, Between, Condition, Missing, value_after, value_before
from app.dp.table.sums import Answer, BinCounts, CellSums, Needs
from app.engines.errors import EngineFailure
from app.engines.storage.table_intake import Ingested
from app.engines.storage.tables import Tables
from app.services.rendering.treatments import value_in_words

logger = logging.getLogger(__name__)

MAX_COUNTED_COLUMNS = 1_000
"""A table with more columns has no report, which would take too many scans."""

LARGE_SHARE = 20
"""More than a twentieth of the rows is pointed out."""


def make_report(tables: Tables, ingested: Ingested, columns: Sequence[Column]) -> dict[str, Any] | None:
    """Return what an owner should know of a table; None if it has too many columns, or the engine fails."""
    if len(columns) > MAX_COUNTED_COLUMNS:
        return None
    asked = {column.name: dict(_list_needs(column)) for column in columns}
    try:
        answers = tables.count_once(ingested.file_id, [needs for each in asked.values() for needs in each.values()])
    except EngineFailure:
        logger.warning("the report on a registered table could not be made")
        return None
    found = {
        column.name: {name: _take(name, column, answers[needs]) for name, needs in asked[column.name].items()}
        for column in columns
    }
    advice = [text for column in columns for text in _advise(column, found[column.name], ingested.n)]
    return {"rows": ingested.n, "columns": found, "advice": advice}


def _list_needs(column: Column) -> Iterator[tuple[str, Needs]]:
    """Yield what must be counted of a column, by the member of the report."""
    if column.kind is Kind.CATEGORY:
        counts = BinCounts(column.name, CategoryBins(column.categories, missing=True))
        yield from (("missing", counts), ("undeclared", counts))
    elif column.kind is Kind.BOOLEAN:
        yield "missing", BinCounts(column.name, BooleanBins(missing=True))
    else:
        conditions = [("missing", Missing(column.name, column.kind)), *_list_clamped(column)]
        yield from ((name, CellSums((), (condition,))) for name, condition in conditions)


def _list_clamped(column: Column) -> Iterator[tuple[str, Condition]]:
    """Yield the conditions of the values below and above the declared bounds, unless no value can be there."""
    assert column.bounds is not None  # noqa: S101 - a numeric column has bounds
    name, kind, scale = column.name, column.kind, column.scale if column.kind is Kind.DECIMAL else 0
    if kind is Kind.REAL:
        lower, upper = map(to_nearest_double, column.bounds)
        yield "clamped_low", Between(name, kind, 0, -math.inf, value_before(lower, kind))
        yield "clamped_high", Between(name, kind, 0, value_after(upper, kind), math.inf)
        return
    first, last = math.ceil(column.bounds[0] * 10**scale), math.floor(column.bounds[1] * 10**scale)
    if first > INT64_LEAST:
        yield "clamped_low", Between(name, kind, scale, INT64_LEAST, min(first - 1, INT64_MOST))
    if last < INT64_MOST:
        yield "clamped_high", Between(name, kind, scale, max(last + 1, INT64_LEAST), INT64_MOST)


def _take(name: str, column: Column, answer: Answer) -> int:
    """Return the number of rows that a member of the report counts."""
    counts = tuple(answer)
    if column.kind is Kind.CATEGORY:
        return counts[-1] if name == "missing" else counts[-2]
    return counts[-1] if column.kind is Kind.BOOLEAN else counts[0]


def _advise(column: Column, counts: dict[str, int], n: int) -> Iterator[str]:
    """Yield a sentence for each count of more than a twentieth of the rows, with what to do."""
    for name, rows in counts.items():
        if rows * LARGE_SHARE > n:
            told = _ADVICE[name] if name != "missing" else _describe_missing(column)
            yield f"{column.name}: {rows:,} of {n:,} rows {told}"


def _describe_missing(column: Column) -> str:
    """Return what rows without a value of a column count as; this follows from the declaration alone."""
    if column.kind is Kind.CATEGORY:
        return "have no value, and are in the bin `missing`. Tell the analysts."
    treatment = treat_in_sums(column)
    if treatment.missing_as is None or isinstance(treatment.missing_as, str):
        return "have no value. Tell the analysts, who can leave them out."
    value = value_in_words(treatment.missing_as, treatment)
    if column.null_value is None and column.kind is not Kind.BOOLEAN:
        value += ", the middle of the bounds,"
    return f"have no value, and count as {value} in means and sums. Tell the analysts, who can leave them out."


_ADVICE = {
    "clamped_low": "are below the lower bound, and count as it. Declare a lower one if you know it without the data.",
    "clamped_high": "are above the upper bound, and count as it. Declare a higher one if you know it without the data.",
    "undeclared": "have a text that is not declared, and count as `other`. Declare the categories that are public.",
}
