"""The filter of a statistic: conditions on single columns, all of which a row must meet.

Only a row's own values decide whether it is inside, so replacing a row changes the membership of no other row. A
missing value (NULL, NaN) meets no condition: a row without a value in a filter's column is outside, whatever
`null_value` the column declares.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, decimal_text, json_number, parse_exact, to_nearest_double
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import format_units, parse_moment, require_units

MAX_VALUES = 10_000
"""The maximum number of values in one list."""

MAX_VALUE = mpq(10) ** 100
INT64_LEAST, INT64_MOST = -(2**63), 2**63 - 1
"""Integers and decimals are stored as 64-bit whole numbers."""

Stored: TypeAlias = str | bool | int | float
"""A value as a table stores it: integers and decimals as whole multiples of 10^-scale."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """The condition that a value is one of `values`, which are as stored, ascending and distinct."""

    column: str
    kind: Kind
    scale: int
    values: tuple[Stored, ...]

    def describe(self) -> dict[str, Any]:
        """Return the condition as in a request."""
        return {"in": [_to_json_value(value, self.kind, self.scale) for value in self.values]}

    def distinction(self) -> list[Any]:
        """Return the JSON value that distinguishes it from other conditions."""
        return [self.column, "in", *map(_canonical, self.values)]


@dataclass(frozen=True, slots=True)
class Between:
    """The condition that a number is from `least` to `most`, which are as stored and included."""

    column: str
    kind: Kind
    scale: int
    least: int | float
    most: int | float

    def describe(self) -> dict[str, Any]:
        """Return the condition as in a request; the ends for an integer column are rounded inwards to whole numbers."""
        return {"between": [_to_json_value(end, self.kind, self.scale) for end in (self.least, self.most)]}

    def distinction(self) -> list[Any]:
        """Return the JSON value that distinguishes it from other conditions."""
        return [self.column, "between", _canonical(self.least), _canonical(self.most)]


Condition: TypeAlias = OneOf | Between


def parse_conditions(
    where: Mapping[str, Mapping[str, Any]] | None, columns: Mapping[str, Column]
) -> tuple[Condition, ...]:
    """Return the conditions of a request, in the order of their columns' names; none if `where` is None.

    Args:
        where: for each column either `one_of`, a list of texts, booleans or numbers, or `between`, two numbers.
        columns: the dataset's declared columns by name.

    Raises:
        InvalidStatistic: at `where` or at a position in it, if a column is unknown, a value does not match the column's
            kind, there are too many values, or a range contains no value that the column can hold.
    """
    if where is None:
        return ()
    if not where:
        raise InvalidStatistic("where", "must have at least one condition: leave it out for all rows")
    return tuple(
        sorted((_condition(name, where[name], columns, f"where.{i}") for i, name in enumerate(where)), key=_by)
    )


def describe_conditions(conditions: Sequence[Condition]) -> dict[str, Any]:
    """Return the member `where` of a request, or no member if there are no conditions."""
    return {"where": {each.column: each.describe() for each in conditions}} if conditions else {}


def _by(condition: Condition) -> str:
    return condition.column


def _condition(name: str, asked: Mapping[str, Any], columns: Mapping[str, Column], where: str) -> Condition:
    column = columns.get(name)
    if column is None:
        raise InvalidStatistic(where, "is not a column of this dataset", tuple(columns), name)
    values, ends = asked.get("one_of"), asked.get("between")
    if (values is None) == (ends is None):
        raise InvalidStatistic(where, "needs either `in` or `between`, not both")
    if values is None:
        return _between(column, ends, f"{where}.between")
    if not 1 <= len(values) <= MAX_VALUES:
        raise InvalidStatistic(f"{where}.in", f"must have 1 to {MAX_VALUES:,} values")
    stored = {_value(column, value, f"{where}.in.{i}") for i, value in enumerate(values)}
    return OneOf(column.name, column.kind, _scale(column), tuple(sorted(stored)))


def _between(column: Column, ends: Any, where: str) -> Between:  # noqa: ANN401  whatever a request holds there
    if not column.kind.numeric:
        raise InvalidStatistic(where, "is for numeric columns only: use `in`")
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise InvalidStatistic(where, "must have exactly two members")
    least, most = (_number(column, end, f"{where}.{i}", end=i == 1) for i, end in enumerate(ends))
    if most < least:
        raise InvalidStatistic(where, "must have its smaller number first")
    if column.kind is Kind.REAL:
        return Between(column.name, column.kind, 0, to_nearest_double(least), to_nearest_double(most))
    unit = 10 ** _scale(column)
    first, last = max(math.ceil(least * unit), INT64_LEAST), min(math.floor(most * unit), INT64_MOST)
    if last < first:
        raise InvalidStatistic(where, f"contains no value that this {column.kind} column can hold")
    return Between(column.name, column.kind, _scale(column), first, last)


def _value(column: Column, value: object, where: str) -> Any:  # noqa: ANN401  of the column's kind, to be sorted
    if column.kind is Kind.CATEGORY:
        if not isinstance(value, str) or value not in column.category_set:
            raise InvalidStatistic(where, "is not one of the declared categories", column.categories, value)
        return value
    if column.kind is Kind.BOOLEAN:
        if not isinstance(value, bool):
            raise InvalidStatistic(where, "must be true or false")
        return value
    number = _number(column, value, where)
    if column.kind is Kind.REAL:
        return to_nearest_double(number)
    units = number * 10 ** _scale(column)
    if units.denominator != 1 or not INT64_LEAST <= units <= INT64_MOST:
        raise InvalidStatistic(where, f"must be a number that this {column.kind} column can hold")
    return int(units)


def _number(column: Column, value: object, where: str, *, end: bool = False) -> Rational:
    if column.kind.temporal:
        moment = parse_moment(value) if isinstance(value, str) else value
        return mpq(require_units(moment, column, where, end=end))
    number = parse_exact(value) if isinstance(value, str) else value
    if not isinstance(number, mpq):
        raise InvalidStatistic(where, "must be a number")
    if abs(number) > MAX_VALUE:
        raise InvalidStatistic(where, "must be from -1e100 to 1e100")
    return number


def _scale(column: Column) -> int:
    return column.scale if column.kind is Kind.DECIMAL else 0


def _to_json_value(value: Stored, kind: Kind, scale: int) -> str | bool | int | float:
    """Return a stored value as in a request: a number as a JSON number, or as text if no double is equal to it."""
    if not kind.numeric:
        return value
    if kind.temporal:
        return format_units(int(value), kind)
    number = mpq(value) / 10**scale
    double = json_number(number)
    return double if kind is Kind.REAL or mpq(repr(double)) == number else decimal_text(number)


def _canonical(value: Stored) -> str | bool:
    return value if isinstance(value, str | bool) else repr(value)
