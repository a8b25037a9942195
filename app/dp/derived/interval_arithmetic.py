"""Exact interval arithmetic on ranges that may be unbounded, and square roots rounded up or down."""

from typing import NamedTuple

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, down, real, up

_PRECISION = 256


class Range(NamedTuple):
    """A range that contains a number: from `lower` to `upper`; None means unbounded on that side."""

    lower: Rational | None
    upper: Rational | None

    def cut(self, least: Rational, most: Rational) -> "Range":
        """Return the range clamped to [least, most]."""
        lower = least if self.lower is None else min(max(self.lower, least), most)
        upper = most if self.upper is None else max(min(self.upper, most), least)
        return Range(lower, upper)

    def nearest(self, value: Rational) -> Rational:
        """Return the number in the range that is nearest to `value`."""
        above = value if self.lower is None else max(value, self.lower)
        return above if self.upper is None else min(above, self.upper)

    def widen(self, by: Rational) -> "Range":
        """Return the range with both ends moved outwards by `by`."""
        return Range(None if self.lower is None else self.lower - by, None if self.upper is None else self.upper + by)

    def times(self, factor: Rational) -> "Range":
        """Return the range of the number times a non-negative `factor`."""
        return Range(*(None if end is None else end * factor for end in self))


UNKNOWN = Range(None, None)


def ends(known: Range) -> tuple[Rational, Rational]:
    """Return both ends of a bounded range; raise ValueError if it is unbounded."""
    if known.lower is None or known.upper is None:
        raise ValueError("the range of a release is bounded")
    return known.lower, known.upper


def subtract(x: Range, y: Range) -> Range:
    """Return the range of x - y."""
    lower = None if x.lower is None or y.upper is None else x.lower - y.upper
    upper = None if x.upper is None or y.lower is None else x.upper - y.lower
    return Range(lower, upper)


def multiply(x: Range, y: Range) -> Range:
    """Return the range of x·y: unbounded if x or y is unbounded on either side."""
    if None in {*x, *y}:
        return UNKNOWN
    corners = [p * q for p in ends(x) for q in ends(y)]
    return Range(min(corners), max(corners))


def divide(x: Range, y: Range) -> Range:
    """Return the range of x/y for bounded ranges and y >= 0: unbounded if y may be 0."""
    (low, high), (least, most) = ends(x), ends(y)
    if least <= 0:
        return UNKNOWN
    return Range(low / (most if low >= 0 else least), high / (least if high >= 0 else most))


def square_root_down(q: Rational) -> Rational:
    """Return √q rounded down, with a relative error below 2⁻²⁵⁰, for q >= 0."""
    context = down(_PRECISION)
    return mpq(context.sqrt(real(q, context)))


def square_root_up(q: Rational) -> Rational:
    """Return √q rounded up, with a relative error below 2⁻²⁵⁰, for q >= 0."""
    context = up(_PRECISION)
    return mpq(context.sqrt(real(q, context)))


def square_root(known: Range) -> Range:
    """Return the range of the square root of a non-negative number, rounded outwards; negative ends count as 0."""
    low, high = ends(known)
    return Range(square_root_down(max(low, mpq(0))), square_root_up(max(high, mpq(0))))
