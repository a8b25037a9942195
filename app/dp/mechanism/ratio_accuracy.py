"""What is known of the ratio θ = x/y of two statistics from a release of each, whatever the data (Fieller 1954).

For the true θ, x - θy = 0, so X - θY is an error alone: that of two independent noises of scales s = λ_x and
t = |θ|·λ_y, half a grid of each, and what codes and doubles round away. Its size is at most q(θ) with probability at
least 1 - α, so the set {θ : |X - θY| <= q(θ)} has the true θ with that probability.

Two Laplace noises of scales s and t are beyond ±v together with probability

    T(v) = (s²·e^(-v/s) - t²·e^(-v/t))/(s² - t²),   or (1 + v/(2s))·e^(-v/s) where s = t.

The outer clamps change that little: a clamped error is above an unclamped one only where its noise is beyond the lower
clamp (probability p at most) and the other one alone makes up for it, for which T(v) is enough: so q is taken at
α/(1 + p_x + p_y).

T is that of symmetric and unimodal noises, so it grows with each scale (Anderson 1955). Hence q(θ) grows with |θ| and
q(θ)/|θ| falls, so that for X >= 0, Y > 0 whether a θ > 0 is in the set changes once below X/Y and once above it.
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
_STEPS = 100
_NEARLY_EQUAL = mpq(1, 10**6)
_OUTWARDS = mpq(1, 10**9)  # by which an end that was found with doubles is moved until it is proved


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
        """The least and the largest θ that may be true, None where there is none on that side."""
        if y <= 0:
            return None, None
        if x < 0:
            low, high = self.ratios(-x, y)
            return None if high is None else -high, None if low is None else -low
        return self._lower(x, y), self._upper(x, y)

    def _upper(self, x: Rational, y: Rational) -> Rational | None:
        def is_beyond(ratio: Rational) -> bool:
            return bool(ratio * y - x > self.reach(ratio))

        if y <= self.slacks[1] + self.scales[1] * mpq(log_up(1 / self.alpha, _PRECISION)):
            return None  # y may be 0, as far as a ratio without end tells
        outside = max(x / y, self.scales[0] / self.scales[1])
        for _ in range(_STEPS):
            if is_beyond(outside):
                return _first_beyond(x / y, outside, is_beyond)
            outside *= 2
        return None

    def _lower(self, x: Rational, y: Rational) -> Rational | None:
        if x > self.reach(mpq(0)):
            estimate = x / y
            return estimate - _first_beyond(
                mpq(0), estimate, lambda below: x - (estimate - below) * y > self.reach(estimate - below)
            )
        # Below 0, θ = -τ: all of the set has τ <= (q(τ) - x)/y, which is used again and again from where it must end.
        tau = self._far_end(-x, y)
        if tau is None:
            return None
        for _ in range(_STEPS):
            nearer = max((self.reach(tau) - x) / y, mpq(0))
            if nearer >= tau * (1 - _OUTWARDS):
                break
            tau = nearer
        return -tau

    def _far_end(self, x: Rational, y: Rational) -> Rational | None:
        """A θ beyond which none is in the set, since q(θ) is at most what each noise has at half of α."""
        each = mpq(log_up(2 / self.alpha, _PRECISION))
        numerator = x + self.slacks[0] + each * self.scales[0]
        denominator = y - self.slacks[1] - each * self.scales[1]
        return None if denominator <= 0 else max(numerator / denominator, mpq(0))


def _slack(mechanism: Mechanism) -> Rational:
    return mechanism.statistic.sensitivity * mechanism.parameters.grid / 2 + mechanism.resolution


def _first_beyond(inside: Rational, outside: Rational, is_beyond: Callable[[Rational], bool]) -> Rational:
    """About the smallest number from which on `is_beyond` holds, from above; `outside` where it never does before.

    It holds from some number on, up to `outside` at least.
    """
    low, high = inside, outside
    for _ in range(40):
        middle = mpq(float((low + high) / 2))
        if not low < middle < high:
            break
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return high


def pair_quantile(s: Rational, t: Rational, alpha: Rational) -> Rational:
    """A v with T(v) <= α for noises of scales `s` and `t`, above the smallest such by less than 10⁻⁹ of it."""
    s, t = max(s, t), min(s, t)
    if s - t < _NEARLY_EQUAL * s:
        t = s
    unit = float(t / s)
    found = mpq(_quantile_of(unit, -float(log_up(1 / alpha, _PRECISION))))
    while not _is_within(mpq(1), t / s, found, alpha):
        found *= 1 + _OUTWARDS
    return s * found


def _quantile_of(t: float, log_alpha: float) -> float:
    """About the v with T(v) = α for the scales 1 and t, t <= 1, by Newton's method on the logarithm of T."""
    low, high = -log_alpha, -log_alpha + math.log(4) + 4 - log_alpha
    for _ in range(200):
        v = (low + high) / 2
        if not low < v < high:
            break
        low, high = (v, high) if _log_tail(t, v) > log_alpha else (low, v)
    return high * (1 + 1e-12)


def _log_tail(t: float, v: float) -> float:
    if t == 1:
        return math.log1p(v / 2) - v
    ratio = t * t * math.exp(-v * (1 / t - 1)) if t > 0 else 0.0
    return -v + math.log((1 - ratio) / (1 - t * t))


def _is_within(s: Rational, t: Rational, v: Rational, alpha: Rational) -> bool:
    """Whether T(v) <= α, seen by an upper bound of T(v)."""
    above, below = up(_PRECISION), down(_PRECISION)
    first = mpq(above.exp(real(-v / s, above)))
    if s == t:
        return bool((1 + v / (2 * s)) * first <= alpha)
    second = mpq(below.exp(real(-v / t, below))) if t > 0 else mpq(0)
    return bool((s * s * first - t * t * second) / (s * s - t * t) <= alpha)
