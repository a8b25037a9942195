"""The mechanism of one statistic at one ε, in the statistic's own units."""

from dataclasses import dataclass
from typing import Final, Literal, Self

from app.dp.errors import AccuracyTrivial
from app.dp.mechanism import accuracy as radii
from app.dp.mechanism import planning
from app.dp.mechanism.bulk_draw import draw_whole_numbers
from app.dp.mechanism.draw import draw
from app.dp.mechanism.parameters import WHOLE, Parameters, Refinement, derive_parameters
from app.dp.mechanism.released_values import ReleasedValues
from app.dp.numbers.exact import Rational, half_ulp
from app.dp.numbers.random_bits import VectorBitSource
from app.dp.statistics.base import Statistic
from app.dp.statistics.count_base import Counts, SharedCounts
from app.dp.statistics.quantile_counts import QuantileCounts
from app.dp.table.sums import Answer

AUTO: Final = "auto"
GridRefinement = int | Literal["auto"]
"""r, by how many halvings the grid is finer than the notes' (0 to 30), or "auto" for the statistic's default."""

DEFAULT_REFINEMENT: Final = 10
"""What "auto" means for all statistics but counts: half a grid is then less than a thousandth of the radius."""


def refinement_for(statistic: Statistic, requested: GridRefinement) -> Refinement:
    """Return the grid refinement: "auto" gives counts a whole-number grid, and other statistics a refinement of 10."""
    if requested != AUTO:
        return requested
    return WHOLE if isinstance(statistic, Counts) else DEFAULT_REFINEMENT


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The snapping mechanism for one statistic (Mironov 2012, section 5.2; Covington's notes, section 6).

    Attributes:
        statistic: what is released.
        epsilon: ε, the total privacy cost, shared by the statistic's mechanisms.
        gamma: γ, the largest probability with which the outer clamp may bind.
        grid_refinement: the requested refinement; `parameters` has the resulting r.
        parameters: the parameters of each of the statistic's mechanisms, in normalised units.
    """

    statistic: Statistic
    epsilon: Rational
    gamma: Rational
    grid_refinement: GridRefinement
    parameters: Parameters

    @classmethod
    def for_epsilon(
        cls, statistic: Statistic, epsilon: Rational, gamma: Rational, grid_refinement: GridRefinement
    ) -> Self:
        """Return the mechanism whose total cost is `epsilon`; ValueError as in `derive_parameters`."""
        refinement = refinement_for(statistic, grid_refinement)
        parameters = derive_parameters(epsilon / statistic.mechanisms, statistic.b_prime, gamma, refinement)
        return cls(statistic, epsilon, gamma, grid_refinement, parameters)

    @classmethod
    def for_accuracy(
        cls, statistic: Statistic, accuracy: Rational, alpha: Rational, gamma: Rational, grid_refinement: GridRefinement
    ) -> Self:
        """Return the cheapest mechanism whose radius at `alpha` is at most `accuracy`, in the statistic's units.

        Raises:
            AccuracyTrivial: if the public range is not wider than `accuracy`.
            ValueError: if `accuracy` is not positive, or as in `derive_parameters`.
        """
        if accuracy >= statistic.upper - statistic.lower:
            raise AccuracyTrivial
        normalised = accuracy / statistic.sensitivity
        refinement = refinement_for(statistic, grid_refinement)
        epsilon = planning.minimal_epsilon(
            normalised, alpha, statistic.b_prime, gamma, refinement, statistic.mechanisms
        )
        return cls.for_epsilon(statistic, epsilon, gamma, grid_refinement)

    @property
    def sensitivity(self) -> Rational:
        """Δ, the unit of the parameters, in the statistic's units."""
        return self.statistic.sensitivity

    def radius(self, alpha: Rational) -> Rational:
        """Return the notes' radius of each component at `alpha`, in the statistic's units."""
        return self.sensitivity * radii.radius(self.parameters, alpha)

    def tight_radius(self, alpha: Rational) -> Rational:
        """Return the smallest valid radius of each component at `alpha`, in the statistic's units."""
        return self.sensitivity * radii.tight_radius(self.parameters, alpha)

    def simultaneous_radius(self, alpha: Rational) -> Rational:
        """Return the radius that holds for all components at once at `alpha`, in the statistic's units."""
        return self.sensitivity * radii.simultaneous_radius(self.parameters, alpha, self.statistic.draws)

    @property
    def resolution(self) -> Rational:
        """The error that no ε removes: the rounding of values to codes and of the release to a double.

        In the statistic's units.
        """
        furthest = self.statistic.furthest_centre + self.sensitivity * self.parameters.bound
        return self.statistic.rounding + half_ulp(furthest)

    def draw(self, answer: Answer, bits: VectorBitSource) -> ReleasedValues:
        """Draw an exact release of each component from the engine's answer to the statistic's needs.

        Raises:
            ValueError: if the answer does not match the needs.
            DrawExhausted: if the source of bits is broken.
        """
        statistic, parameters = self.statistic, self.parameters
        centre, sensitivity = statistic.centre, statistic.sensitivity
        if isinstance(statistic, SharedCounts):
            normalised = draw_whole_numbers(statistic.from_centre(answer), parameters, bits)
            if statistic.complementary:
                first = centre + normalised[0]
                return ReleasedValues.several([first, statistic.n - first])
        elif isinstance(statistic, QuantileCounts):

            def release(count: Rational, unit: Rational = sensitivity) -> Rational:
                return centre + unit * draw((count - centre) / unit, parameters, bits)

            return ReleasedValues.several(statistic.search(answer, sensitivity * parameters.scale, release))
        else:
            values = statistic.values(answer)
            normalised = ReleasedValues.several(
                [draw((value - centre) / sensitivity, parameters, bits) for value in values]
            )
        return normalised.map(lambda z: centre + sensitivity * z)

    def cliff(self) -> Rational:
        """Return the smallest total ε above this one, in whole units, at which the grid is finer."""
        statistic = self.statistic
        refinement = refinement_for(statistic, self.grid_refinement)
        return planning.next_cliff(self.epsilon, statistic.b_prime, self.gamma, refinement, statistic.mechanisms)
