"""From a wanted accuracy to the smallest ε that reaches it, exactly; and from an ε to the next with a finer grid."""

from collections.abc import Callable

from gmpy2 import mpq

from app.dp.errors import AccuracyTrivial
from app.dp.mechanism.accuracy import radius
from app.dp.mechanism.parameters import (
    FINEST_REFINEMENT,
    WHOLE,
    Refinement,
    ceil_log2,
    clamping_bound,
    derive_parameters,
)
from app.dp.numbers.exact import Rational, log_up

UNIT = mpq(1, 10**9)
"""The ledger's unit of ε: every ε is a whole number of them."""

_OUT_OF_REACH = mpq(10**12)
"""A million times what any ledger can spend; far beyond it a unit is less than the parameters resolve."""


def minimal_epsilon(  # noqa: PLR0913, PLR0917  all that the radius depends on
    accuracy: Rational,
    alpha: Rational,
    b_prime: Rational,
    gamma: Rational,
    grid_refinement: Refinement,
    mechanisms: int = 1,
) -> Rational:
    """The smallest total ε, in whole units, at which the notes' radius is at most `accuracy` (in normalised units).

    The total is shared equally among the `mechanisms` of a release. The closed form solves
    ln(1/α)·λ' + grid/2 = accuracy for the largest λ'; Covington's notes, (6.5), overpay by up to 14 % at α = 0.05. An ε
    that no ledger could spend (above 10¹²) is the closed form's, which may be a little more than the smallest.

    Raises:
        AccuracyTrivial: if every release would do, because `accuracy` is at least 2B'.
        ValueError: if `accuracy` is not positive, or as `derive` does.
    """
    if accuracy <= 0 or not 0 < alpha < 1:
        raise ValueError("accuracy must be positive, and alpha in (0, 1)")
    if accuracy >= 2 * b_prime:
        raise AccuracyTrivial
    # Enough bits for the closed form to be right to less than a unit, however large ε is and however small ln(1/α).
    magnitude = max(ceil_log2(1 / accuracy), 0) + ceil_log2(1 / (1 - alpha))
    logarithm = mpq(log_up(1 / alpha, 256 + magnitude))
    scale = _largest_scale(accuracy, logarithm, grid_refinement)

    def attains(epsilon: Rational) -> bool:
        return bool(radius(derive_parameters(epsilon / mechanisms, b_prime, gamma, grid_refinement), alpha) <= accuracy)

    start = _cost(1 / scale, b_prime, gamma, mechanisms)
    return start if start > _OUT_OF_REACH else _smallest(attains, start)


def _largest_scale(accuracy: Rational, logarithm: Rational, grid_refinement: Refinement) -> Rational:
    """The largest λ' with ln(1/α)·λ' + grid/2 = `accuracy` at most, `logarithm` being ln(1/α)."""
    if grid_refinement != WHOLE:
        j = ceil_log2(accuracy / (mpq(1, 2**grid_refinement) + logarithm))
        return min(mpq(2) ** j, (accuracy - mpq(2) ** (j - grid_refinement) / 2) / logarithm)
    scale = (accuracy - mpq(1, 2)) / logarithm
    if scale > mpq(1, 2):
        return scale
    j = min(ceil_log2(accuracy / (1 + logarithm)), -1)
    return min(mpq(2) ** j, (accuracy - mpq(2) ** j / 2) / logarithm)


def next_cliff(
    epsilon: Rational, b_prime: Rational, gamma: Rational, grid_refinement: Refinement, mechanisms: int = 1
) -> Rational:
    """The smallest total ε, in whole units, above `epsilon` at which the grid is finer, so that the radius jumps.

    Raises:
        ValueError: as `derive` does.
    """
    parameters = derive_parameters(epsilon / mechanisms, b_prime, gamma, grid_refinement)
    coarse_grid = parameters.coarse_grid
    if grid_refinement == WHOLE and parameters.grid_refinement < FINEST_REFINEMENT:
        coarse_grid = parameters.grid  # which is 1 until the notes' grid is finer

    def finer(candidate: Rational) -> bool:
        found = derive_parameters(candidate / mechanisms, b_prime, gamma, grid_refinement)
        return bool(found.coarse_grid < coarse_grid)

    return _smallest(finer, _cost(2 / coarse_grid, b_prime, gamma, mechanisms))


def _cost(epsilon_prime: Rational, b_prime: Rational, gamma: Rational, mechanisms: int) -> Rational:
    """About the total ε, in whole units rounded up, at which each mechanism has `epsilon_prime` for its noise."""
    precision_bits, bound = clamping_bound(epsilon_prime, b_prime, gamma)
    eta = mpq(1, 2**precision_bits)
    total = mechanisms * (epsilon_prime * (1 + 12 * bound * eta) + 2 * eta)
    return UNIT * (total / UNIT).__ceil__()


def _smallest(suffices: Callable[[Rational], bool], start: Rational) -> Rational:
    """The smallest whole number of units that suffices, searched for from nearby.

    The closed forms err by a unit or two; what is returned was seen to suffice, and one unit less seen not to.
    """
    epsilon = start
    while not suffices(epsilon):
        epsilon += UNIT
    while epsilon > UNIT and suffices(epsilon - UNIT):
        epsilon -= UNIT
    return epsilon
