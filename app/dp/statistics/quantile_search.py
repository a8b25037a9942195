"""The search for quantiles: counts of values below pivots, where earlier released counts choose each next pivot.

A histogram counts every bin, but only one bin contains the quantile. A search spends its ε only on edges near it. The
count below an edge has a sensitivity of 1, and a number of steps that is fixed in advance shares ε equally.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, json_probability, to_nearest_double
from app.dp.statistics.count_base import Counts
from app.dp.statistics.histogram import MAX_JOINT_INTERVALS, Histogram
from app.dp.statistics.pivots import Pivots
from app.dp.table.bins import IntervalBins
from app.dp.table.cells import Steps
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition
from app.dp.table.sums import Answer, BinCounts, CellSums

MAX_SEARCHED = 5
"""The maximum number of probabilities of a search; for more, a histogram always gives narrower intervals."""

_STEPS_PER_PROBABILITY = 3


@dataclass(frozen=True)
class QuantileSearch(Counts):
    """The number of values below each pivot; a row without a value counts as the fraction `middle`.

    Each row contributes 1, 0 or `middle`, which is between them, so Δ₁ = 1 and the range over n rows is [0, n]. For
    several quantiles, the first step counts the number of values, unless it is public.

    Attributes:
        histogram: the histogram whose edges can be pivots, with its filter.
        probabilities: the distinct probabilities of the quantiles, ascending.
    """

    histogram: Histogram
    probabilities: tuple[Rational, ...]

    kind: ClassVar[str] = "quantile_search"
    members: ClassVar[frozenset[str]] = Histogram.members | {"probabilities"}

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the search that a request asks for; raise InvalidStatistic if it is invalid."""
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
        """The count of each bin, from which the count below any pivot is computed."""
        return self.histogram.needs

    @property
    def intervals(self) -> int:
        """The number of bins without `missing` and `outside`."""
        partition = self.histogram.partition
        return partition.edges.intervals if isinstance(partition, IntervalBins) else 0

    @property
    def middle(self) -> Rational:
        """The fraction that a row without a value counts: the midpoint of the probabilities."""
        return (self.probabilities[0] + self.probabilities[-1]) / 2

    @property
    def counts_values(self) -> bool:
        """Whether the first step counts the values; one quantile does not need it, as `middle` is its probability."""
        return len(self.probabilities) > 1 and self.histogram.components > self.intervals

    @cached_property
    def pivot_steps(self) -> int:
        """The number of pivots, chosen as the best for smooth data with ε·n of about a thousand."""
        finest = (self.intervals - 1).bit_length()
        return 3 + (finest + 1) // 2 + _STEPS_PER_PROBABILITY * (len(self.probabilities) - 1)

    @property
    def components(self) -> int:
        """The number of counts."""
        return self.pivot_steps + self.counts_values

    @property
    def mechanisms(self) -> int:
        """One for each count, since costs add even if earlier counts choose the next one (adaptive composition)."""
        return self.components

    @property
    def bins(self) -> Steps:
        """A label for each count, in their order."""
        first = ("all values",) if self.counts_values else ()
        return Steps((*first, *(f"step {step}" for step in range(1, self.pivot_steps + 1))))

    def search(self, answer: Answer, scale: Rational, release: Callable[[Rational], Rational]) -> list[Rational]:
        """Run the search and return the released counts; each one decides the next pivot.

        Args:
            answer: the engine's answer to `needs`.
            scale: the scale of each count's noise, in rows.
            release: releases one exact count.

        Raises:
            ValueError: if the answer does not match `needs`.
        """
        below = [mpq(0), *accumulate(self.histogram.values(answer)[: self.intervals])]
        without = self.middle * (self.n - below[-1])
        released = [release(below[-1])] if self.counts_values else []
        pivots = self._start(released, scale)
        for _ in range(self.pivot_steps):
            pivot = pivots.choose()
            released.append(release(below[pivot] + without))
            pivots.learn(pivot, _report(released[-1]))
        return released

    def replay(self, released: Sequence[Rational], scale: Rational) -> tuple[Pivots, list[int]]:
        """Return the search state and each pivot's edge index, recomputed from the released counts and their scale."""
        pivots, asked = self._start(released, scale), []
        for count in released[self.counts_values :]:
            asked.append(pivots.choose())
            pivots.learn(asked[-1], _report(count))
        return pivots, asked

    def _start(self, released: Sequence[Rational], scale: Rational) -> Pivots:
        """Return the state before the first pivot; `released` starts with the count of values if there is one."""
        missing = self.n - min(max(_report(released[0]), mpq(0)), mpq(self.n)) if self.counts_values else mpq(0)
        return Pivots.start(self.intervals, self.n, missing, self.middle, self.probabilities, scale)

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """Return the counts of a search without noise."""
        return tuple(self.search(answer, mpq(1), lambda count: count))

    def describe(self) -> dict[str, Any]:
        """Return the request for this search, ready for JSON."""
        probabilities = [json_probability(each) for each in self.probabilities]
        return self.histogram.describe() | {"kind": self.kind, "probabilities": probabilities}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the filter."""
        return self.histogram.conditions

    def _distinction(self) -> list[Any]:
        return [self.histogram.identity, [str(each) for each in self.probabilities], Pivots.RULE]


def _report(count: Rational) -> Rational:
    """Return a count as the answer reports it, a double, since `replay` recomputes the steps from the answer."""
    return mpq(to_nearest_double(count))
