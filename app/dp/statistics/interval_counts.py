"""Counts of the values in an interval, and the histograms of which such a count is one bin.

A bin [e, f) has the stored values from the least one that is at least e to the largest one below f, and the first and
the last bin go on without an end. A filter's interval includes both ends, as stored. So both select the same rows of
every table if these ends are equal. The first bin must also leave out the rows without a value: without the bin
`missing`, a row that lacks a value in spite of the declaration is counted in the first bin, and meets no filter.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from app.dp.statistics.base import encode_identity
from app.dp.statistics.count import Count
from app.dp.statistics.histogram import Histogram
from app.dp.table.bins import IntervalBins
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import INT64_LEAST, INT64_MOST, Between, Condition, OneOf, value_before

MAX_LISTED_BINS = 200
"""A histogram with more bins is not looked for."""


class Interval(NamedTuple):
    """The condition of a count that may be a bin: the stored numbers from `least` to `most`.

    Attributes:
        others: the count's other conditions.
        family: the name of the histograms that may have such a bin.
    """

    column: str
    least: float
    most: float
    others: tuple[Condition, ...]
    family: str


def list_intervals(count: Count, columns: Mapping[str, Column]) -> Iterator[Interval]:
    """Yield each condition of a count on a column of numbers or dates that is an interval or a single number."""
    for condition in count.conditions:
        if not columns[condition.column].kind.numeric:
            continue
        if isinstance(condition, Between):
            ends: tuple[Any, Any] = condition.least, condition.most
        elif isinstance(condition, OneOf) and len(condition.values) == 1:
            ends = condition.values * 2
        else:
            continue
        others = tuple(each for each in count.conditions if each is not condition)
        yield Interval(condition.column, *ends, others, _name_family(condition.column, others))


def family_of(histogram: Histogram) -> str | None:
    """Return the name of the histograms of the same column and filter; None if no count is looked for in it."""
    bins = histogram.partition
    if not isinstance(bins, IntervalBins) or bins.count > MAX_LISTED_BINS:
        return None
    return _name_family(histogram.column, histogram.conditions)


def _name_family(column: str, conditions: tuple[Condition, ...]) -> str:
    return encode_identity("intervals", [column, [each.distinction() for each in conditions]])


def find_interval(interval: Interval, bins: IntervalBins) -> int | None:
    """Return the position of the bin that has exactly the numbers of an interval, or None."""
    inner = bins.thresholds()[1:-1]
    place = bisect_right(inner, interval.least)  # the bin of `least`: of equal thresholds the last one
    if place == 0 and not bins.missing:
        return None
    least, most = _ends_of_all(bins.kind)
    first = max(inner[place - 1], least) if place else least
    last = min(value_before(inner[place], bins.kind), most) if place < len(inner) else most
    return place if (first, last) == (interval.least, interval.most) else None


def count_last_bin(histogram: Histogram) -> Count | None:
    """Return the count from which both counts of two bins that have all rows follow: that of the last one."""
    bins = histogram.partition
    if not isinstance(bins, IntervalBins):
        return None
    first, most = bins.thresholds()[1], _ends_of_all(bins.kind)[1]
    if first > most:  # no number that can be stored is in the last bin
        return None
    above = Between(histogram.column, bins.kind, bins.scale, max(first, _ends_of_all(bins.kind)[0]), most)
    return Count(histogram.n, histogram.rows_per_unit, (above,))


def _ends_of_all(kind: Kind) -> tuple[float, float]:
    """Return the ends of the interval of all numbers that a column of this kind may store."""
    return (-math.inf, math.inf) if kind is Kind.REAL else (INT64_LEAST, INT64_MOST)
