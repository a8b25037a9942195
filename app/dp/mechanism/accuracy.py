"""Rigorous upper bounds of the distance of a release from the statistic, in normalised units, whatever the data.

The data-dependent accuracy of the notes (GETACCURACY) is left out, because it leaks the statistic.
"""

import math
from functools import lru_cache

from gmpy2 import mpq

from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, down, log_up, real, up


@lru_cache(maxsize=4096)
def radius(parameters: Parameters, alpha: Rational) -> Rational:
    """Return the notes' radius: |z - x| is at most this with probability at least 1 - α (section 6.3, GETACCURACY2).

    It is min(ln(1/α)·λ' + grid/2, 2B), rounded up by a relative error below 10⁻³⁰.

    Raises:
        ValueError: if α is not in (0, 1).
    """
    precision = _precision(parameters, alpha)
    tail = up(precision).mul(log_up(1 / alpha, precision), parameters.scale)
    return min(mpq(tail) + parameters.grid / 2, 2 * parameters.bound)


def simultaneous_radius(parameters: Parameters, alpha: Rational, draws: int) -> Rational:
    """Return the radius within which all of `draws` releases are at once with probability at least 1 - α.

    It is the union bound: `radius` at α/draws.

    Raises:
        ValueError: if α is not in (0, 1).
    """
    return radius(parameters, alpha / draws)


@lru_cache(maxsize=4096)
def tight_radius(parameters: Parameters, alpha: Rational) -> Rational:
    """Return the smallest radius that holds for every statistic in the range without clamps; it is at most `radius`.

    With ρ = grid/λ', the largest probability that |z - x| exceeds A grids is, for A >= 1/2 and m = ⌊2A⌋,
    T(A) = e^(-ρm/2)·cosh(ρ(A - (m+1)/2)). T never increases with A. The result is the smallest A with T(A) <= α,
    rounded up by a relative error below 10⁻³⁰.

    Raises:
        ValueError: if α is not in (0, 1).
    """
    precision = _precision(parameters, alpha)
    above, below = up(precision), down(precision)
    # T falls as ρ grows, so with ρ rounded down once, T and its solution are rounded up.
    rho = real(parameters.grid / parameters.scale, below)
    log_up_alpha = log_up(1 / alpha, precision)
    m = math.floor(mpq(above.div(above.mul(2, log_up_alpha), rho))) + 1
    # Without rounding, e^(ρm/2 - ln(1/α)) is above 1. Rounding it and its arcosh down rounds A up.
    grown = below.exp(below.sub(below.mul(rho, mpq(m, 2)), log_up_alpha))
    inwards = mpq(below.div(below.acosh(grown), rho)) if grown > 1 else mpq(0)
    grids = max(mpq(m, 2), mpq(m + 1, 2) - inwards)
    return min(grids * parameters.grid, radius(parameters, alpha), parameters.bound + parameters.b_prime)


def _precision(parameters: Parameters, alpha: Rational) -> int:
    """Return a working precision that leaves a radius over 100 bits, even if arcosh halves them and ρ is 2^-r."""
    if not 0 < alpha < 1:
        raise ValueError("alpha must be in (0, 1)")
    return parameters.precision_bits + GUARD_BITS + 2 * parameters.grid_refinement
