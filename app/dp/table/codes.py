"""Integer codes: each value becomes an integer before it is summed, so that every sum is exact.

Casacuberta et al. (2022) show that the sensitivity of a floating-point sum exceeds the usual formula.
"""

from dataclasses import dataclass

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, to_nearest_double
from app.dp.table.columns import Column, Kind

MAX_STEPS = 2**31
"""The largest code: its square is 2⁶², and sums of it over 2⁶³ rows are below 10³⁸, which every engine supports."""

MAX_BOUND = mpq(10) ** 100
MIN_GAP = 1 / MAX_BOUND

_ENGINE_ERROR = 1 + mpq(1, 2**18)
"""Engines compute inexact codes with three operations on doubles; this factor covers their rounding."""


@dataclass(frozen=True, slots=True)
class Codes:
    """The map from a column's values to the codes 0 to `steps`; hashable, since it is part of the key of cached sums.

    Attributes:
        kind: the kind of the column, numeric or boolean.
        lower, upper: the exact bounds, in the column's units; for a real column, the nearest doubles to those written.
        scale: the values are stored as whole multiples of 10^-scale (integer and decimal columns).
        steps: the largest code, K.
        null_code: the code of a missing value.
    """

    kind: Kind
    lower: Rational
    upper: Rational
    scale: int
    steps: int
    null_code: int

    @property
    def width(self) -> Rational:
        """The width R of the bounds, in the column's units."""
        return self.upper - self.lower

    @property
    def date_kind(self) -> Kind | None:
        """The kind of the column if it holds dates."""
        return self.kind if self.kind.temporal else None

    @property
    def exact(self) -> bool:
        """Whether each value within the bounds has a code of its own; engines then compute codes without doubles."""
        return self.kind is not Kind.REAL and self.steps == _whole_steps(self.lower, self.upper, self.scale)

    @property
    def rounding(self) -> Rational:
        """δ, the largest difference of a clamped value and its code's value, in the column's units; 0 if exact."""
        return mpq(0) if self.exact else self.width / (2 * self.steps) * _ENGINE_ERROR

    def value(self, code: int) -> Rational:
        """Return the value that `code` stands for, in the column's units."""
        return self.lower + self.width * code / self.steps

    def code(self, value: Rational | None) -> int:
        """Return the code of a value in the column's units (None if missing): clamp, scale, round half up."""
        if value is None:
            return self.null_code
        return _code(value, self.lower, self.upper, self.steps)


def codes_for(column: Column, bounds: tuple[Rational, Rational] | None, where: str = "bounds") -> Codes:
    """Return the codes of a column within the requested bounds, or within the declared ones.

    Raises:
        InvalidStatistic: at `where`, if the bounds are missing, equal, reversed, too large or too close together, or if
            a boolean column has bounds; at `column`, if it is a category column, which has no codes.
    """
    if column.kind is Kind.CATEGORY:
        raise InvalidStatistic("column", "must be a numeric or boolean column: categories have no numeric values")
    if column.kind is Kind.BOOLEAN:
        if bounds is not None:
            raise InvalidStatistic(
                where, "does not go with a boolean column, whose bounds are always 0 and 1: leave it out"
            )
        null_code = 0 if column.null_value is None else _code(column.null_value, mpq(0), mpq(1), 1)
        return Codes(column.kind, mpq(0), mpq(1), scale=0, steps=1, null_code=null_code)
    lower, upper = (to_stored_bound(column.kind, bound) for bound in check_bounds(column, bounds, where))
    scale = column.scale if column.kind is Kind.DECIMAL else 0
    whole = None if column.kind is Kind.REAL else _whole_steps(lower, upper, scale)
    steps = MAX_STEPS if whole is None else whole
    null_code = (steps + 1) // 2 if column.null_value is None else _code(column.null_value, lower, upper, steps)
    return Codes(column.kind, lower, upper, scale, steps, null_code)


def check_bounds(
    column: Column, bounds: tuple[Rational, Rational] | None, where: str = "bounds"
) -> tuple[Rational, Rational]:
    """Return the requested bounds of a numeric column, or the declared ones, as written.

    Raises:
        InvalidStatistic: at `where`, if there are none or they are equal, reversed, too large or too close together.
    """
    written = bounds or column.bounds
    if written is None:
        raise InvalidStatistic(where, "is missing: a numeric column needs a lower and an upper bound")
    lower, upper = written
    if max(abs(lower), abs(upper)) > MAX_BOUND:
        raise InvalidStatistic(where, "must be from -1e100 to 1e100")
    if upper <= lower:
        raise InvalidStatistic(where, "must be a lower bound below an upper bound")
    if upper - lower < MIN_GAP:
        # This also keeps the engines' steps/(upper - lower) a finite double.
        raise InvalidStatistic(where, "must be at least 1e-100 apart")
    if to_stored_bound(column.kind, lower) == to_stored_bound(column.kind, upper):
        raise InvalidStatistic(where, "are too close together: both are the same double")
    return lower, upper


def to_stored_bound(kind: Kind, written: Rational) -> Rational:
    """Return the exact bound or edge for a written number: for a real column the nearest double, else the number."""
    return mpq(to_nearest_double(written)) if kind is Kind.REAL else written


def _whole_steps(lower: Rational, upper: Rational, scale: int) -> int | None:
    """Return the units of 10^-scale between bounds that are whole units; None if they are not, or too far apart."""
    unit = 10**scale
    first, last = lower * unit, upper * unit
    if first.denominator != 1 or last.denominator != 1 or last - first > MAX_STEPS:
        return None
    return int(last - first)


def _code(value: Rational, lower: Rational, upper: Rational, steps: int) -> int:
    clamped = min(max(value, lower), upper)
    code = int((clamped - lower) * steps / (upper - lower) + mpq(1, 2))  # not negative: int() is the floor
    return min(code, steps)
