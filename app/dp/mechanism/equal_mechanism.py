"""The mechanism of a release that answers for another statistic, which has the same numbers but for a factor."""

from dataclasses import dataclass
from typing import Self

from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import Rational
from app.dp.statistics import Statistic
from app.dp.statistics.equal_numbers import EqualStatistic


@dataclass(frozen=True, slots=True)
class EqualMechanism(Mechanism):
    """A mechanism whose radii and figures are in the units of the statistic that is asked for.

    Each number that is asked for has the error of the released number that it follows from, times the factor. So the
    radius per number is the release's own. If fewer numbers are asked for than were released, fewer need to hold at
    once.

    Attributes:
        unit: Δ of the released statistic times the factor.
    """

    unit: Rational

    @classmethod
    def of(cls, released: Mechanism, equal: EqualStatistic, asked: Statistic) -> Self:
        """Return how a release by `released` of an equal statistic answers for the statistic that is asked for."""
        figures = released.epsilon, released.gamma, released.grid_refinement, released.parameters
        return cls(asked, *figures, equal.factor * released.sensitivity)

    @property
    def sensitivity(self) -> Rational:
        """Δ of the released statistic, in the units of the statistic that is asked for."""
        return self.unit
