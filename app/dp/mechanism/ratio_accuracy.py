"""A confidence set for the ratio θ = x/y of two statistics, from a release X of x and Y of y (Fieller 1954).

For the true θ, x - θy = 0, so X - θY contains only errors: two independent noises of scales s = λ_x and t = |θ|·λ_y,
half a grid for each, and the rounding to codes and doubles. Its absolute value is at most q(θ) with probability at
least 1 - α, so the set {θ : |X - θY| <= q(θ)} contains the true θ with that probability, whatever the data.

The sum of two Laplace noises of scales s and t is beyond ±v with probability

    T(v) = (s²·e^(-v/s) - t²·e^(-v/t))/(s² - t²),   or (1 + v/(2s))·e^(-v/s) if s = t.

The outer clamps change little. A clamped error exceeds the unclamped one only if its noise is beyond the lower clamp,
which has a probability of at most p, and then the other error alone must exceed v, which has a probability of at most
T(v). So q is computed at α/(1 + p_x + p_y). Below, L is the logarithm of the reciprocal of that.

The noises are symmetric and unimodal, so T grows with each scale (Anderson 1955). Hence q(θ) grows with |θ|, and
q(θ)/|θ| falls. For X >= 0 and Y > 0, the positive θ of the set therefore form an interval around X/Y. T((s + t)·L) is
at most e^(-L): with r = t/s and the falling function g(u) = (1 - e^(-uL))/u, this says g(r) >= g(1/r) for r < 1. So
q(θ) exceeds q(0) by at most |θ|·(L·λ_y + the slack of y), and the set is bounded if Y is larger than that factor of
|θ|.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from gmpy2 import mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.sum_accuracy import clamp_probability
from app.dp.numbers.exact import Rational, down, log_up, real, up

_PRECISION = 256
_STEPS = 50  # the maximum number of iterations; a bisection finds as many bits of a double
_NEARLY_EQUAL = mpq(1, 10**6)
_OUTWARDS = mpq(1, 10**9)
"""The first relative step outwards if the exact check refutes a number found with doubles; then steps double."""


@dataclass(frozen=True, slots=True)
class RatioError:
    """A bound of the error of X - θY for any θ, at one α.

    Attributes:
        scales: the scale λ of each noise, in the units of x and of y.
        slacks: half a grid plus the resolution for each, in the same units.
        alpha: α/(1 + p_x + p_y).
    """

    scales: tuple[Rational, Rational]
    slacks: tuple[Rational, Rational]
    alpha: Rational

    @classmethod
    def of(cls, x: Mechanism, y: Mechanism, alpha: Rational) -> Self:
        """Return the error bound for the releases of two mechanisms."""
        beyond = sum(clamp_probability(each.parameters, _PRECISION) for each in (x, y))
        return cls(
            (x.sensitivity * x.parameters.scale, y.sensitivity * y.parameters.scale),
            (_slack(x), _slack(y)),
            alpha / (1 + beyond),
        )

    def reach(self, ratio: Rational) -> Rational:
        """Return q(θ), rounded up, for θ = `ratio`."""
        size = abs(ratio)
        quantile = pair_quantile(self.scales[0], size * self.scales[1], self.alpha)
        return self.slacks[0] + size * self.slacks[1] + quantile

    def ratios(self, x: Rational, y: Rational) -> tuple[Rational | None, Rational | None]:
        """Return both ends of the confidence set for releases `x` and `y`; None for both if it may be unbounded."""
        (s, t), (slack_x, slack_y) = self.scales, self.slacks
        # In units of the noise scales, so that the search can use doubles.
        ends = _ends(RatioError((mpq(1), mpq(1)), (slack_x / s, slack_y / t), self.alpha), abs(x) / s, y / t)
        if ends is None:
            return None, None
        low, high = (end * s / t for end in ends)
        return (low, high) if x >= 0 else (-high, -low)


def _ends(error: RatioError, x: Rational, y: Rational) -> tuple[Rational, Rational] | None:
    """Return both ends for x >= 0 and an error with scales of 1; None if the set may be unbounded."""
    logarithm = mpq(log_up(1 / error.alpha, _PRECISION))
    surplus = y - error.slacks[1] - logarithm
    if surplus <= 0:
        return None

    def is_outside(ratio: Rational) -> bool:
        return bool(abs(x - ratio * y) > error.reach(ratio))

    at_zero = error.slacks[0] + logarithm  # an upper bound of q(0)
    estimate, furthest = x / y, (at_zero + x) / surplus
    upper = _prove(is_outside, _search(error, x, y, estimate, furthest), furthest)
    if x > at_zero:
        return _prove(is_outside, _search(error, x, y, estimate, mpq(0)), mpq(0)), upper
    # Every negative member θ = -τ has τ <= (q(τ) - x)/y. Start from a bound of τ and apply this until it stops falling.
    tau = (at_zero - x) / surplus
    for _ in range(_STEPS):
        nearer = max((error.reach(tau) - x) / y, mpq(0))
        if nearer >= tau * (1 - _OUTWARDS):
            break
        tau = nearer
    return -tau, upper


def _search(error: RatioError, x: Rational, y: Rational, inside: Rational, outside: Rational) -> Rational:
    """Return about where the set ends between two non-negative ratios, one `inside` and one `outside`, with doubles."""
    (slack_x, slack_y), logarithm = map(float, error.slacks), float(log_up(1 / error.alpha, _PRECISION))
    low, high, above, below = float(inside), float(outside), float(x), float(y)
    for _ in range(_STEPS):
        ratio = (low + high) / 2
        quantile = max(ratio, 1.0) * _approximate_quantile(min(ratio, 1.0) / max(ratio, 1.0), logarithm)
        if abs(above - ratio * below) > slack_x + ratio * slack_y + quantile:
            high = ratio
        else:
            low = ratio
    return mpq(high)


def _prove(is_outside: Callable[[Rational], bool], found: Rational, outside: Rational) -> Rational:
    """Return a ratio that is checked to be outside the set: `found`, or one nearer to `outside`, which is outside."""
    step = _OUTWARDS
    while not is_outside(found):
        if step >= 1:
            return outside
        found += (outside - found) * step
        step *= 2
    return found


def _slack(mechanism: Mechanism) -> Rational:
    return mechanism.sensitivity * mechanism.parameters.grid / 2 + mechanism.resolution


def pair_quantile(s: Rational, t: Rational, alpha: Rational) -> Rational:
    """Return a v with T(v) <= α for noises of scales `s` and `t`: nearly the smallest, and checked exactly."""
    s, t = max(s, t), min(s, t)
    ratio = mpq(1) if s - t < _NEARLY_EQUAL * s else t / s
    found = mpq(_approximate_quantile(float(ratio), float(log_up(1 / alpha, _PRECISION))))
    step = _OUTWARDS
    while not _is_within(ratio, found, alpha):
        found *= 1 + step
        step *= 2
    return s * found


def _approximate_quantile(t: float, logarithm: float) -> float:
    """Return about the v with ln T(v) = -`logarithm` for the scales 1 and t <= 1.

    Newton's method starts above the solution, at (1 + t)·L. Since ln T is concave, each step stays above it.
    """
    v = (1 + t) * logarithm
    for _ in range(_STEPS):
        tail, slope = _log_tail(t, v)
        step = (tail + logarithm) / slope
        v -= step
        if abs(step) <= 1e-14 * v:
            break
    return v


def _log_tail(t: float, v: float) -> tuple[float, float]:
    """Return the logarithm of T(v) and its derivative, for the scales 1 and t <= 1."""
    if t == 1:
        return math.log1p(v / 2) - v, -(1 + v) / (2 + v)
    if t == 0:
        return -v, -1.0
    other = -v * (1 / t - 1)
    first = -math.expm1(2 * math.log(t) + other)
    return math.log(first / -math.expm1(2 * math.log(t))) - v, math.expm1(math.log(t) + other) / first


def _is_within(t: Rational, v: Rational, alpha: Rational) -> bool:
    """Return whether an upper bound of T(v) for the scales 1 and `t` is at most α."""
    above, below = up(_PRECISION), down(_PRECISION)
    first = mpq(above.exp(real(-v, above)))
    if t == 1:
        return bool((1 + v / 2) * first <= alpha)
    # 0 is a lower bound as well: the exact number is negligible then, and its denominator may have millions of digits.
    second = mpq(below.exp(real(-v / t, below))) if t > 0 and v / t - v < _PRECISION else mpq(0)
    return bool((first - t * t * second) / (1 - t * t) <= alpha)
