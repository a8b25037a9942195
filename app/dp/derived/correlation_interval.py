"""The interval of a correlation ρ = c/√(v·w), from releases C, V and W of a covariance c and two variances v and w.

Let λ = √(w/v). Then c = ρ·(λv + w/λ)/2, so that C - ρ·(λV + W/λ)/2 contains only errors: a sum of three independent
noises, far below the sum of their radii. λ is not known, but the intervals of the variances bound it. Where a variance
may be near 0, this bound is too wide, and interval arithmetic is better. Which of the two intervals must hold is
decided by the variances themselves: by the first if both are at least `_LARGE` radii, by the second otherwise. So the
result has every ρ that the one or the other allows for such variances, and holds with probability 1 - α for every table
(docs/mathematics).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Self

from gmpy2 import mpq

from app.dp.derived.interval_arithmetic import Range, divide, ends, square_root_down, square_root_up
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.noise_sums import approximate_quantile, sum_quantile
from app.dp.mechanism.sum_accuracy import clamp_probability
from app.dp.numbers.exact import Rational

_LARGE = 3
"""With 2, an interval is now and then a hundredth wider than by interval arithmetic."""
_OF_VARIANCES = mpq(1, 10)
"""The part of α that the bounds of λ take."""

_PIECES, _STEPS, _PRECISION = 4, 24, 256
_CLOSE = 1e-7
_OUTWARDS = mpq(1, 10**7)


def divide_ranges(covariances: Range, xs: Range, ys: Range) -> Range:
    """Return what ranges that hold at once say of the correlation, by interval arithmetic.

    If a variance may be 0, a range of the covariance without 0 still tells the sign.
    """
    (low, high), (x_low, x_high), (y_low, y_high) = ends(covariances), ends(xs), ends(ys)
    least, most = square_root_down(max(x_low, mpq(0)) * max(y_low, mpq(0))), square_root_up(x_high * y_high)
    if least > 0:
        return divide(covariances, Range(least, most)).cut(mpq(-1), mpq(1))
    lower = low / most if low > 0 else mpq(-1)
    upper = high / most if high < 0 else mpq(1)
    return Range(lower, upper).cut(mpq(-1), mpq(1))


@dataclass(frozen=True, slots=True)
class Release:
    """A released number: the number, the range of the true one at a third of α, and the mechanism."""

    value: Rational
    range: Range
    mechanism: Mechanism

    @property
    def scale(self) -> Rational:
        """The scale of the noise, in the statistic's units."""
        return self.mechanism.sensitivity * self.mechanism.parameters.scale

    @property
    def slack(self) -> Rational:
        """Half a grid and the resolution, in the same units."""
        return self.mechanism.sensitivity * self.mechanism.parameters.grid / 2 + self.mechanism.resolution

    def radius(self, alpha: Rational) -> Rational:
        """Return a bound of the error, valid with probability 1 - α."""
        return self.mechanism.radius(alpha) + self.mechanism.resolution


@dataclass(frozen=True, slots=True)
class _Piece:
    """A range of λ, with what is between: λV + W/λ, halved, and the largest noise and slack."""

    least: Rational
    most: Rational
    scales: tuple[Rational, Rational]
    slack: Rational

    @classmethod
    def between(cls, low: Rational, high: Rational, x: Release, y: Release) -> Self:
        """Return the piece from `low` to `high`."""
        middles = [(end * x.value + y.value / end) / 2 for end in (low, high)]
        inside = low**2 * x.value <= y.value <= high**2 * x.value
        least = min(*middles, square_root_down(x.value * y.value)) if inside else min(middles)
        scales = high * x.scale / 2, y.scale / (2 * low)
        return cls(least, max(middles), scales, (high * x.slack + y.slack / low) / 2)


def bound_correlation(covariance: Release, x: Release, y: Release, alpha: Rational) -> Range:
    """Return an interval of the correlation; each range holds with probability 1 - α/3."""
    by_ranges = divide_ranges(covariance.range, x.range, y.range)
    xs, ys = _bound_large(x, alpha), _bound_large(y, alpha)
    if xs is None or ys is None:
        return by_ranges
    (x_low, x_high), (y_low, y_high) = xs, ys
    lambdas = square_root_down(y_low / x_high), square_root_up(y_high / x_low)
    found = _by_noise_sums(covariance, list(_cut(*lambdas, x, y)), alpha * (1 - _OF_VARIANCES), (x, y))
    if all(ends(each.range)[0] >= _large(each, alpha) for each in (x, y)):
        return found
    (low, high), (least, most) = ends(found), ends(by_ranges)
    return Range(min(low, least), max(high, most))


def _large(release: Release, alpha: Rational) -> Rational:
    return _LARGE * release.radius(alpha / 3)


