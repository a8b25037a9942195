"""Computes the smallest ε that reaches an accuracy, and the next ε at which the grid is finer; both exactly."""

from collections.abc import Callable

from gmpy2 import mpq

from app.dp.errors import AccuracyTrivial
from app.dp.mechanism.accuracy import radius
from app.dp.mechanism.parameters import (
    MAX_REFINEMENT,
    WHOLE,
    Refinement,
    ceil_log2,
    clamping_bound,
    derive_parameters,
)
from app.dp.numbers.exact import Rational, log_up

UNIT = mpq(1, 10**9)
"""The ledger's unit of ε: every ε is a whole number of units."""

_OUT_OF_REACH = mpq(10**12)
"""A million times what any ledger can spend; for much larger ε, one unit more does not change the parameters."""


def minimal_epsilon(  # noqa: PLR0913, PLR0917  all that the radius depends on
    accuracy: Rational,
    alpha: Rational,
    b_prime: Rational,
    gamma: Rational,
    grid_refinement: Refinement,
    mechanisms: int = 1,
) -> Rational:
    """Return the smallest total ε, in whole units, at which the notes' radius is at most `accuracy`.

    The search starts from the largest λ' that solves ln(1/α)·λ' + grid/2 = accuracy. The notes' formula (6.5) costs up
    to 14 % more at α = 0.05. Above 10¹², which no ledger can spend, the result may be slightly more than the smallest
    ε.

    Args:
        accuracy: the wanted radius, in normalised units.
        alpha: the radius holds with probability at least 1 - α.
        b_prime: B', in normalised units.
        gamma: γ, the largest probability with which the outer clamp may bind.
        grid_refinement: r, or "whole".
        mechanisms: the number of mechanisms that share the total ε equally.

    Raises:
        AccuracyTrivial: if `accuracy` is at least 2B', so that every release reaches it.
        ValueError: if `accuracy` is not positive, if α is not in (0, 1), or as in `derive_parameters`.
    """
    if accuracy <= 0 or not 0 < alpha < 1:
        raise ValueError("accuracy must be positive, and alpha in (0, 1)")
    if accuracy >= 2 * b_prime:
        raise AccuracyTrivial
    # Enough bits for an error of less than one unit, even for a large ε or a small ln(1/α).
    magnitude = max(ceil_log2(1 / accuracy), 0) + ceil_log2(1 / (1 - alpha))
    logarithm = mpq(log_up(1 / alpha, 256 + magnitude))
    scale = _largest_scale(accuracy, logarithm, grid_refinement)

    def attains(epsilon: Rational) -> bool:
        return bool(radius(derive_parameters(epsilon / mechanisms, b_prime, gamma, grid_refinement), alpha) <= accuracy)

    start = _cost(1 / scale, b_prime, gamma, mechanisms)
    return start if start > _OUT_OF_REACH else _smallest(attains, start)


def _largest_scale(accuracy: Rational, logarithm: Rational, grid_refinement: Refinement) -> Rational:
    """Return the largest λ' with ln(1/α)·λ' + grid/2 <= `accuracy`, where `logarithm` is ln(1/α)."""
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
    """Return the next cliff: the smallest total ε above `epsilon`, in whole units, at which the grid is finer.

    The radius drops at once there. The arguments are those of `minimal_epsilon`.

    Raises:
        ValueError: as in `derive_parameters`.
    """
    parameters = derive_parameters(epsilon / mechanisms, b_prime, gamma, grid_refinement)
    coarse_grid = parameters.coarse_grid
    if grid_refinement == WHOLE and parameters.grid_refinement < MAX_REFINEMENT:
        coarse_grid = parameters.grid  # "whole" keeps the grid at 1 until the notes' grid is finer

    def finer(candidate: Rational) -> bool:
        found = derive_parameters(candidate / mechanisms, b_prime, gamma, grid_refinement)
        return bool(found.coarse_grid < coarse_grid)

    return _smallest(finer, _cost(2 / coarse_grid, b_prime, gamma, mechanisms))


def _cost(epsilon_prime: Rational, b_prime: Rational, gamma: Rational, mechanisms: int) -> Rational:
    """Return roughly the total ε, in whole units, that leaves each mechanism `epsilon_prime` for its noise."""
    precision_bits, bound = clamping_bound(epsilon_prime, b_prime, gamma)
    eta = mpq(1, 2**precision_bits)
    total = mechanisms * (epsilon_prime * (1 + 12 * bound * eta) + 2 * eta)
    return UNIT * (total / UNIT).__ceil__()


def _smallest(suffices: Callable[[Rational], bool], start: Rational) -> Rational:
    """Return the smallest ε, in whole units, that suffices, by a search in steps of one unit from `start`.

    The closed form that gives `start` is off by a unit or two. The search tests both the result and one unit less.
    """
    epsilon = start
    while not suffices(epsilon):
        epsilon += UNIT
    while epsilon > UNIT and suffices(epsilon - UNIT):
        epsilon -= UNIT
    return epsilon
