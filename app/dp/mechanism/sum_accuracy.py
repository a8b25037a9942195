"""Bounds the error of a sum of several released numbers, whatever the data.

The errors are independent, so the error of a sum of k of them grows like √k. Each error e is u, the ideal noise λ'·Y
rounded to the grid, after the outer clamp. The clamp only moves a release towards the range of the true value: e
exceeds u only where u is beyond the lower clamp, and then e is not positive. So for θ > 0

    E[e^(θe)] <= E[e^(θu)] + p,   p = P(the noise is beyond the clamp on one side),

and by Markov's inequality, for k independent errors and both sides,

    P(|Σe| >= t) <= 2·(m(θ) + p)^k·e^(-θt)   for every θ in (0, 1/λ') and every m(θ) >= E[e^(θu)].

If the true value can be anywhere, u differs from λ'·Y by at most half a grid, and m = e^(θ·grid/2)/(1 - θ²λ'²). If it
is a multiple of the grid, such as a count with a grid of 1, u is a rounded Laplace variable with a known m
(`_lattice_moment`).
"""

import math
from functools import lru_cache

from gmpy2 import mpq

from app.dp.mechanism.accuracy import tight_radius
from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, Real, down, log_up, real, up

_STEPS = 24  # of the golden-section search: near the best θ the bound is almost constant
_GOLDEN = (math.sqrt(5) - 1) / 2


@lru_cache(maxsize=4096)
def sum_radius(parameters: Parameters, count: int, alpha: Rational, *, on_grid: bool) -> Rational:
    """Return a radius within which the sum of released numbers is of the true sum with probability at least 1 - α.

    In normalised units, rounded up. It is at most the union bound: `count` times the tight radius at α/`count`.

    Args:
        parameters: the parameters of each released number.
        count: how many numbers are added.
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
    """Return the bound of the module's docstring at about the best θ, rounded up; the bound holds for every θ."""
    start, step = moment_line(parameters, mpq(count), alpha, on_grid=on_grid)
    return start + count * step


def moment_line(
    parameters: Parameters, best_at: Rational, alpha: Rational, *, on_grid: bool
) -> tuple[Rational, Rational]:
    """Return ln(2/α)/θ and ln(m(θ) + p)/θ, rounded up, for about the θ with the smallest bound at a count.

    In normalised units, with half a grid in the second number if the true numbers may be anywhere. The first one plus
    k times the second one bounds the error of a sum of k numbers with probability 1 - α, for each k.

    Args:
        parameters: the parameters of each released number.
        best_at: the count of numbers for which θ is chosen.
        alpha: α.
        on_grid: whether the true numbers are known to be multiples of the grid.
    """
    precision = parameters.precision_bits + GUARD_BITS
    above, below, rho = up(precision), down(precision), parameters.grid / parameters.scale
    beyond, logarithm = clamp_probability(parameters, precision), log_up(2 / alpha, precision)
    ratio = _best_ratio(float(best_at), float(logarithm), float(beyond), float(rho) if on_grid else None)
    moment = _lattice_moment(rho, ratio, precision) if on_grid else real(1 / (1 - ratio**2), above)
    scale = above.div(real(parameters.scale, above), real(ratio, below))
    step = above.mul(above.log(above.add(moment, real(beyond, above))), scale)
    return mpq(above.mul(logarithm, scale)), mpq(step) + (mpq(0) if on_grid else parameters.grid / 2)


def _lattice_moment(rho: Rational, ratio: Rational, precision: int) -> Real:
    """Return an upper bound of E[e^(θu)], where u is λ'·Y rounded to the grid, ρ = grid/λ' and ratio = θλ'.

    P(u = 0) = 1 - e^(-ρ/2), and P(u = ±j·grid) = sinh(ρ/2)·e^(-ρj) for j >= 1: two geometric series.
    """
    above, below = up(precision), down(precision)
    total = above.sub(1, below.exp(real(-rho / 2, below)))
    for rate in (rho * (1 - ratio), rho * (1 + ratio)):
        series = above.div(1, below.expm1(real(rate, below)))
        total = above.add(total, above.mul(above.sinh(real(rho / 2, above)), series))
    return total


def clamp_probability(parameters: Parameters, precision: int) -> Rational:
    """Return p, an upper bound of the probability that the noise exceeds the outer clamp on one side.

    It is ½·e^(-(B - B' - grid/2)/λ'), rounded up at `precision` bits.
    """
    reach = (parameters.bound - parameters.b_prime - parameters.grid / 2) / parameters.scale
    if reach <= 0:
        return mpq(1)
    return mpq(up(precision).exp(real(-reach, up(precision)))) / 2


def _best_ratio(count: float, logarithm: float, beyond: float, rho: float | None) -> Rational:
    """Return about the θλ' in (0, 1) at which the bound is smallest, by golden-section search."""

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