def _bound_large(release: Release, alpha: Rational) -> tuple[Rational, Rational] | None:
    """Return the range of a variance that is large, at its part of α; None if it cannot be large."""
    radius = release.radius(alpha * _OF_VARIANCES / 2)
    low, high = max(release.value - radius, _large(release, alpha)), release.value + radius
    return (low, high) if low <= high else None


def _cut(low: Rational, high: Rational, x: Release, y: Release) -> Iterator[_Piece]:
    step = (float(high) / float(low)) ** (1 / _PIECES)
    inner = (low * mpq(step**place) for place in range(1, _PIECES))
    for pair in pairwise([low, *inner, high]):
        yield _Piece.between(*pair, x, y)


def _by_noise_sums(
    covariance: Release, pieces: Sequence[_Piece], alpha: Rational, others: tuple[Release, Release]
) -> Range:
    """Return the correlations that no piece excludes; the sign of the covariance is changed so that it is positive."""
    beyond = prod(1 + clamp_probability(each.mechanism.parameters, _PRECISION) for each in (covariance, *others))
    error = _Error(abs(covariance.value), covariance.scale, covariance.slack, tuple(pieces), alpha / beyond)
    low, high = error.lower(), error.upper()
    return Range(low, high) if covariance.value >= 0 else Range(-high, -low)


@dataclass(frozen=True, slots=True)
class _Error:
    """The bound of the error for any ρ, for a released covariance that is not negative."""

    value: Rational
    scale: Rational
    slack: Rational
    pieces: tuple[_Piece, ...]
    alpha: Rational

    def reach(self, rho: Rational, piece: _Piece) -> Rational:
        """Return the largest error for ρ of this size in a piece, rounded up; it grows with the size."""
        size = abs(rho)
        scales = [self.scale, *(size * scale for scale in piece.scales)]
        return self.slack + size * piece.slack + sum_quantile(scales, self.alpha)

    def _about(self, rho: float, piece: _Piece) -> float:
        scales = [float(self.scale), *(rho * float(scale) for scale in piece.scales)]
        return float(self.slack) + rho * float(piece.slack) + approximate_quantile(scales, float(self.alpha))

    def upper(self) -> Rational:
        """Return the least ρ that is proved to be too large, as are all above it; 1 if there is none.

        (ρ·m - C - q(ρ))/ρ grows with ρ, since q(ρ)/ρ falls.
        """

        def is_beyond(rho: Rational) -> bool:
            return all(rho * each.least - self.value > self.reach(rho, each) for each in self.pieces)

        def surplus(rho: float) -> float:
            value = float(self.value)
            return min(rho * float(each.least) - value - self._about(rho, each) for each in self.pieces)

        found = _find_root(surplus)
        if found is None:
            return mpq(1)
        return self._prove(is_beyond, mpq(found), mpq(1))

    def lower(self) -> Rational:
        """Return the largest ρ that is proved to be too small, as are all below it; -1 if there is none."""

        def is_below(rho: Rational) -> bool:
            return all(self.value - rho * each.most > self.reach(rho, each) for each in self.pieces)

        def deficit(rho: float) -> float:
            value = float(self.value)
            return -min(value - rho * float(each.most) - self._about(rho, each) for each in self.pieces)

        negative = self._least_negative()
        if negative < 0 or not is_below(mpq(0)):
            return negative
        found = _find_root(deficit)
        return self._prove(is_below, mpq(1 if found is None else found), mpq(0))

    def _least_negative(self) -> Rational:
        """Return a bound of the negative ρ that are not excluded: -τ is one only if τ <= (q(τ) - C)/m."""
        bounds = []
        for piece in self.pieces:
            tau = mpq(1)
            for _ in range(_STEPS):
                nearer = max((self.reach(tau, piece) - self.value) / piece.least, mpq(0))
                if nearer >= tau * (1 - _OUTWARDS):
                    break
                tau = nearer
            bounds.append(tau)
        return -max(bounds)

    @staticmethod
    def _prove(is_outside: Callable[[Rational], bool], found: Rational, last: Rational) -> Rational:
        """Return a ρ that is checked to be outside: `found`, or one nearer to `last`."""
        step = _OUTWARDS
        while not is_outside(found):
            if step >= 1:
                return last
            found += (last - found) * step
            step *= 2
        return found


def _find_root(of: Callable[[float], float]) -> float | None:
    """Return about where a function that is negative at 0 becomes positive; None if it is not at 1.

    By regula falsi; an end that stays counts half (the Illinois algorithm).
    """
    low, high, below, above = 0.0, 1.0, of(0.0), of(1.0)
    if above <= 0:
        return None
    close, kept = _CLOSE * (above - below), 0
    for _ in range(_STEPS):
        middle = high - above * (high - low) / (above - below)
        found = of(middle)
        if abs(found) <= close:
            return middle
        if found > 0:
            high, above = middle, found
            below, kept = below / (2 if kept > 0 else 1), 1
        else:
            low, below = middle, found
            above, kept = above / (2 if kept < 0 else 1), -1
    return high
