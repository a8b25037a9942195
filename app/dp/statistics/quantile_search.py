"""The search for quantiles: how many values are below pivots, each chosen by the counts that were released before it.

A histogram counts every bin, although a quantile is in one of them. A search spends its ε on the few edges that matter:
a count below one edge has the sensitivity 1, and the ε is shared by a number of steps that is known beforehand.
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
from app.dp.statistics.histogram import MOST_JOINT_INTERVALS, Histogram
from app.dp.statistics.pivots import Pivots
from app.dp.table.bins import IntervalBins
from app.dp.table.cells import Steps
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition
from app.dp.table.sums import Answer, BinCounts, CellSums

MAX_SEARCHED = 5
"""Probabilities of one search: for more of them a histogram is always narrower."""

_STEPS_PER_PROBABILITY = 3


@dataclass(frozen=True)
class QuantileSearch(Counts):
    """The number of values below each pivot, a row without a value being counted as the part `middle` of one.

    Of one row, that is 1, 0 or `middle`, which is between them: it changes by 1 at most, Δ₁ = 1, and with it that of
    the n rows, which is in [0, n]. Where several quantiles are asked for and the number of values is a secret, that is
    counted first.

    Attributes:
        histogram: the bins, between which the pivots are; with the filter, if there is one.
        probabilities: of the quantiles, ascending.
    """

    histogram: Histogram
    probabilities: tuple[Rational, ...]

    kind: ClassVar[str] = "quantile_search"
    members: ClassVar[frozenset[str]] = Histogram.members | {"probabilities"}

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The search that a request asks for, or InvalidStatistic."""
        histogram = Histogram.build(spec, columns, n, rows_per_unit)
        if not isinstance(histogram.partition, IntervalBins):
            raise InvalidStatistic("column", "must be a numeric column: only its values have an order")
        if histogram.partition.edges.intervals > MOST_JOINT_INTERVALS:
            where = "bins" if spec.get("edges") is None else "edges"
            raise InvalidStatistic(where, f"must make at most {MOST_JOINT_INTERVALS:,} intervals")
        probabilities = tuple(sorted(set(spec.get("probabilities") or ())))
        if not 1 <= len(probabilities) <= MAX_SEARCHED:
            raise InvalidStatistic("probabilities", f"must have 1 to {MAX_SEARCHED} probabilities for a search")
        if not 0 < probabilities[0] <= probabilities[-1] < 1:
            raise InvalidStatistic("probabilities", "must be above 0 and below 1")
        return cls(n, rows_per_unit, histogram, probabilities)

    @property
    def needs(self) -> BinCounts | CellSums:
        """The count of each bin, which is that of every pivot."""
        return self.histogram.needs

    @property
    def intervals(self) -> int:
        """How many bins there are, `missing` and `outside` left out."""
        partition = self.histogram.partition
        return partition.edges.intervals if isinstance(partition, IntervalBins) else 0

    @property
    def middle(self) -> Rational:
        """What a row without a value counts: the middle of the probabilities."""
        return (self.probabilities[0] + self.probabilities[-1]) / 2

    @property
    def counts_values(self) -> bool:
        """Whether the number of values is counted first: one quantile needs it not, as `middle` is its probability."""
        return len(self.probabilities) > 1 and self.histogram.components > self.intervals

    @cached_property
    def pivot_steps(self) -> int:
        """How many pivots are asked about: what is best for smooth data at ε·n of a thousand or so."""
        finest = (self.intervals - 1).bit_length()
        return 3 + (finest + 1) // 2 + _STEPS_PER_PROBABILITY * (len(self.probabilities) - 1)

    @property
    def components(self) -> int:
        """The number of counts."""
        return self.pivot_steps + self.counts_values

    @property
    def mechanisms(self) -> int:
        """One for each count, whatever the counts before it were (adaptive composition)."""
        return self.components

    @property
    def bins(self) -> Steps:
        """The counts in their order."""
        first = ("all values",) if self.counts_values else ()
        return Steps((*first, *(f"step {step}" for step in range(1, self.pivot_steps + 1))))

    def search(self, answer: Answer, scale: Rational, release: Callable[[Rational], Rational]) -> list[Rational]:
        """The counts that `release` makes of the exact ones, of which each decides what the next one is of.

        Args:
            answer: what the engine answered to `needs`.
            scale: of the noise of each count, in rows.
            release: releases one count.

        Raises:
            ValueError: if the answer is to another question.
        """
        below = [mpq(0), *accumulate(self.histogram.values(answer)[: self.intervals])]
        without = self.middle * (self.n - below[-1])
        released = [release(below[-1])] if self.counts_values else []
        pivots = self._start(released, scale)
        for _ in range(self.pivot_steps):
            pivot = pivots.choose()
            released.append(release(below[pivot] + without))
            pivots.learn(pivot, _reported(released[-1]))
        return released

    def replay(self, released: Sequence[Rational], scale: Rational) -> tuple[Pivots, list[int]]:
        """Which edges the released counts are of, by number: they follow from the counts and their scale."""
        pivots, asked = self._start(released, scale), []
        for count in released[self.counts_values :]:
            asked.append(pivots.choose())
            pivots.learn(asked[-1], _reported(count))
        return pivots, asked

    def _start(self, released: Sequence[Rational], scale: Rational) -> Pivots:
        """The search before its first pivot; `released` has the number of values, if that is counted."""
        missing = self.n - min(max(_reported(released[0]), mpq(0)), mpq(self.n)) if self.counts_values else mpq(0)
        return Pivots.start(self.intervals, self.n, missing, self.middle, self.probabilities, scale)

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """The counts of a search without noise."""
        return tuple(self.search(answer, mpq(1), lambda count: count))

    def describe(self) -> dict[str, Any]:
        """The request for this search."""
        probabilities = [json_probability(each) for each in self.probabilities]
        return self.histogram.describe() | {"kind": self.kind, "probabilities": probabilities}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of the filter."""
        return self.histogram.conditions

    def _distinction(self) -> list[Any]:
        return [self.histogram.identity, [str(each) for each in self.probabilities], Pivots.RULE]


def _reported(count: Rational) -> Rational:
    """A count as an answer has it, since the steps are found again from that."""
    return mpq(to_nearest_double(count))
