"""Exact rational numbers, and their conversion to doubles, decimals and MPFR numbers, each in a named direction."""

import math
import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import TypeAlias

import gmpy2
from gmpy2 import mpfr, mpq

Rational: TypeAlias = mpq
"""An exact rational number."""

Real: TypeAlias = mpfr
"""An MPFR number: a lower or upper bound, according to the rounding direction of its context."""

LARGEST_WHOLE_DOUBLE = 2**53
"""Up to this size, every whole number is a double."""


NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII)
"""The syntax of a number in a request: up to 40 digits, up to 40 decimals, and an exponent of up to three digits."""


def parse_exact(text: str) -> Rational | None:
    """Return the exact number that a text represents, or None if it is not a number."""
    return mpq(text.removeprefix("+")) if NUMBER.fullmatch(text) else None


def to_nearest_double(q: Rational) -> float:
    """The double nearest to `q`, ties to even, zero always positive. OverflowError beyond the largest double."""
    # Python rounds this division of integers correctly, also to subnormals; mpq does not guarantee that for float().
    return int(q.numerator) / int(q.denominator) + 0.0


def round_up(q: Rational) -> float:
    """The smallest double that is at least `q`. OverflowError beyond the largest double."""
    double = to_nearest_double(q)
    return double if mpq(double) >= q else math.nextafter(double, math.inf)


def round_down(q: Rational) -> float:
    """The largest double that is at most `q`. OverflowError beyond the largest double."""
    double = to_nearest_double(q)
    return double if mpq(double) <= q else math.nextafter(double, -math.inf)


def half_ulp(q: Rational) -> Rational:
    """Return the largest error of rounding a number of absolute value at most |`q`| to the nearest double."""
    return mpq(math.ulp(round_up(abs(q)))) / 2


def json_number(q: Rational) -> int | float:
    """Return the double nearest to `q` as a JSON number: whole numbers up to 2⁵³ have no decimal point."""
    return shortest_text(to_nearest_double(q))


def json_probability(q: Rational) -> int | float:
    """Return the double nearest to a probability `q` in (0, 1] that is above 0, and below 1 unless `q` is 1.

    A probability that is rounded to 0 or 1 would claim certainty.
    """
    return 1 if q == 1 else min(max(to_nearest_double(q), math.ulp(0.0)), 1 - math.ulp(0.5))


def shortest_text(double: float) -> int | float:
    """Return a double as the shortest JSON number: whole numbers up to 2⁵³ have no decimal point."""
    return int(double) if double.is_integer() and abs(double) <= LARGEST_WHOLE_DOUBLE else double


def decimal_text(q: Rational, digits: int = 50) -> str:
    """Return the number `q` as a decimal without exponent or trailing zeros.

    It is exact if `digits` significant digits suffice, and otherwise rounded to that many, half to even.
    """
    quotient = _decimals(digits).divide(Decimal(int(q.numerator)), Decimal(int(q.denominator)))
    text = format(quotient, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


@lru_cache(maxsize=16)
def _decimals(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=[])


@lru_cache(maxsize=256)
def up(precision: int) -> gmpy2.context:
    """Return the MPFR context of `precision` bits whose operations round towards +∞.

    Call operations on the context itself, so that no result depends on the thread's context. The context first rounds a
    rational operand in the same direction: this is correct in a sum, and elsewhere if the operand fits in `precision`
    bits.
    """
    return gmpy2.context(precision=precision, round=gmpy2.RoundUp)


@lru_cache(maxsize=256)
def down(precision: int) -> gmpy2.context:
    """Return the MPFR context of `precision` bits whose operations round towards -∞; see `up`."""
    return gmpy2.context(precision=precision, round=gmpy2.RoundDown)


def real(q: Rational, context: gmpy2.context) -> Real:
    """Return `q` rounded to the precision of `context`, in its direction."""
    return mpfr(q, 0, context)


def log_up(q: Rational, precision: int) -> Real:
    """Return an upper bound of `ln q` for `q` > 0, with `precision` bits."""
    context = up(precision)
    return context.log(real(q, context))
