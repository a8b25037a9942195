"""Exact rational numbers, and the named directions in which they become doubles, decimals or MPFR numbers."""

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
"""An MPFR number: a bound, from the side that its context's direction names."""

LARGEST_WHOLE_DOUBLE = 2**53
"""Up to this size, every whole number is a double."""


NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII)
"""A number as requests write it: up to 40 digits, up to 40 decimals, and an exponent of up to three digits."""


def parse_exact(text: str) -> Rational | None:
    """The exact number that a text writes, or None if it writes none."""
    return mpq(text.removeprefix("+")) if NUMBER.fullmatch(text) else None


def to_nearest_double(q: Rational) -> float:
    """The double nearest to `q`, ties to even, zero always positive. OverflowError beyond the largest double."""
    # Python promises one correct rounding of this division, also among the subnormals; mpq promises none of its float.
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
    """The most by which rounding to the nearest double can move a number of at most the size of `q`."""
    return mpq(math.ulp(round_up(abs(q)))) / 2


def json_number(q: Rational) -> int | float:
    """The double nearest to `q` as JSON shows it best."""
    return shortest_text(to_nearest_double(q))


def json_probability(q: Rational) -> int | float:
    """The double nearest to a `q` in (0, 1], but one that is as well above 0, and below 1 where `q` is.

    What is said to hold but for a probability of 0 would be certain.
    """
    return 1 if q == 1 else min(max(to_nearest_double(q), math.ulp(0.0)), 1 - math.ulp(0.5))


def shortest_text(double: float) -> int | float:
    """A double as JSON shows it best: whole numbers up to 2⁵³ without a decimal point."""
    return int(double) if double.is_integer() and abs(double) <= LARGEST_WHOLE_DOUBLE else double


def decimal_text(q: Rational, digits: int = 50) -> str:
    """The number `q` as a decimal without exponent or trailing zeros.

    Exact when `digits` significant digits suffice, otherwise rounded to that many, half to even.
    """
    quotient = _decimals(digits).divide(Decimal(int(q.numerator)), Decimal(int(q.denominator)))
    text = format(quotient, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


@lru_cache(maxsize=16)
def _decimals(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, traps=[])


@lru_cache(maxsize=256)
def up(precision: int) -> gmpy2.context:
    """The MPFR context of `precision` bits whose every operation rounds towards +∞.

    Call the operations on the context itself: nothing may depend on the state of the thread. A rational operand is
    first rounded in the same direction, which is right in a sum, and elsewhere if it is exact in so many bits.
    """
    return gmpy2.context(precision=precision, round=gmpy2.RoundUp)


@lru_cache(maxsize=256)
def down(precision: int) -> gmpy2.context:
    """The MPFR context of `precision` bits whose every operation rounds towards -∞; see `up`."""
    return gmpy2.context(precision=precision, round=gmpy2.RoundDown)


def real(q: Rational, context: gmpy2.context) -> Real:
    """The number `q` rounded to the precision of `context`, in its direction."""
    return mpfr(q, 0, context)


def log_up(q: Rational, precision: int) -> Real:
    """An upper bound of `ln q` for `q` > 0, of `precision` bits."""
    context = up(precision)
    return context.log(real(q, context))
