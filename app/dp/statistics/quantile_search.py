"""The search for quantiles: counts of values below pivots, where earlier released counts choose each next pivot.

A histogram counts every bin, but only one bin contains the quantile. A search spends its ε only on edges near it. The
count below an edge has a sensitivity of 1, and a number of steps that is fixed in advance shares ε equally.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.pivots import Pivots
from app.dp.statistics.quantile_counts import QuantileCounts, as_reported
from app.dp.table.cells import Steps
from app.dp.table.sums import Answer

_STEPS_PER_PROBABILITY = 3


@dataclass(frozen=True)
class QuantileSearch(QuantileCounts):
    """The number of values below each pivot; a row without a value counts as the fraction `middle`.

    Each row contributes 1, 0 or `middle`, which is between them, so Δ₁ = 1 and the range over n rows is [0, n]. For
    several quantiles, the first step counts the number of values, unless it is public.
    """

    kind: ClassVar[str] = "quantile_search"

    @property
    def middle(self) -> Rational:
        """The fraction that a row without a value counts: the midpoint of the probabilities."""
        return (self.probabilities[0] + self.probabilities[-1]) / 2

    @property
    def counts_values(self) -> bool:
        """Whether the first step counts the values; one quantile does not need it, as `middle` is its probability."""
        return len(self.probabilities) > 1 and self.may_lack_values

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

    def search(self, answer: Answer, scale: Rational, release: Callable[..., Rational]) -> list[Rational]:
        """Return the released counts below the pivots; each one decides the next pivot."""
        below = [mpq(0), *accumulate(self.histogram.values(answer)[: self.intervals])]
        without = self.middle * (self.n - below[-1])
        released = [release(below[-1])] if self.counts_values else []
        pivots = self._start(released, scale)
        for _ in range(self.pivot_steps):
            pivot = pivots.choose()
            released.append(release(below[pivot] + without))
            pivots.learn(pivot, as_reported(released[-1]))
        return released

    def replay(self, released: Sequence[Rational], scale: Rational) -> tuple[Pivots, list[int]]:
        """Return the search state and each pivot's edge index, recomputed from the released counts and their scale."""
        pivots, asked = self._start(released, scale), []
        for count in released[self.counts_values :]:
            asked.append(pivots.choose())
            pivots.learn(asked[-1], as_reported(count))
        return pivots, asked

    def _start(self, released: Sequence[Rational], scale: Rational) -> Pivots:
        """Return the state before the first pivot; `released` starts with the count of values if there is one."""
        missing = self.n - min(max(as_reported(released[0]), mpq(0)), mpq(self.n)) if self.counts_values else mpq(0)
        return Pivots.start(self.intervals, self.n, missing, self.middle, self.probabilities, scale)

    def _distinction(self) -> list[Any]:
        return [self.histogram.identity, [str(each) for each in self.probabilities], Pivots.RULE]
