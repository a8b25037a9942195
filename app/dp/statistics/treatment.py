"""What a statistic does with missing values and with values outside its bounds: public facts, known before any data.

This tells callers of it. `app.dp.table.codes` and `app.dp.table.bins` do it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from app.dp.numbers.exact import Rational
from app.dp.statistics.base import Statistic
from app.dp.statistics.quantile_counts import QuantileCounts
from app.dp.table.bins import Bins, IntervalBins
from app.dp.table.codes import Codes, codes_for, to_stored_bound
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Between, Condition, Missing, OneOf
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, ColumnTotal, Needs, PairSums

MissingAs: TypeAlias = Rational | Literal["excluded", "missing", "outside"]
"""The value that a missing one counts as, or where it goes.

"missing" is a bin or group of its own, "outside" means that its row does not meet the filter, and "excluded" that it is
left out.
"""


@dataclass(frozen=True, slots=True)
class Treatment:
    """What happens to the values of one column that are missing or outside the bounds.

    Attributes:
        column: the column's name.
        kind: the kind of its values.
        missing_as: what a missing value counts as; None if the column is declared without missing values.
        usual_missing_as: what it counts as within the declared bounds, if the requested bounds change that.
        clamped_to: the bounds that values outside them count as; None for values without an order.
        binned: whether the values are counted in bins, so that those outside the bounds are in the first or last one.
        years: whether the values are calendar years.
    """

    column: str
    kind: Kind
    missing_as: MissingAs | None
    usual_missing_as: Rational | None = None
    clamped_to: tuple[Rational, Rational] | None = None
    binned: bool = False
    years: bool = False

    @property
    def says_something(self) -> bool:
        """Whether there may be values that the rule is about."""
        return self.missing_as is not None or self.clamped_to is not None


def list_treatments(statistic: Statistic, columns: Mapping[str, Column]) -> tuple[Treatment, ...]:
    """Return the treatment of each column that a statistic uses, if there may be values that it is about.

    Args:
        statistic: the statistic.
        columns: the dataset's declared columns by name.
    """
    found: dict[str, Treatment] = {}
    for each in _list_all(statistic.needs, columns, counts_values=isinstance(statistic, QuantileCounts)):
        if each.says_something:
            found.setdefault(each.column, replace(each, years=columns[each.column].holds_years))
    return tuple(found.values())


def treat_in_sums(column: Column) -> Treatment:
    """Return the treatment of a numeric or boolean column in means and sums, within its declared bounds."""
    return replace(_of_codes(column, codes_for(column, None)), years=column.holds_years)


def _list_all(needs: Needs, columns: Mapping[str, Column], *, counts_values: bool) -> Iterator[Treatment]:
    """Yield treatments; the first one of a column counts, since rows outside a filter are not summed at all."""
    if isinstance(needs, ColumnSums | ColumnTotal):
        yield _of_codes(columns[needs.column], needs.codes)
    elif isinstance(needs, PairSums):
        yield _of_codes(columns[needs.x], needs.x_codes)
        yield _of_codes(columns[needs.y], needs.y_codes)
    elif isinstance(needs, BinCounts):
        yield _of_bins(columns[needs.column], needs.bins, counts_values=counts_values)
    elif isinstance(needs, CellSums):
        yield from _of_cells(needs, columns, counts_values=counts_values)


def _of_cells(needs: CellSums, columns: Mapping[str, Column], *, counts_values: bool) -> Iterator[Treatment]:
    # A filter for missing values says itself what it does with them.
    filtered = {each.column: each for each in needs.conditions if not isinstance(each, Missing)}
    used = [_of_codes(columns[name], codes) for name, codes in filter(None, (needs.summed, needs.weighted))]
    used += [_of_bins(columns[name], bins, counts_values=counts_values) for name, bins in needs.axes]
    for each in used:
        yield _within(each, filtered[each.column]) if each.column in filtered else each
    for name in filtered:
        yield Treatment(name, columns[name].kind, _missing_as(columns[name], "outside"))


def _within(treatment: Treatment, condition: Condition) -> Treatment:
    """Return the treatment of the rows that meet a filter on the column itself: no missing value does."""
    return replace(
        treatment,
        missing_as=None if treatment.missing_as is None else "outside",
        usual_missing_as=None,
        clamped_to=None if _keeps_within(condition, treatment.clamped_to) else treatment.clamped_to,
    )


def _keeps_within(condition: Condition, bounds: tuple[Rational, Rational] | None) -> bool:
    """Whether no value that meets a condition is outside the bounds, which may be those of the condition itself."""
    if bounds is None or not isinstance(condition, Between | OneOf):
        return False
    ends: tuple[Any, Any] = (
        (condition.values[0], condition.values[-1])
        if isinstance(condition, OneOf)
        else (condition.least, condition.most)
    )
    unit = 10**condition.scale
    return bool(bounds[0] * unit <= ends[0] and ends[1] <= bounds[1] * unit)


def _missing_as(column: Column, missing_as: MissingAs) -> MissingAs | None:
    return missing_as if column.nullable else None


def _of_codes(column: Column, codes: Codes) -> Treatment:
    clamped_to = (codes.lower, codes.upper) if column.kind.numeric else None
    if not column.nullable:
        return Treatment(column.name, column.kind, None, clamped_to=clamped_to)
    missing_as, usual = _replacement(column, codes), None
    if column.kind.numeric and column.bounds is not None:
        usual = _replacement(column, codes_for(column, None))
    moved = usual if usual != missing_as else None
    return Treatment(column.name, column.kind, missing_as, usual_missing_as=moved, clamped_to=clamped_to)


def _replacement(column: Column, codes: Codes) -> Rational:
    """Return the value that replaces a missing one, as declared if it is: its code's value may differ by `rounding`."""
    if column.null_value is None or column.kind is Kind.BOOLEAN:
        return codes.value(codes.null_code)
    return min(max(column.null_value, codes.lower), codes.upper)


def _of_bins(column: Column, bins: Bins, *, counts_values: bool) -> Treatment:
    missing_as = _missing_as(column, "excluded" if counts_values else "missing")
    clamped_to = None
    if isinstance(bins, IntervalBins):
        last = bins.edges.upper - 1 if bins.period else bins.edges.upper  # the last day of a period is in its bin
        clamped_to = to_stored_bound(bins.kind, bins.edges.lower), to_stored_bound(bins.kind, last)
    return Treatment(column.name, column.kind, missing_as, clamped_to=clamped_to, binned=True)
