"""Needs in terms of what a stored table has: its names of columns, and its columns of codes instead of values.

A stored table has the codes of each column at its declared bounds, and the place of each text in the declared
categories. Needs with other bounds take the values, and the expressions that turn them into codes.
"""

from dataclasses import dataclass, fields, replace

from app.dp.table.bins import Bins, CategoryBins
from app.dp.table.codes import Codes
from app.dp.table.columns import Kind
from app.dp.table.conditions import Condition, Missing, NoneOf, OneOf
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, ColumnTotal, Needs, PairSums
from app.engines.prepared_sums import PreparedTable
from app.engines.stored_columns import encode_code_name, encode_name


@dataclass(frozen=True, slots=True)
class StoredCodes(Codes):
    """Codes that a stored column holds already: no expression computes them."""


@dataclass(frozen=True, slots=True)
class StoredPlaces(CategoryBins):
    """Categories whose places a stored column holds already: no list is joined. NULL is a missing value."""


def use_stored_columns(needs: Needs, table: PreparedTable | None) -> Needs:
    """Return the same needs with the columns of the stored file of a table, and its codes where it has them."""
    if isinstance(needs, ColumnSums | ColumnTotal):
        return type(needs)(*_use_codes(needs.column, needs.codes, table))
    if isinstance(needs, PairSums):
        x, x_codes = _use_codes(needs.x, needs.x_codes, table)
        return PairSums(x, x_codes, *_use_codes(needs.y, needs.y_codes, table))
    if isinstance(needs, BinCounts):
        return BinCounts(*_use_places(needs.column, needs.bins, table))
    return CellSums(
        tuple(_use_places(name, bins, table) for name, bins in needs.axes),
        tuple(_use_places_in_condition(each, table) for each in needs.conditions),
        None if needs.summed is None else _use_codes(*needs.summed, table),
        None if needs.weighted is None else _use_codes(*needs.weighted, table),
    )


def _use_codes(name: str, codes: Codes, table: PreparedTable | None) -> tuple[str, Codes]:
    if table is None or codes != table.find_codes(name):
        return encode_name(name), codes
    return encode_code_name(name), StoredCodes(*(getattr(codes, each.name) for each in fields(codes)))


def _use_places(name: str, bins: Bins, table: PreparedTable | None) -> tuple[str, Bins]:
    if table is None or not isinstance(bins, CategoryBins) or bins.categories != table.find_categories(name):
        return encode_name(name), bins
    return encode_code_name(name), StoredPlaces(bins.categories, bins.missing)


def _use_places_in_condition(condition: Condition, table: PreparedTable | None) -> Condition:
    name = condition.column
    categories = table.find_categories(name) if table is not None and condition.kind is Kind.CATEGORY else ()
    if not categories:
        return replace(condition, column=encode_name(name))
    name = encode_code_name(name)
    if isinstance(condition, OneOf | NoneOf):
        places = {category: place for place, category in enumerate(categories)}
        values = tuple(sorted(places[str(value)] for value in condition.values))
        return replace(condition, column=name, kind=Kind.INTEGER, values=values)
    assert isinstance(condition, Missing)  # noqa: S101 - categories have no ranges
    return Missing(name, Kind.INTEGER)
