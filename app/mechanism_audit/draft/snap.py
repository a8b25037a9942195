"""The snapping mechanism as an expression (the draft, Definitions 2 and 3), and the same solved for U."""

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
"""Snap′, the mechanism without rounding and clamping: f(a) + S × (ln(U) ÷ ε). With S = +1 the noise is negative."""


def snap(grid: Rational, bound: Rational) -> Expression:
    """Return the whole mechanism as a real expression; `floating` of it is the implementation."""
    return Clamped(bound, Snapped(grid, NOISY))


THRESHOLD: Expression = Exp(
    Binary(
        Operator.TIMES,
        EPSILON,
        Binary(Operator.TIMES, SIGN, Rounded(Rounded(Binary(Operator.MINUS, Rounded(RESULT), QUERY)))),
    )
)
"""The U at which floating-point Snap′ is y, for given roundings: y is (f(a) + S·ln(U)/ε·g₁·g₂)·g₃, so U is
exp(ε·S·((y/g₃ - f(a))/(g₁·g₂))). A rounding's possible factors and their inverses are the same set, so this expression
has three roundings too, and its interval contains every such U."""
