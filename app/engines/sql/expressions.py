"""The code of a value as sqlglot nodes: the grammar that every engine understands.

No value in a row may raise an error, because the error would reveal something about that row. Comparisons never raise.
So comparisons guard every branch that could raise through an overflow, an underflow or a cast out of range.
"""

import math
from typing import TypeAlias

from sqlglot import exp

from app.dp.numbers.exact import Rational, to_nearest_double
from app.dp.table.codes import MAX_STEPS, Codes
from app.dp.table.columns import Kind
from app.engines.sql.stored_codes import StoredCodes
from app.engines.stored_columns import INT64_MAX, INT64_MIN

Node: TypeAlias = exp.Expr
Branch: TypeAlias = tuple[Node, Node]


def column(name: str, table: str | None = None) -> Node:
    """Return a reference to a column by its exact name."""
    return exp.column(name, table=table, quoted=True)


def alias(value: Node, name: str) -> Node:
    """Return a value under a name, exactly as it is written. The node is taken in, not copied."""
    return exp.alias_(value, name, quoted=True, copy=False)


def double(value: float) -> Node:
    """Return exactly this double; engines would read a bare number as a decimal, and some of them round it."""
    return exp.cast(exp.Literal.string(repr(value)), exp.DataType.Type.DOUBLE)


def whole(value: int) -> Node:
    """Return a 64-bit whole number; a bare -2⁶³ would be parsed as the negative of a number beyond 64 bits."""
    return exp.cast(exp.Literal.string(str(value)), exp.DataType.Type.BIGINT)


def case(branches: list[Branch], otherwise: Node) -> Node:
    """Return a node for the value of the first branch whose condition holds, else `otherwise`."""
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)


def is_null(value: Node) -> Node:
    """Return a node that says whether a value is NULL."""
    return exp.Is(this=value.copy(), expression=exp.null())


def is_nan(value: Node) -> Node:
    """Return a node that says whether a double is NaN. NaN equals itself in every engine; not all have `isnan`."""
    return exp.EQ(this=value.copy(), expression=double(math.nan))


def code(value: Node, codes: Codes) -> Node:
    """Return a node for the code of a stored value, an integer in [0, codes.steps] (docs/mathematics, section 2)."""
    if isinstance(codes, StoredCodes):
        return exp.cast(value, exp.DataType.Type.BIGINT)
    missing = (is_null(value), whole(codes.null_code))
    if codes.kind is Kind.BOOLEAN:
        # Postgres cannot cast a boolean to a number.
        return case([missing, (value, whole(1))], whole(0))
    if codes.kind is Kind.REAL:
        return _real_code(exp.cast(value, exp.DataType.Type.DOUBLE), codes)
    return _whole_code(value, codes, missing)


def ends_of_real_codes(codes: Codes) -> tuple[float, float]:
    """Return the doubles up to which a value has the code 0, and from which on it has the last code."""
    quarter = codes.width / (4 * MAX_STEPS)
    return to_nearest_double(codes.lower + quarter), to_nearest_double(codes.upper - quarter)


def _real_code(value: Node, codes: Codes) -> Node:
    """Return the code of a double; the branch that nearly all rows take costs two comparisons and the arithmetic.

    A value within a quarter of a step of a bound gets that bound's code, and is not multiplied. So no product can
    underflow, which is an error in Postgres. A product stays three quarters of a step below the first value that would
    be rounded beyond the last code. That margin is many thousand times the rounding error of doubles there.
    """
    first, last = map(double, ends_of_real_codes(codes))
    within = exp.And(
        this=exp.GT(this=value.copy(), expression=first), expression=exp.LT(this=value.copy(), expression=last)
    )
    distance = exp.Sub(this=value.copy(), expression=double(to_nearest_double(codes.lower)))
    missing = exp.Or(this=is_null(value), expression=is_nan(value))
    return case(
        [
            (within, _round(distance, to_nearest_double(codes.steps / codes.width), 0.0)),
            (missing, whole(codes.null_code)),
            (exp.GTE(this=value.copy(), expression=last.copy()), whole(codes.steps)),
        ],
        whole(0),
    )


def _whole_code(value: Node, codes: Codes, missing: Branch) -> Node:
    """The code of an integer, or of a decimal in units of its scale.

    The bounds, in the same unit, need not be whole or within 64 bits. The subtraction comes after the comparisons.
    """
    unit = 10**codes.scale
    lower, upper = codes.lower * unit, codes.upper * unit
    branches = [missing]
    if lower >= INT64_MIN:
        at_most = exp.LTE(this=value.copy(), expression=whole(clip_to_64_bits(math.floor(lower))))
        branches.append((at_most, whole(0)))
    if upper <= INT64_MAX:
        at_least = exp.GTE(this=value.copy(), expression=whole(clip_to_64_bits(math.ceil(upper))))
        branches.append((at_least, whole(codes.steps)))
    first = clip_to_64_bits(math.ceil(lower))  # the least number that passes the comparisons, or the one before
    if codes.exact:
        distance = exp.Sub(this=value.copy(), expression=whole(first))
        beyond = clip_to_64_bits(int(first - lower))  # 0, unless the lower bound is beyond 64 bits
        return case(branches, exp.Add(this=distance, expression=whole(beyond)) if beyond else distance)
    # The distance from `first` needs more than 64 bits if the bounds are further apart than that.
    wide = clip_to_64_bits(math.ceil(upper)) - first > INT64_MAX
    exact = exp.cast(value.copy(), exp.DataType.build("DECIMAL(38, 0)")) if wide else value.copy()
    rounded = exp.cast(exp.Sub(this=exact, expression=whole(first)), exp.DataType.Type.DOUBLE)
    per_unit: Rational = codes.steps / (upper - lower)
    code_of = _round(rounded, to_nearest_double(per_unit), to_nearest_double((first - lower) * per_unit))
    # Neither can be null. Without `ignore_nulls`, sqlglot would write the whole expression twice to handle NULL.
    return case(branches, exp.Least(this=whole(codes.steps), expressions=[code_of], ignore_nulls=True))


def _round(distance: Node, scale: float, offset: float) -> Node:
    """`floor(distance·scale + offset + 0.5)`, in doubles, as a whole number."""
    product: Node = exp.Mul(this=exp.Paren(this=distance.copy()), expression=double(scale))
    if offset:
        product = exp.Add(this=product, expression=double(offset))
    rounded = exp.Floor(this=exp.Add(this=product, expression=double(0.5)))
    return exp.cast(rounded, exp.DataType.Type.BIGINT)


def clip_to_64_bits(bound: int) -> int:
    """Return the 64-bit whole number that is nearest to a bound."""
    return int(min(max(bound, INT64_MIN), INT64_MAX))
