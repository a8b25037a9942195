"""The quantile of the absolute value of a sum of Laplace noises of different scales.

The characteristic function of a sum of noises of the distinct scales s_i is ∏ 1/(1 + s_i²·t²) = Σ w_i/(1 + s_i²·t²),
with w_i = ∏_{j≠i} s_i²/(s_i² - s_j²). So the sum is beyond ±v with probability T(v) = Σ w_i·e^(-v/s_i). T grows with
each scale (Anderson 1955), so scales may be enlarged to be distinct.
"""

import math
from collections.abc import Sequence

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, down, real, round_up, up

_PRECISION = 256
_SEPARATION = mpq(1025, 1024)
"""The least ratio of two scales: enlarged by this little, they widen the quantile by less."""

_STEPS = 60
_NEGLIGIBLE = 1e-9
_OUTWARDS = mpq(1, 10**9)


def sum_quantile(scales: Sequence[Rational], alpha: Rational) -> Rational:
    """Return a v with T(v) <= α for noises of these scales: nearly the smallest, and checked exactly."""
    separate = _separate(scales)
    largest = separate[0]
    ratios = [scale / largest for scale in separate]
    weights = _weights(ratios)
    found = mpq(_approximate_quantile(list(map(float, ratios)), list(map(float, weights)), float(alpha)))
    step = _OUTWARDS
    while not _is_within(ratios, weights, found, alpha):
        found *= 1 + step
        step *= 2
    return largest * found


def approximate_quantile(scales: Sequence[float], alpha: float) -> float:
    """Return about the same with doubles."""
    ratios, ordered = [1.0], sorted(scales, reverse=True)
    for scale in (each for each in ordered[1:] if each > ordered[0] * _NEGLIGIBLE):
        ratios.append(min(scale / ordered[0], ratios[-1] / float(_SEPARATION)))
    weights = [math.prod(s * s / (s * s - t * t) for t in ratios if t != s) for s in ratios]
    return ordered[0] * _approximate_quantile(ratios, weights, alpha)


def _separate(scales: Sequence[Rational]) -> list[Rational]:
    """Return the scales above 0 as doubles, rounded up and apart, the largest first."""
    apart: list[Rational] = []
    for scale in sorted(mpq(round_up(scale)) for scale in scales if scale > 0):
        apart.append(max(scale, apart[-1] * _SEPARATION) if apart else scale)
    return apart[::-1]


def _weights(scales: Sequence[Rational]) -> list[Rational]:
    squares = [scale * scale for scale in scales]
    return [math.prod((s / (s - t) for t in squares if t != s), start=mpq(1)) for s in squares]


def _approximate_quantile(scales: Sequence[float], weights: Sequence[float], alpha: float) -> float:
    """Return about the v with T(v) = α by Newton's method on ln T, which is concave, from above the solution."""
    v = -sum(scales) * math.log(alpha) + sum(scales)
    for _ in range(_STEPS):
        parts = [weight * math.exp(-v / scale) for scale, weight in zip(scales, weights, strict=True)]
        tail = sum(parts)
        slope = sum(part / scale for part, scale in zip(parts, scales, strict=True))
        if tail <= 0 or slope <= 0:
            break
        step = math.log(tail / alpha) * tail / slope
        v += step
        if abs(step) <= 1e-12 * v:
            break
    return v


def _is_within(scales: Sequence[Rational], weights: Sequence[Rational], v: Rational, alpha: Rational) -> bool:
    """Return whether an upper bound of T(v) is at most α."""
    above, below = up(_PRECISION), down(_PRECISION)
    tail, first = mpq(0), mpq(above.exp(real(-v, above)))  # the largest scale is 1
    for scale, weight in zip(scales, weights, strict=True):
        if v / scale - v > _PRECISION:  # the exact number may have millions of digits, and is negligible
            tail += max(weight, mpq(0)) * first / 2**_PRECISION
            continue
        rounding = above if weight > 0 else below
        tail += weight * mpq(rounding.exp(real(-v / scale, rounding)))
    return bool(tail <= alpha)
