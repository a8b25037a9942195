"""How far the sum of several released numbers may be from the sum of what they are of, whatever the data.

The errors are independent, so the error of a sum of k of them grows like √k. An error e is what the outer clamp leaves
of u, the ideal noise λ'·Y rounded to the grid. The clamp only pulls a release towards the range that the truth is in:
e exceeds u only where u is beyond the lower clamp, and then e is not positive. So for θ > 0

    E[e^(θe)] <= E[e^(θu)] + p,   p = P(the noise is beyond the clamp on one side),

and by Markov's inequality, for k independent errors and both sides,

    P(|Σe| >= t) <= 2·(m(θ) + p)^k·e^(-θt)   for every θ in (0, 1/λ') and every m(θ) >= E[e^(θu)].

Where the truth may be anywhere, u is λ'·Y by at most half a grid, and m = e^(θ·grid/2)/(1 - θ²λ'²). Where it is known
to be a multiple of the grid, as a count is of 1, u is a rounded Laplace variable, whose m is known (`_lattice_moment`).
"""

import math
from functools import lru_cache

from gmpy2 import mpq

from app.dp.mechanism.accuracy import tight_radius
from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, Real, down, log_up, real, up

_STEPS = 24  # of a golden section: near the best θ the bound hardly depends on it
_GOLDEN = (math.sqrt(5) - 1) / 2


@lru_cache(maxsize=4096)
def sum_radius(parameters: Parameters, count: int, alpha: Rational, *, on_grid: bool) -> Rational:
    """The sum of `count` released numbers is within this of the true sum with probability at least 1 - α.

    In normalised units, rounded up. It is never more than `count` times the tight radius at α/`count`, which holds by
    the union bound.

    Args:
        parameters: of each of the numbers.
        count: how many numbers are added up.
        alpha: α.
        on_grid: whether the true numbers are known to be multiples of the grid.

    Raises:
        ValueError: if α is not in (0, 1), or `count` is below 1.
    """
    if count < 1:
        raise ValueError("a sum is of at least one number")
    by_union = count * tight_radius(parameters, alpha / count)
    return by_union if count == 1 else min(by_union, _by_moments(parameters, count, alpha, on_grid=on_grid))


def _by_moments(parameters: Parameters, count: int, alpha: Rational, *, on_grid: bool) -> Rational:
    """The bound of the module's docstring at the best θ. Any θ is right, so only what follows from it is rounded up."""
    precision = parameters.precision_bits + GUARD_BITS
    above, rho = up(precision), parameters.grid / parameters.scale
    beyond = clamp_probability(parameters, precision)
    ratio = _best_ratio(count, float(log_up(2 / alpha, precision)), float(beyond), float(rho) if on_grid else None)
    moment = _lattice_moment(rho, ratio, precision) if on_grid else real(1 / (1 - ratio**2), above)
    logarithm = above.add(
        log_up(2 / alpha, precision), above.mul(count, above.log(above.add(moment, real(beyond, above))))
    )
    slack = mpq(0) if on_grid else count * parameters.grid / 2
    return slack + mpq(above.div(above.mul(logarithm, real(parameters.scale, above)), real(ratio, down(precision))))


def _lattice_moment(rho: Rational, ratio: Rational, precision: int) -> Real:
    """An upper bound of E[e^(θu)] for u = λ'·Y rounded to the grid from a multiple of it; ρ = grid/λ', ratio = θλ'.

    P(u = 0) = 1 - e^(-ρ/2), and P(u = ±j·grid) = sinh(ρ/2)·e^(-ρj) for j >= 1: two geometric series.
    """
    above, below = up(precision), down(precision)
    total = above.sub(1, below.exp(real(-rho / 2, below)))
    for rate in (rho * (1 - ratio), rho * (1 + ratio)):
        series = above.div(1, below.expm1(real(rate, below)))
        total = above.add(total, above.mul(above.sinh(real(rho / 2, above)), series))
    return total


def clamp_probability(parameters: Parameters, precision: int) -> Rational:
    """p, the most by which the noise is beyond the outer clamp on one side: ½·e^(-(B - B' - grid/2)/λ'), rounded up."""
    reach = (parameters.bound - parameters.b_prime - parameters.grid / 2) / parameters.scale
    if reach <= 0:
        return mpq(1)
    return mpq(up(precision).exp(real(-reach, up(precision)))) / 2


def _best_ratio(count: int, logarithm: float, beyond: float, rho: float | None) -> Rational:
    """About the θλ' in (0, 1) at which the bound is smallest, by golden section."""

    def moment(ratio: float) -> float:
        if rho is None:
            return 1 / (1 - ratio * ratio)
        tails = 1 / math.expm1(rho * (1 - ratio)) + 1 / math.expm1(rho * (1 + ratio))
        return -math.expm1(-rho / 2) + math.sinh(rho / 2) * tails

    def bound(ratio: float) -> float:
        return (logarithm + count * math.log(moment(ratio) + beyond)) / ratio

    low, high = 1e-9, 1 - 1e-9
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if bound(left) < bound(right) else (left, high)
    return mpq((low + high) / 2)
