"""Interval arithmetic with exact rational ends: a result contains the results for all numbers in the operands.

Sums, products and quotients are exact. Only logarithms, exponentials and `outwards` round, and they round outwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, down, real, up


@dataclass(frozen=True, slots=True)
class Interval:
    """All real numbers from `lower` to `upper`."""

    lower: Rational
    upper: Rational

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError("the lower end of an interval is above its upper end")

    @classmethod
    def point(cls, q: Rational) -> Self:
        """Return the interval that contains only `q`."""
        return cls(q, q)

    def __contains__(self, q: Rational) -> bool:
        return bool(self.lower <= q <= self.upper)

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.lower + other.lower, self.upper + other.upper)

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval(self.lower - other.upper, self.upper - other.lower)

    def __mul__(self, other: "Interval") -> "Interval":
        corners = [a * b for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Interval(min(corners), max(corners))

    def __truediv__(self, other: "Interval") -> "Interval":
        if mpq(0) in other:
            raise ZeroDivisionError("division by an interval that contains 0")
        return self * Interval(1 / other.upper, 1 / other.lower)

    def under(self, function: Callable[[Rational], Rational]) -> "Interval":
        """Return the image of the interval under a non-decreasing function."""
        return Interval(function(self.lower), function(self.upper))

    def outwards(self, precision: int) -> "Interval":
        """Return the interval rounded outwards to ends of `precision` bits, so that ends do not grow without limit."""
        return Interval(mpq(real(self.lower, down(precision))), mpq(real(self.upper, up(precision))))


def ln(x: Interval, precision: int) -> Interval:
    """Return the logarithms of an interval, rounded outwards to `precision` bits; ValueError unless it is above 0."""
    if x.lower <= 0:
        raise ValueError("the logarithm of an interval that is not above 0")
    below, above = down(precision), up(precision)
    return Interval(mpq(below.log(real(x.lower, below))), mpq(above.log(real(x.upper, above))))


def exp(x: Interval, precision: int) -> Interval:
    """Return the exponentials of an interval, rounded outwards to `precision` bits."""
    below, above = down(precision), up(precision)
    return Interval(mpq(below.exp(real(x.lower, below))), mpq(above.exp(real(x.upper, above))))
