"""The base class of counts that are released to find quantiles: earlier counts decide what is counted next."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, json_probability, to_nearest_double
from app.dp.statistics.count_base import Counts
from app.dp.statistics.histogram import MAX_JOINT_INTERVALS, Histogram
from app.dp.table.bins import IntervalBins
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition
from app.dp.table.sums import Answer, BinCounts, CellSums

MAX_SEARCHED = 5
"""The maximum number of probabilities of a search."""


@dataclass(frozen=True)
class QuantileCounts(Counts, ABC):
    """Counts of values between or below edges that are chosen by earlier released counts.

    Attributes:
        histogram: the histogram whose edges are used, with its filter.
        probabilities: the distinct probabilities of the quantiles, ascending.
    """

    histogram: Histogram
    probabilities: tuple[Rational, ...]

    members: ClassVar[frozenset[str]] = Histogram.members | {"probabilities"}

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the counts that a request asks for; raise InvalidStatistic if it is invalid."""
        histogram = Histogram.build(spec, columns, n, rows_per_unit)
        if not isinstance(histogram.partition, IntervalBins):
            raise InvalidStatistic("column", "must be a numeric column: only its values have an order")
        if histogram.partition.edges.intervals > MAX_JOINT_INTERVALS:
            where = "bins" if spec.get("edges") is None else "edges"
            raise InvalidStatistic(where, f"must make at most {MAX_JOINT_INTERVALS:,} intervals")
        probabilities = tuple(sorted(set(spec.get("probabilities") or ())))
        if not 1 <= len(probabilities) <= MAX_SEARCHED:
            raise InvalidStatistic("probabilities", f"must have 1 to {MAX_SEARCHED} probabilities for a search")
        if not 0 < probabilities[0] <= probabilities[-1] < 1:
            raise InvalidStatistic("probabilities", "must be above 0 and below 1")
        return cls(n, rows_per_unit, histogram, probabilities)

    @property
    def needs(self) -> BinCounts | CellSums:
        """The count of each bin, from which all others are computed."""
        return self.histogram.needs

    @property
    def intervals(self) -> int:
        """The number of bins without `missing` and `outside`."""
        partition = self.histogram.partition
        return partition.edges.intervals if isinstance(partition, IntervalBins) else 0

    @property
    def may_lack_values(self) -> bool:
        """Whether rows can be without a value: missing, or outside the filter."""
        return self.histogram.components > self.intervals

    @abstractmethod
    def search(self, answer: Answer, scale: Rational, release: Callable[..., Rational]) -> list[Rational]:
        """Count, and return the released counts in their order.

        Args:
            answer: the engine's answer to `needs`.
            scale: the scale of the noise of a number that is released by its `sensitivity`, in rows.
            release: releases one exact count; a second argument is its sensitivity, if that is another one.

        Raises:
            ValueError: if the answer does not match `needs`.
        """

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """Return the counts of a search without noise."""
        return tuple(self.search(answer, mpq(1), lambda count, _=None: count))

    def describe(self) -> dict[str, Any]:
        """Return the request for these counts, ready for JSON."""
        probabilities = [json_probability(each) for each in self.probabilities]
        return self.histogram.describe() | {"kind": self.kind, "probabilities": probabilities}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the filter."""
        return self.histogram.conditions


def as_reported(count: Rational) -> Rational:
    """Return a count as the answer reports it, a double, from which every reader recomputes what was counted next."""
    return mpq(to_nearest_double(count))
