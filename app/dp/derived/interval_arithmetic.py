"""Exact interval arithmetic on what is known of a number, and the directed roundings of a square root."""

from typing import NamedTuple

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, down, real, up

_PRECISION = 256


class Range(NamedTuple):
    """A number is at least `lower` and at most `upper`; None where nothing is known on that side."""

    lower: Rational | None
    upper: Rational | None

    def cut(self, least: Rational, most: Rational) -> "Range":
        """What is known once it is known, too, that the number is from `least` to `most`."""
        lower = least if self.lower is None else min(max(self.lower, least), most)
        upper = most if self.upper is None else max(min(self.upper, most), least)
        return Range(lower, upper)

    def widen(self, by: Rational) -> "Range":
        """What is known where both ends may be wrong by so much."""
        return Range(None if self.lower is None else self.lower - by, None if self.upper is None else self.upper + by)

    def times(self, factor: Rational) -> "Range":
        """The number times a known one that is not negative."""
        return Range(*(None if end is None else end * factor for end in self))


UNKNOWN = Range(None, None)


def ends(known: Range) -> tuple[Rational, Rational]:
    """Both ends of a bounded range; ValueError if it is not."""
    if known.lower is None or known.upper is None:
        raise ValueError("the range of a release is bounded")
    return known.lower, known.upper


def subtract(x: Range, y: Range) -> Range:
    """What is known of x - y."""
    lower = None if x.lower is None or y.upper is None else x.lower - y.upper
    upper = None if x.upper is None or y.lower is None else x.upper - y.lower
    return Range(lower, upper)


def multiply(x: Range, y: Range) -> Range:
    """What is known of x·y: nothing, if nothing is known of one of them on some side."""
    if None in {*x, *y}:
        return UNKNOWN
    corners = [p * q for p in ends(x) for q in ends(y)]
    return Range(min(corners), max(corners))


def divide(x: Range, y: Range) -> Range:
    """What is known of x/y for y that is not negative: nothing, if y may be 0."""
    (low, high), (least, most) = ends(x), ends(y)
    if least <= 0:
        return UNKNOWN
    return Range(low / (most if low >= 0 else least), high / (least if high >= 0 else most))


def square_root_down(q: Rational) -> Rational:
    """A number at most √q, and less by less than 2⁻²⁵⁰ of it, for q that is not negative."""
    context = down(_PRECISION)
    return mpq(context.sqrt(real(q, context)))


def square_root_up(q: Rational) -> Rational:
    """A number at least √q, and more by less than 2⁻²⁵⁰ of it, for q that is not negative."""
    context = up(_PRECISION)
    return mpq(context.sqrt(real(q, context)))


def square_root(known: Range) -> Range:
    """What is known of the square root of a number that is not negative."""
    low, high = ends(known)
    return Range(square_root_down(max(low, mpq(0))), square_root_up(max(high, mpq(0))))
