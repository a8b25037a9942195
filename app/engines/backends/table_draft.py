"""Draft the columns of a table in a database from their types, and from the values of its first rows."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from app.dp.table.columns import Column, Kind
from app.dp.table.dates import first_unit, format_units, last_unit
from app.engines.ingest.drafting.draft import DraftedColumns
from app.engines.ingest.drafting.draft_texts import NO_KIND
from app.engines.ingest.drafting.text_profile import DECLARABLE, MAX_CATEGORIES
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql.draft_queries import ends_query, texts_query
from app.engines.sql.live_queries import Normal
from app.engines.sql.numeric_precision import MAX_DIGITS, Digits
from app.engines.sql.queries import Dialect

Run: TypeAlias = Callable[[str], Sequence[tuple[Any, ...]]]
"""Runs a statement and returns its rows."""


class TypedColumns(NamedTuple):
    """A table with the columns whose types can be declared, and why each other column is left out."""

    table: LiveTable
    left_out: dict[str, str]


def column_of_digits(name: str, digits: Digits) -> Column:
    """Return an exact column if it holds all numbers of so many digits, else a real one."""
    before, after, whole = digits
    if after == 0 and (whole or before <= MAX_DIGITS):
        return Column(name, Kind.INTEGER)
    return Column(name, Kind.DECIMAL, scale=after) if after > 0 and before + after <= MAX_DIGITS else real(name)


def real(name: str) -> Column:
    """Return a column of doubles."""
    return Column(name, Kind.REAL)


def texts(name: str) -> Column:
    """Return a column of categories, which are not known yet."""
    return Column(name, Kind.CATEGORY, categories=("",))


def times(name: str, *, has_zone: bool) -> Column:
    """Return a column of times, in UTC if they are instants."""
    return Column(name, Kind.SECONDS, time_zone="UTC" if has_zone else "")


def draft_columns(
    found: TypedColumns, run: Run, normal: Normal, dialect: Dialect, check: Callable[[], None]
) -> DraftedColumns:
    """Return a draft of a table's columns.

    Args:
        found: the columns with their types.
        run: runs a statement in the database.
        normal: how the engine reads a column.
        dialect: the engine's.
        check: is called before each statement, and raises an error if there is to be no other.
    """
    columns: dict[str, dict[str, Any]] = {}
    left_out = dict(found.left_out)
    for each in found.table.columns:
        check()
        if not DECLARABLE.fullmatch(each.name):
            left_out[each.name] = "has no name that can be declared"
        elif (drafted := _draft_column(found.table, each, run, normal, dialect)) is None:
            left_out[each.name] = NO_KIND
        else:
            columns[each.name] = drafted
    return DraftedColumns({"columns": columns}, left_out)


def _draft_column(
    table: LiveTable, column: LiveColumn, run: Run, normal: Normal, dialect: Dialect
) -> dict[str, Any] | None:
    """Return a declaration of a column; None if its values suit none."""
    if column.kind is Kind.BOOLEAN:
        return {"kind": "boolean"}
    if column.kind is Kind.CATEGORY:
        found = sorted(text for (text,) in run(texts_query(table, column, normal, dialect, MAX_CATEGORIES + 1)))
        fits = 0 < len(found) <= MAX_CATEGORIES and all(map(DECLARABLE.fullmatch, found))
        return {"kind": "category", "categories": found, "unconfirmed": ["categories"]} if fits else None
    ((least, most, *rests),) = run(ends_query(table, column, normal, dialect))
    if least is None or least == most:
        return None
    if column.kind.temporal:
        return _draft_dates(column, int(least), int(most), [int(rest) for rest in rests])
    declared = {"kind": str(column.kind), "bounds": [_write(column, least), _write(column, most)]}
    scale = {"scale": column.scale} if column.kind is Kind.DECIMAL else {}
    return declared | scale | {"unconfirmed": ["bounds"]}


def _write(column: LiveColumn, value: float) -> str:
    if column.kind is Kind.REAL:
        return str(float(value) + 0.0)  # zero without a sign
    return str(Decimal(int(value)).scaleb(-column.scale))


def _draft_dates(column: LiveColumn, least: int, most: int, rests: Sequence[int]) -> dict[str, Any]:
    """Return a declaration of dates or times; a time without a zone that is always midnight is a date."""
    ends = max(least, first_unit(column.kind)), min(most, last_unit(column.kind))
    bounds = [format_units(end, column.kind) for end in ends]
    if column.kind is Kind.DATE or (rests[0] == 0 and not column.time_zone):
        return {"kind": "date", "bounds": [bound[:10] for bound in bounds], "unconfirmed": ["bounds"]}
    _, of_hours, of_minutes = rests
    resolution = "hour" if of_hours == 0 else "minute" if of_minutes == 0 else "second"
    declared = {"kind": "timestamp", "time_zone": "UTC", "resolution": resolution, "bounds": bounds}
    return declared | {"unconfirmed": ["bounds", "time_zone"]}
