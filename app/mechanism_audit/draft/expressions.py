"""The language of the draft (its section 2) as data.

A real expression stands for a real number. A floating-point expression is the same with every operation `Rounded`: it
stands for every number that arithmetic with a relative error of at most η can give.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from app.dp.numbers.exact import Rational


class Operator(StrEnum):
    """The arithmetic operations."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "×"
    OVER = "÷"


class Distribution(StrEnum):
    """The distribution of a sample."""

    UNIFORM = "unif"
    SIGN = "bernoulli"


@dataclass(frozen=True, slots=True)
class Constant:
    """A real number r."""

    value: Rational


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, or the value f(a) of a query: an input of the arithmetic, which has no error."""

    name: str


@dataclass(frozen=True, slots=True)
class Sample:
    """X ←$ μ, a number drawn at random; the environment has its value under this name."""

    name: str
    distribution: Distribution


@dataclass(frozen=True, slots=True)
class Binary:
    """An arithmetic operation."""

    operator: Operator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Ln:
    """The natural logarithm."""

    argument: "Expression"


@dataclass(frozen=True, slots=True)
class Exp:
    """The exponential. It is not in the draft's language, but in its derivations, which solve for U."""

    argument: "Expression"


@dataclass(frozen=True, slots=True)
class Snapped:
    """The nearest multiple of the grid, ties toward +∞; exact in floating-point arithmetic (the notes, 4.2)."""

    grid: Rational
    argument: "Expression"


@dataclass(frozen=True, slots=True)
class Clamped:
    """The nearest number from -bound to bound; exact in floating-point arithmetic."""

    bound: Rational
    argument: "Expression"


@dataclass(frozen=True, slots=True)
class Rounded:
    """fl(·), the argument times any factor from 1/(1 + η) to 1 + η."""

    argument: "Expression"


Expression: TypeAlias = Constant | Variable | Sample | Binary | Ln | Exp | Snapped | Clamped | Rounded


def floating(expression: Expression) -> Expression:  # noqa: PLR0911  a rule for each kind of expression
    """Return the floating-point expression that implements a real one: constants and operations are rounded.

    Variables are already floating-point numbers. Multiplication by a sign, snapping and clamping are exact.
    """
    match expression:
        case Constant():
            return Rounded(expression)
        case Variable() | Sample():
            return expression
        case Binary(operator, left, right):
            implemented = Binary(operator, floating(left), floating(right))
            by_a_sign = operator is Operator.TIMES and (_is_sign(left) or _is_sign(right))
            return implemented if by_a_sign else Rounded(implemented)
        case Ln(argument):
            return Rounded(Ln(floating(argument)))
        case Exp(argument):
            return Rounded(Exp(floating(argument)))
        case Snapped(grid, argument):
            return Snapped(grid, floating(argument))
        case Clamped(bound, argument):
            return Clamped(bound, floating(argument))
        case Rounded(argument):
            return Rounded(floating(argument))


def _is_sign(expression: Expression) -> bool:
    return isinstance(expression, Sample) and expression.distribution is Distribution.SIGN
