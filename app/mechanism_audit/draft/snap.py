"""The snapping mechanism as an expression (the draft, Definitions 2 and 3), and its solution for U."""

from app.dp.numbers.exact import Rational
from app.mechanism_audit.draft.expressions import (
    Binary,
    Clamped,
    Distribution,
    Exp,
    Expression,
    Ln,
    Operator,
    Rounded,
    Sample,
    Snapped,
    Variable,
)

EPSILON = Variable("ε")
QUERY = Variable("f(a)")
UNIFORM = Sample("U", Distribution.UNIFORM)
SIGN = Sample("S", Distribution.SIGN)
RESULT = Variable("y")

NOISY: Expression = Binary(
    Operator.PLUS, QUERY, Binary(Operator.TIMES, SIGN, Binary(Operator.OVER, Ln(UNIFORM), EPSILON))
)
"""Snap′, the mechanism before it rounds and clamps: f(a) + S × (ln(U) ÷ ε). The sign + is noise downwards."""


def snap(grid: Rational, bound: Rational) -> Expression:
    """The whole mechanism, a real expression; `floating` of it is the implementation."""
    return Clamped(bound, Snapped(grid, NOISY))


THRESHOLD: Expression = Exp(
    Binary(
        Operator.TIMES,
        EPSILON,
        Binary(Operator.TIMES, SIGN, Rounded(Rounded(Binary(Operator.MINUS, Rounded(RESULT), QUERY)))),
    )
)
"""The U at which floating Snap′ is y, for given roundings: y is (f(a) + S·ln(U)/ε·g₁·g₂)·g₃, so U is
exp(ε·S·((y/g₃ - f(a))/(g₁·g₂))). The factors of a rounding and their inverses are the same ones, so that this is an
expression with three roundings as well, and the interval of it holds every such U."""
