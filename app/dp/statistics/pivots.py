"""Chooses the next pivot of a search for quantiles, from nothing but the counts released before.

For each probability p the search looks for two edges: the last with certainly too few values below it, and the first
with certainly enough. "Certainly" means that the released count is at least `reach` rows away from the count that p
stands for. Each of these two edges lies in a bracket between two edges that are already counted. The next pivot is in
the bracket that may contain the most rows. Its place is a mix of interpolation and bisection; bisection helps if the
data are not smooth. The choice only affects how narrow the intervals are: they are valid for any choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from gmpy2 import mpq

from app.dp.numbers.exact import Rational

_ONE_REACH, _SHARED_REACH = mpq(9, 2), mpq(6)
"""The reach for one quantile and for several, in units of the noise's scale: about right for α = 0.05."""

_AIM = mpq(6, 5)
"""The target of a pivot, in units of the reach: slightly beyond it, so that noise rarely makes a count inconclusive."""

_OUTER, _INNER = mpq(7, 10), mpq(9, 10)
"""The weight of interpolation against bisection: larger if both ends of the bracket were counted."""


@dataclass(slots=True)
class _Bracket:
    """A bracket of one end of an interval: it is between the edges `low` and `high`, at the count `threshold`."""

    threshold: Rational
    aim: Rational
    side: int
    low: int
    high: int


@dataclass(slots=True)
class Pivots:
    """The state of a search after some released counts.

    Attributes:
        known: the counts below edges, by edge index; those of the outer edges follow from n.
        targets: the count of each quantile, in rows.
        brackets: two for each target.
    """

    known: dict[int, Rational]
    targets: tuple[Rational, ...]
    brackets: list[_Bracket]

    RULE: ClassVar[int] = 1
    """The version of this rule. Released counts are only valid for the rule that chose their pivots, so any change
    needs a new number."""

    @classmethod
    def start(  # noqa: PLR0913, PLR0917  all that is public of a search
        cls,
        intervals: int,
        n: int,
        missing: Rational,
        middle: Rational,
        probabilities: Sequence[Rational],
        scale: Rational,
    ) -> Self:
        """Return the state before the first pivot; each of the `missing` rows without a value counts as `middle`."""
        known = {0: middle * missing, intervals: n - (1 - middle) * missing}
        targets = tuple(p * n + (middle - p) * missing for p in probabilities)
        reach = scale * (_ONE_REACH if len(targets) == 1 else _SHARED_REACH)
        brackets = [
            _Bracket(target + side * reach, target + side * reach * _AIM, side, 0, intervals)
            for target in targets
            for side in (-1, 1)
        ]
        return cls(known, targets, brackets)

    def choose(self) -> int:
        """Return the index of the next pivot's edge."""
        bracket = max(self.brackets, key=self._sort_key)
        low, high = bracket.low, bracket.high
        if high - low <= 1:  # all ends are found, so count below the nearest edge again
            return min(max(high if bracket.side < 0 else low, 1), max(self.known) - 1)
        below, above = self.known[low], self.known[high]
        place = (bracket.aim - below) / (above - below) if above > below else mpq(1, 2)
        weight = _INNER if low > 0 and high < max(self.known) else _OUTER
        place = weight * min(max(place, mpq(0)), mpq(1)) + (1 - weight) / 2
        pivot = (low + (high - low) * place + mpq(1, 2)).__floor__()
        return int(min(max(pivot, low + 1), high - 1))

    def _sort_key(self, bracket: _Bracket) -> tuple[bool, Rational]:
        """Return the sort key of a bracket: the rows between its aim and its outer end; finished brackets come last."""
        rows = bracket.aim - self.known[bracket.low]
        if bracket.side > 0:
            rows = self.known[bracket.high] - bracket.aim
        return bracket.high - bracket.low > 1, rows

    def learn(self, pivot: int, count: Rational) -> None:
        """Add the released count below a pivot and narrow the brackets."""
        least, most = self.known[0], self.known[max(self.known)]
        self.known[pivot] = count = min(max(count, least), most)
        for bracket in self.brackets:
            if bracket.low < pivot < bracket.high:
                if count < bracket.threshold:
                    bracket.low = pivot
                else:
                    bracket.high = pivot
