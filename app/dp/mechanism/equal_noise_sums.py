"""A bound on one side of the error of a sum of released numbers with the same noise, from the exact distribution.

A sum of k Laplace noises is the difference of two gamma variables. With partial fractions, it exceeds x >= 0 in units
of the scale with probability

    T_k(x) = Σ_{i<k} C(k-1+i, i)·2^-(k+i)·Q(k-i, x),   Q(m, x) = e^-x·Σ_{l<m} x^l/l!.

An outer clamp moves a release towards the range that the true number is in. Clamp the errors one after the other: each
time the sum is larger only where that noise is beyond the lower clamp, of probability p, and only if the other errors
alone exceed x. Those have the smaller tail T_{k-1} <= T_k (Anderson 1955). So the sum of all clamped errors exceeds x
with probability at most (1 + p)^k·T_k(x), and rounding to the grid adds at most k half grids.
"""

import math
from functools import lru_cache

from gmpy2 import mpq

from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.mechanism.sum_accuracy import clamp_probability
from app.dp.numbers.exact import Rational, real, up

_PRECISION = 256
_OUTWARDS = mpq(1, 10**9)
_STEPS = 60


@lru_cache(maxsize=4096)
def one_sided_sum_radius(parameters: Parameters, count: int, alpha: Rational) -> Rational:
    """Return a radius that the error of a sum of released numbers exceeds with probability at most α, on one side.

    In normalised units, rounded up; it holds whatever the signs with which the numbers are added.

    Args:
        parameters: the parameters of each released number.
        count: how many numbers are added.
        alpha: α, at most ½.
    """
    if count == 0:
        return mpq(0)
    beyond = clamp_probability(parameters, parameters.precision_bits + GUARD_BITS)
    tail = alpha / (1 + beyond) ** count
    return parameters.scale * noise_sum_quantile(count, tail) + count * parameters.grid / 2


@lru_cache(maxsize=4096)
def noise_sum_quantile(count: int, alpha: Rational) -> Rational:
    """Return an x >= 0 with T_k(x) <= α for k = `count`: nearly the smallest, and checked with directed rounding."""
    weights = _weights(count)
    found, step = mpq(_approximate(list(map(float, weights)), float(alpha))), _OUTWARDS
    while _tail_up(weights, found) > alpha:
        found += found * step + step
        step *= 2
    return found


def _weights(count: int) -> list[Rational]:
    """Return the factor of each e^-x·x^l/l! in T_k."""
    parts = [mpq(math.comb(count - 1 + i, i), 2 ** (count + i)) for i in range(count)]
    return [sum(parts[: count - power], mpq(0)) for power in range(count)]


def _tail_up(weights: list[Rational], x: Rational) -> Rational:
    """Return an upper bound of T_k(x)."""
    total, term = mpq(0), mpq(1)
    for power, weight in enumerate(weights):
        term = term * x / power if power else term
        total += weight * term
    above = up(_PRECISION)
    return total * mpq(above.exp(real(-x, above)))


def _approximate(weights: list[float], alpha: float) -> float:
    """Return about the x with T_k(x) = α by bisection with doubles."""

    def tail(x: float) -> float:
        total, term = 0.0, math.exp(-x)
        for power, weight in enumerate(weights):
            term = term * x / power if power else term
            total += weight * term
        return total

    low, high = 0.0, 1.0
    while tail(high) > alpha:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > alpha else (low, middle)
    return high
