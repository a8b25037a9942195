"""Parallel composition: what statistics of disjoint parts of the rows cost together (McSherry 2009, theorem 4).

If each part is what a condition on one column selects, and no two conditions select the same value (or the missing
one), each row is in one
part at most. Replacing a row takes it out of one part and into another, or changes it within one, so the statistics of
at most two parts change: those of one part cost the sum of their ε, and all of them the two largest such sums. (What a
statistic says about the rows outside its filter does not change with a row that stays outside.)

One person's c > 1 rows may be in c parts and move to c others. Each mechanism is calibrated to c rows of its part, and
m rows of it cost m/c of ε. A row is in the count m of two parts at most, so that the sum of m/c is at most 2: all of
them cost twice the largest sum.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from app.dp.statistics.base import Statistic
from app.dp.statistics.count import Count, GroupedCount
from app.dp.statistics.histogram import Histogram
from app.dp.statistics.sum import Sum
from app.dp.statistics.two_way import TwoWay
from app.dp.table.columns import Kind
from app.dp.table.conditions import (
    Between,
    Condition,
    Missing,
    NoneOf,
    NotBetween,
    OneOf,
    Stored,
    value_after,
)

MIN_PARTS = 3
"""Two parts cost the sum of both."""


def charge_together(statistics: Sequence[Statistic], costs: Sequence[int]) -> list[int]:
    """Return what each of some new releases is charged, so that the sum covers what all of them cost together.

    Args:
        statistics: what is released, of one dataset.
        costs: the ε of each, in whole units.
    """
    charges, unpaid = list(costs), set(range(len(costs)))
    filters = _list_filters(statistics) if len(costs) >= MIN_PARTS else {}
    savings = {column: _divide(statistics, costs, conditions)[0] for column, conditions in filters.items()}
    # By the saving of each column alone: choosing again after each column would not be linear.
    for column in sorted(filters, key=lambda name: (-savings[name], name)):
        conditions = {place: condition for place, condition in filters[column].items() if place in unpaid}
        saving, cap, parts = _divide(statistics, costs, conditions)
        if saving > 0:
            for place in chain.from_iterable(parts):
                charges[place] = min(costs[place], cap)
                cap -= charges[place]
            unpaid.difference_update(conditions)
    return charges


def _list_filters(statistics: Sequence[Statistic]) -> dict[str, dict[int, Condition]]:
    """Return for each column the conditions on it, by the positions of their statistics."""
    filters: dict[str, dict[int, Condition]] = defaultdict(dict)
    for place, statistic in enumerate(statistics):
        if isinstance(statistic, Count | GroupedCount | Sum | Histogram | TwoWay):
            for condition in statistic.conditions:
                filters[condition.column][place] = condition
    return dict(filters)


def _divide(
    statistics: Sequence[Statistic], costs: Sequence[int], conditions: Mapping[int, Condition]
) -> tuple[int, int, list[list[int]]]:
    """Return what conditions on one column save, what their statistics cost together, and the parts."""
    parts = _list_parts(conditions, costs)
    sums = [sum(costs[place] for place in part) for part in parts]
    together = sum(sums[:2])
    if len(sums) >= MIN_PARTS and statistics[parts[0][0]].rows_per_unit > 1:
        together = 2 * sums[0]
    return sum(sums) - together, together, parts


def _list_parts(conditions: Mapping[int, Condition], costs: Sequence[int]) -> list[list[int]]:
    """Return the positions of statistics in groups whose conditions select no value in common, the dearest first."""
    leaders = {place: place for place in conditions}

    def find(place: int) -> int:
        while leaders[place] != place:
            leaders[place] = place = leaders[leaders[place]]
        return place

    furthest: Any = None
    owner = 0
    for first, last, place in sorted(_list_ranges(conditions)):
        if furthest is not None and first <= furthest:
            leaders[find(place)] = find(owner)
        if furthest is None or last > furthest:
            furthest, owner = last, place
    parts: dict[int, list[int]] = defaultdict(list)
    for place in sorted(conditions):
        parts[find(place)].append(place)
    return sorted(parts.values(), key=lambda part: (-sum(costs[place] for place in part), part))


_LOWEST, _HIGHEST, _MISSING = (-1,), (1,), (2,)
"""The ends of the range of all values, and the missing value, which is beyond them."""

_BEFORE, _AT, _AFTER = -1, 0, 1
_End: TypeAlias = tuple[int] | tuple[int, Stored, int]


def _end(value: Stored, side: int) -> _End:
    return 0, value, side


def _list_ranges(conditions: Mapping[int, Condition]) -> Iterator[tuple[_End, _End, int]]:
    """Yield the ranges of stored values that conditions on one column select, with the positions."""
    for place, condition in conditions.items():
        match condition:
            case OneOf(values=values):
                for value in values:
                    yield _end(value, _AT), _end(value, _AT), place
            case Between(least=least, most=most):
                yield _end(least, _AT), _end(most, _AT), place
            case NotBetween(least=least, most=most):
                yield _LOWEST, _end(least, _BEFORE), place
                yield _end(most, _AFTER), _HIGHEST, place
            case NoneOf(values=values, kind=kind):
                for first, last in _list_gaps(values, kind):
                    yield first, last, place
            case Missing():
                yield _MISSING, _MISSING, place


def _list_gaps(values: Sequence[Stored], kind: Kind) -> Iterator[tuple[_End, _End]]:
    """Yield the ranges between ascending values, except those that no stored number is in."""
    first: _End = _LOWEST
    before: Any = None
    for value in values:
        if before is None or not kind.numeric or value != value_after(before, kind):
            yield first, _end(value, _BEFORE)
        first, before = _end(value, _AFTER), value
    yield first, _HIGHEST
