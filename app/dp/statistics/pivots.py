"""Which edge a search for quantiles asks about next: a function of the counts that were released, and of nothing else.

For each probability p the search looks for two edges: the last below which there are certainly too few values, and the
first below which there are certainly enough. "Certainly" is a number of rows, `reach`, away from the count that p is.
Each of these ends is between two edges that are told apart already, its bracket; the next pivot is in the bracket that
may hide most rows. It is interpolated there, with a part of bisection in it, which is what data that are not smooth
need. Whatever is chosen, the intervals are right: the choice is only about how narrow they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from gmpy2 import mpq

from app.dp.numbers.exact import Rational

_ONE_REACH, _SHARED_REACH = mpq(9, 2), mpq(6)
"""In units of the noise's scale: about what is certain at α = 0.05, of one quantile and of several."""

_AIM = mpq(6, 5)
"""How far beyond the reach a pivot is aimed at, so that noise seldom spoils it."""

_OUTER, _INNER = mpq(7, 10), mpq(9, 10)
"""How much interpolation there is beside bisection: more where both ends of a bracket were counted."""


@dataclass(slots=True)
class _Bracket:
    """One end that is looked for: between the edges `low` and `high`, at the count `threshold`."""

    threshold: Rational
    aim: Rational
    side: int
    low: int
    high: int


@dataclass(slots=True)
class Pivots:
    """What the released counts tell so far.

    Attributes:
        known: the counts below edges, by their numbers; those of the outer edges follow from n.
        targets: the count below which each quantile begins.
        brackets: two for each target.
    """

    known: dict[int, Rational]
    targets: tuple[Rational, ...]
    brackets: list[_Bracket]

    RULE: ClassVar[int] = 1
    """Which rule this is. Released counts are of the pivots of the rule that they were drawn by, so another rule has
    another number."""

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
        """Nothing is known but the outer edges; a row without a value (`missing` of them) is counted as `middle`."""
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
        """The number of the edge to ask about."""
        bracket = max(self.brackets, key=self._hidden)
        low, high = bracket.low, bracket.high
        if high - low <= 1:  # every end is found: ask about the nearest edge of the last one again
            return min(max(high if bracket.side < 0 else low, 1), max(self.known) - 1)
        below, above = self.known[low], self.known[high]
        place = (bracket.aim - below) / (above - below) if above > below else mpq(1, 2)
        weight = _INNER if low > 0 and high < max(self.known) else _OUTER
        place = weight * min(max(place, mpq(0)), mpq(1)) + (1 - weight) / 2
        pivot = (low + (high - low) * place + mpq(1, 2)).__floor__()
        return int(min(max(pivot, low + 1), high - 1))

    def _hidden(self, bracket: _Bracket) -> tuple[bool, Rational]:
        """How many rows a bracket may have beyond what is aimed at; one that is found comes last."""
        rows = bracket.aim - self.known[bracket.low]
        if bracket.side > 0:
            rows = self.known[bracket.high] - bracket.aim
        return bracket.high - bracket.low > 1, rows

    def learn(self, pivot: int, count: Rational) -> None:
        """Take in the released count below a pivot."""
        least, most = self.known[0], self.known[max(self.known)]
        self.known[pivot] = count = min(max(count, least), most)
        for bracket in self.brackets:
            if bracket.low < pivot < bracket.high:
                if count < bracket.threshold:
                    bracket.low = pivot
                else:
                    bracket.high = pivot
