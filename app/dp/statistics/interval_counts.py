"""Counts of the numbers in an interval, and the histograms of which such a count is one bin.

A bin [e, f) of an integer or decimal column has the stored whole numbers from ⌈e⌉ to ⌈f⌉ - 1, and the first and the
last bin go on without an end. A filter's interval includes both ends, as stored. So both select the same rows of every
table if these ends are equal. The first bin must also leave out the rows without a value: without the bin `missing`, a
row that lacks a value in spite of the declaration is counted in the first bin, and meets no filter.

No bin of a real column is looked for: a bin does not have its upper end, and a filter does.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from app.dp.errors import InvalidStatistic
from app.dp.statistics.base import encode_identity
from app.dp.statistics.count import Count
from app.dp.statistics.histogram import Histogram
from app.dp.table.bins import IntervalBins
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import INT64_LEAST, INT64_MOST, Between, Condition, OneOf
from app.dp.table.filters import parse_conditions

MAX_LISTED_BINS = 200
"""A histogram with more bins is not looked for."""

_KINDS = frozenset({Kind.INTEGER, Kind.DECIMAL})


class Interval(NamedTuple):
    """The condition of a count that may be a bin: the stored whole numbers from `least` to `most`.

    Attributes:
        others: the count's other conditions.
        family: the name of the histograms that may have such a bin.
    """

    column: str
    least: int
    most: int
    others: tuple[Condition, ...]
    family: str


def list_intervals(count: Count, columns: Mapping[str, Column]) -> Iterator[Interval]:
    """Yield each condition of a count on an integer or decimal column that is an interval or a single number."""
    for condition in count.conditions:
        if columns[condition.column].kind not in _KINDS:
            continue
        if isinstance(condition, Between):
            ends: tuple[Any, Any] = condition.least, condition.most
        elif isinstance(condition, OneOf) and len(condition.values) == 1:
            ends = condition.values * 2
        else:
            continue
        others = tuple(each for each in count.conditions if each is not condition)
        yield Interval(condition.column, int(ends[0]), int(ends[1]), others, _name_family(condition.column, others))


def family_of(histogram: Histogram) -> str | None:
    """Return the name of the histograms of the same column and filter; None if no count is looked for in it."""
    bins = histogram.partition
    if not isinstance(bins, IntervalBins) or bins.kind not in _KINDS or bins.count > MAX_LISTED_BINS:
        return None
    return _name_family(histogram.column, histogram.conditions)


def _name_family(column: str, conditions: tuple[Condition, ...]) -> str:
    return encode_identity("intervals", [column, [each.distinction() for each in conditions]])


def find_interval(interval: Interval, bins: IntervalBins) -> int | None:
    """Return the position of the bin that has exactly the numbers of an interval, or None."""
    inner = [int(threshold) for threshold in bins.thresholds()[1:-1]]
    place = bisect_right(inner, interval.least)  # the bin of `least`: of equal thresholds the last one
    if place == 0 and not bins.missing:
        return None
    first = max(inner[place - 1], INT64_LEAST) if place else INT64_LEAST
    last = min(inner[place] - 1, INT64_MOST) if place < len(inner) else INT64_MOST
    return place if (first, last) == (interval.least, interval.most) else None


def count_last_bin(histogram: Histogram, columns: Mapping[str, Column]) -> Count | None:
    """Return the count from which both counts of two bins that have all rows follow: that of the last one."""
    bins = histogram.partition
    if not isinstance(bins, IntervalBins) or bins.kind not in _KINDS:
        return None
    above = {histogram.column: {"at_least": bins.edges.to_stored(bins.kind)[1]}}
    try:
        return Count(histogram.n, histogram.rows_per_unit, parse_conditions(above, columns))
    except InvalidStatistic:  # no number that can be stored is in the last bin
        return None
