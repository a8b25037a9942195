"""The code of a value as sqlglot nodes: the grammar that every engine understands.

No value in a row may raise an error: it would tell something of that row. So every branch that could (an overflow, an
underflow, a cast out of range) is shut off by the comparisons before it, and comparisons never raise.
"""

import math
from typing import TypeAlias

from sqlglot import exp

from app.dp.numbers.exact import Rational, to_nearest_double
from app.dp.table.codes import MOST_STEPS, Codes
from app.dp.table.columns import Kind
from app.engines.stored_columns import INT64_LEAST, INT64_MOST

Node: TypeAlias = exp.Expr
Branch: TypeAlias = tuple[Node, Node]


def column(name: str, table: str | None = None) -> Node:
    """A column by its exact name."""
    return exp.column(name, table=table, quoted=True)


def double(value: float) -> Node:
    """The very double: as a bare number engines would read a decimal, and some round it."""
    return exp.cast(exp.Literal.string(repr(value)), exp.DataType.Type.DOUBLE)


def whole(value: int) -> Node:
    """A 64-bit whole number; as a bare number -2⁶³ would be the negative of something too large."""
    return exp.cast(exp.Literal.string(str(value)), exp.DataType.Type.BIGINT)


def case(branches: list[Branch], otherwise: Node) -> Node:
    """The first branch whose condition holds."""
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)


def is_null(value: Node) -> Node:
    """Whether there is no value."""
    return exp.Is(this=value.copy(), expression=exp.null())


def is_nan(value: Node) -> Node:
    """Whether a double is not a number. Every engine holds NaN equal to itself; not every one has `isnan`."""
    return exp.EQ(this=value.copy(), expression=double(math.nan))


def code(value: Node, codes: Codes) -> Node:
    """The code of a stored value, a whole number in [0, codes.steps] (docs/mathematics, section 2)."""
    missing = (is_null(value), whole(codes.null_code))
    if codes.kind is Kind.BOOLEAN:
        # Postgres cannot cast a boolean to a number.
        return case([missing, (value, whole(1))], whole(0))
    if codes.kind is Kind.REAL:
        return _real_code(exp.cast(value, exp.DataType.Type.DOUBLE), codes)
    return _whole_code(value, codes, missing)


def _real_code(value: Node, codes: Codes) -> Node:
    """The code of a double: in the one branch that nearly all rows take it costs two comparisons more than arithmetic.

    What is within a quarter of a step of a bound has that bound's code, and is not multiplied. So no product can
    underflow, where Postgres raises an error; and what is multiplied stays three quarters of a step below what would be
    rounded beyond the last code, many thousand times as much as doubles err there.
    """
    quarter = codes.width / (4 * MOST_STEPS)
    first, last = double(to_nearest_double(codes.lower + quarter)), double(to_nearest_double(codes.upper - quarter))
    within = exp.And(
        this=exp.GT(this=value.copy(), expression=first), expression=exp.LT(this=value.copy(), expression=last)
    )
    distance = exp.Sub(this=value.copy(), expression=double(to_nearest_double(codes.lower)))
    missing = exp.Or(this=is_null(value), expression=is_nan(value))
    return case(
        [
            (within, _rounded(distance, to_nearest_double(codes.steps / codes.width), 0.0)),
            (missing, whole(codes.null_code)),
            (exp.GTE(this=value.copy(), expression=last.copy()), whole(codes.steps)),
        ],
        whole(0),
    )


def _whole_code(value: Node, codes: Codes, missing: Branch) -> Node:
    """The code of an integer, or of a decimal in units of its scale.

    The bounds, in the same unit, need be neither whole nor within 64 bits. Subtracting waits for the comparisons.
    """
    unit = 10**codes.scale
    lower, upper = codes.lower * unit, codes.upper * unit
    branches = [missing]
    if lower >= INT64_LEAST:
        at_most = exp.LTE(this=value.copy(), expression=whole(_clipped(math.floor(lower))))
        branches.append((at_most, whole(0)))
    if upper <= INT64_MOST:
        at_least = exp.GTE(this=value.copy(), expression=whole(_clipped(math.ceil(upper))))
        branches.append((at_least, whole(codes.steps)))
    first = _clipped(math.ceil(lower))  # the least whole number that gets past the comparisons, or the one before it
    if codes.exact:
        distance = exp.Sub(this=value.copy(), expression=whole(first))
        beyond = _clipped(int(first - lower))  # 0, unless the lower bound is beyond 64 bits
        return case(branches, exp.Add(this=distance, expression=whole(beyond)) if beyond else distance)
    # The distance from `first` needs more than 64 bits if the bounds are further apart than that.
    wide = _clipped(math.ceil(upper)) - first > INT64_MOST
    exact = exp.cast(value.copy(), exp.DataType.build("DECIMAL(38, 0)")) if wide else value.copy()
    rounded = exp.cast(exp.Sub(this=exact, expression=whole(first)), exp.DataType.Type.DOUBLE)
    per_unit: Rational = codes.steps / (upper - lower)
    code_of = _rounded(rounded, to_nearest_double(per_unit), to_nearest_double((first - lower) * per_unit))
    # Neither can be null; sqlglot would otherwise write the whole of it twice to say so.
    return case(branches, exp.Least(this=whole(codes.steps), expressions=[code_of], ignore_nulls=True))


def _rounded(distance: Node, scale: float, offset: float) -> Node:
    """`floor(distance·scale + offset + 0.5)`, in doubles, as a whole number."""
    product: Node = exp.Mul(this=exp.Paren(this=distance.copy()), expression=double(scale))
    if offset:
        product = exp.Add(this=product, expression=double(offset))
    rounded = exp.Floor(this=exp.Add(this=product, expression=double(0.5)))
    return exp.cast(rounded, exp.DataType.Type.BIGINT)


def _clipped(bound: int) -> int:
    return int(min(max(bound, INT64_LEAST), INT64_MOST))
