"""Evaluates an expression to a number in arithmetic of p bits and to an interval around it (the draft, Figure 1).

The draft's judgement e ⇓ c, (e/(1 + η), e(1 + η)) is unsound as printed, for two reasons that are corrected here.

* The rule OP includes only the error of its own rounding, around the real value, and ignores the errors of its
  operands.
  Here an operation is applied to the intervals of its operands.
* r/(1 + η) is the lower end only for positive r. Here the interval of a rounding is widened on both sides, whatever the
  signs of its ends. The rule LN then needs no special case for arguments below 1.

Rounding to nearest with p bits satisfies the draft's form of the error, r/(1 + η) <= fl(r) <= r(1 + η) for r > 0, with
η = 2^-p. Directed rounding satisfies it with η = 2^(1-p). Underflow is ignored, since MPFR's exponent range is so
large.
"""

import operator as arithmetic
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import gmpy2
from gmpy2 import mpfr, mpq

from app.dp.mechanism.draw import round_to_grid
from app.dp.numbers.exact import Rational
from app.mechanism_audit.draft.expressions import (
    Binary,
    Clamped,
    Constant,
    Exp,
    Expression,
    Ln,
    Operator,
    Rounded,
    Sample,
    Snapped,
    Variable,
)
from app.mechanism_audit.intervals import Interval, exp, ln

Environment: TypeAlias = Mapping[str, Rational]
"""The values of variables, queries and samples."""

WORKING_PRECISION = 1000
"""The precision, in bits, of an operation's result before it is rounded to fewer bits."""

_OPERATIONS: dict[Operator, Callable[[Interval, Interval], Interval]] = {
    Operator.PLUS: arithmetic.add,
    Operator.MINUS: arithmetic.sub,
    Operator.TIMES: arithmetic.mul,
    Operator.OVER: arithmetic.truediv,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """e ⇓ value, error: the result in arithmetic of p bits, and an interval for all arithmetic that is as accurate."""

    value: Rational
    error: Interval


def judge(expression: Expression, environment: Environment, precision: int) -> Judgement:
    """Return the judgement on an expression in arithmetic of `precision` bits that rounds to nearest: η = 2^-precision.

    Raises:
        ValueError: if the interval of a logarithm's argument is not above 0.
        ZeroDivisionError: if the interval of a divisor contains 0.
    """
    error = enclose(expression, environment, mpq(1, 2**precision), precision + 64)
    return Judgement(compute(expression, environment, nearest(precision)), error)


def enclose(expression: Expression, environment: Environment, eta: Rational, precision: int) -> Interval:
    """Return an interval that contains the expression's value if every rounding has a relative error of at most η.

    Its ends have `precision` bits.

    Raises:
        ValueError: if the interval of a logarithm's argument is not above 0.
        ZeroDivisionError: if the interval of a divisor contains 0.
    """
    return _evaluate(expression, environment, lambda interval: widen(interval, eta), precision)


def compute(expression: Expression, environment: Environment, rounding: Callable[[Rational], Rational]) -> Rational:
    """Return the expression's value if `rounding` is applied to every result; the identity gives the real value.

    Results have 1,000 bits before they are rounded.

    Raises:
        ValueError: if a logarithm's argument is not above 0.
        ZeroDivisionError: if a divisor is 0.
    """

    def rounded(interval: Interval) -> Interval:
        return Interval.point(rounding(interval.lower))

    return _evaluate(expression, environment, rounded, WORKING_PRECISION).lower


def widen(interval: Interval, eta: Rational) -> Interval:
    """Return the interval of all products of its numbers and a factor from 1/(1 + η) to 1 + η."""
    return interval * Interval(1 / (1 + eta), 1 + eta)


def nearest(precision: int) -> Callable[[Rational], Rational]:
    """Return the function that rounds to the nearest number of `precision` bits, ties to even."""
    context = gmpy2.context(precision=precision, round=gmpy2.RoundToNearest)
    return lambda q: mpq(mpfr(q, 0, context))


def _evaluate(  # noqa: PLR0911  a rule for each kind of expression
    expression: Expression, environment: Environment, rounding: Callable[[Interval], Interval], precision: int
) -> Interval:
    """Evaluate an expression by the rules of the big-step semantics, with `rounding` for each `Rounded` result."""

    def inside(part: Expression) -> Interval:
        return _evaluate(part, environment, rounding, precision)

    match expression:
        case Constant(value):
            return Interval.point(value)
        case Variable(name) | Sample(name):
            return Interval.point(environment[name])
        case Binary(operator, left, right):
            return _OPERATIONS[operator](inside(left), inside(right)).outwards(precision)
        case Ln(argument):
            return ln(inside(argument), precision)
        case Exp(argument):
            return exp(inside(argument), precision)
        case Snapped(grid, argument):
            return inside(argument).under(lambda t: round_to_grid(t, grid))
        case Clamped(bound, argument):
            return inside(argument).under(lambda t: min(max(t, -bound), bound))
        case Rounded(argument):
            return rounding(inside(argument)).outwards(precision)
