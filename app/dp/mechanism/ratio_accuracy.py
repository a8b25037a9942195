"""What is known of the ratio θ = x/y of two statistics from a release of each, whatever the data (Fieller 1954).

For the true θ, x - θy = 0, so X - θY is an error alone: that of two independent noises of scales s = λ_x and
t = |θ|·λ_y, half a grid of each, and what codes and doubles round away. Its size is at most q(θ) with probability at
least 1 - α, so the set {θ : |X - θY| <= q(θ)} has the true θ with that probability.

Two Laplace noises of scales s and t are beyond ±v together with probability

    T(v) = (s²·e^(-v/s) - t²·e^(-v/t))/(s² - t²),   or (1 + v/(2s))·e^(-v/s) where s = t.

The outer clamps change that little: a clamped error is above an unclamped one only where its noise is beyond the lower
clamp (probability p at most) and the other one alone makes up for it, for which T(v) is enough: so q is taken at
α/(1 + p_x + p_y), with L = ln of its reciprocal.

T is that of symmetric and unimodal noises, so it grows with each scale (Anderson 1955). Hence q(θ) grows with |θ| and
q(θ)/|θ| falls, so that for X >= 0, Y > 0 whether a θ > 0 is in the set changes once below X/Y and once above it.
T((s + t)·L) is at most e^(-L): with r = t/s and g(u) = (1 - e^(-uL))/u, which falls, that is g(r) >= g(1/r) for r < 1.
So q(θ) exceeds q(0) by |θ|·(L·λ_y + the slack of y) at most, and the set has an end on both sides if Y is above that.
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
_STEPS = 50  # at most, of what is repeated until it hardly changes; as many bits of a double are found
_NEARLY_EQUAL = mpq(1, 10**6)
_OUTWARDS = mpq(1, 10**9)
"""By which part a number that was found with doubles is first moved outwards, where it is not proved; then doubled."""


@dataclass(frozen=True, slots=True)
class RatioError:
    """The error of X - θY for any θ, at one α.

    Attributes:
        scales: λ of both noises, in the units of x and of y.
        slacks: half a grid of both, and what is rounded away.
        alpha: α/(1 + p_x + p_y).
    """

    scales: tuple[Rational, Rational]
    slacks: tuple[Rational, Rational]
    alpha: Rational

    @classmethod
    def of(cls, x: Mechanism, y: Mechanism, alpha: Rational) -> Self:
        """That of the releases of two mechanisms."""
        beyond = sum(clamp_probability(each.parameters, _PRECISION) for each in (x, y))
        return cls(
            (x.statistic.sensitivity * x.parameters.scale, y.statistic.sensitivity * y.parameters.scale),
            (_slack(x), _slack(y)),
            alpha / (1 + beyond),
        )

    def reach(self, ratio: Rational) -> Rational:
        """q(θ), rounded up."""
        size = abs(ratio)
        quantile = pair_quantile(self.scales[0], size * self.scales[1], self.alpha)
        return self.slacks[0] + size * self.slacks[1] + quantile

    def ratios(self, x: Rational, y: Rational) -> tuple[Rational | None, Rational | None]:
        """The least and the largest θ that may be true, None for both where the set may have no end."""
        (s, t), (slack_x, slack_y) = self.scales, self.slacks
        # In units of the noises, so that doubles can be used to search.
        ends = _ends(RatioError((mpq(1), mpq(1)), (slack_x / s, slack_y / t), self.alpha), abs(x) / s, y / t)
        if ends is None:
            return None, None
        low, high = (end * s / t for end in ends)
        return (low, high) if x >= 0 else (-high, -low)


def _ends(error: RatioError, x: Rational, y: Rational) -> tuple[Rational, Rational] | None:
    """Both ends for x >= 0 and an error with scales of 1; None where the set may have no end."""
    logarithm = mpq(log_up(1 / error.alpha, _PRECISION))
    surplus = y - error.slacks[1] - logarithm
    if surplus <= 0:
        return None

    def is_outside(ratio: Rational) -> bool:
        return bool(abs(x - ratio * y) > error.reach(ratio))

    at_zero = error.slacks[0] + logarithm  # q(0) at most
    estimate, furthest = x / y, (at_zero + x) / surplus
    upper = _prove(is_outside, _search(error, x, y, estimate, furthest), furthest)
    if x > at_zero:
        return _prove(is_outside, _search(error, x, y, estimate, mpq(0)), mpq(0)), upper
    # All of the set below 0, θ = -τ, has τ <= (q(τ) - x)/y, which is used again from where it must end.
    tau = (at_zero - x) / surplus
    for _ in range(_STEPS):
        nearer = max((error.reach(tau) - x) / y, mpq(0))
        if nearer >= tau * (1 - _OUTWARDS):
            break
        tau = nearer
    return -tau, upper


def _search(error: RatioError, x: Rational, y: Rational, inside: Rational, outside: Rational) -> Rational:
    """About where the set ends between two ratios that are not negative, by doubles."""
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
    """A ratio that is seen to be outside the set: the one found, or one nearer to `outside`, which is known to be."""
    step = _OUTWARDS
    while not is_outside(found):
        if step >= 1:
            return outside
        found += (outside - found) * step
        step *= 2
    return found


def _slack(mechanism: Mechanism) -> Rational:
    return mechanism.statistic.sensitivity * mechanism.parameters.grid / 2 + mechanism.resolution


def pair_quantile(s: Rational, t: Rational, alpha: Rational) -> Rational:
    """A v with T(v) <= α for noises of scales `s` and `t`, which is seen by an upper bound of T(v)."""
    s, t = max(s, t), min(s, t)
    ratio = mpq(1) if s - t < _NEARLY_EQUAL * s else t / s
    found = mpq(_approximate_quantile(float(ratio), float(log_up(1 / alpha, _PRECISION))))
    step = _OUTWARDS
    while not _is_within(ratio, found, alpha):
        found *= 1 + step
        step *= 2
    return s * found


def _approximate_quantile(t: float, logarithm: float) -> float:
    """About the v with ln T(v) = -`logarithm` for the scales 1 and t <= 1.

    By Newton's method from (1 + t)·L, which is above it: ln T is concave, so each step stays above.
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
    """The logarithm of T(v) and its derivative, for the scales 1 and t <= 1."""
    if t == 1:
        return math.log1p(v / 2) - v, -(1 + v) / (2 + v)
    if t == 0:
        return -v, -1.0
    other = -v * (1 / t - 1)
    first = -math.expm1(2 * math.log(t) + other)
    return math.log(first / -math.expm1(2 * math.log(t))) - v, math.expm1(math.log(t) + other) / first


def _is_within(t: Rational, v: Rational, alpha: Rational) -> bool:
    """Whether T(v) <= α for the scales 1 and `t`, seen by an upper bound of T(v)."""
    above, below = up(_PRECISION), down(_PRECISION)
    first = mpq(above.exp(real(-v, above)))
    if t == 1:
        return bool((1 + v / 2) * first <= alpha)
    second = mpq(below.exp(real(-v / t, below))) if t > 0 else mpq(0)
    return bool((first - t * t * second) / (1 - t * t) <= alpha)
