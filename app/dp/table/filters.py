"""Parses the filter of a statistic, `where`: conditions on single columns, all of which a row must meet.

Conditions that select the same values of a column have one form where that is easy to see: `below` 18 and `not`
`at_least` 18, or for integers `at_most` 17. So each spelling of them is the same statistic.
"""

import math
from collections.abc import Mapping
from typing import Any

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, parse_exact, to_nearest_double
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import (
    INT64_LEAST,
    INT64_MOST,
    Between,
    Condition,
    Missing,
    OneOf,
    known,
    value_after,
    value_before,
)
from app.dp.table.dates import parse_moment, require_units

MAX_VALUES = 10_000
"""The maximum number of values in one list."""

MAX_VALUE = mpq(10) ** 100

_LOWER, _UPPER = ("at_least", "above"), ("at_most", "below")
_FORMS = ("one_of", "between", "is_missing", "negated")


def parse_conditions(
    where: Mapping[str, Mapping[str, Any]] | None, columns: Mapping[str, Column]
) -> tuple[Condition, ...]:
    """Return the conditions of a request, in the order of their columns' names; none if `where` is None.

    Args:
        where: for each column one of `one_of`, a list of texts, booleans or numbers; `between`, two numbers; one or two
            of `at_least`, `above`, `at_most` and `below`, each a number; `is_missing`, a boolean; or `negated`, another
            condition.
        columns: the dataset's declared columns by name.

    Raises:
        InvalidStatistic: at `where` or at a position in it, if a column is unknown, a value does not match the column's
            kind, there are too many values, or a condition contains no value that the column can hold.
    """
    if where is None:
        return ()
    if not where:
        raise InvalidStatistic("where", "must have at least one condition: leave it out for all rows")
    found = []
    for position, (name, asked) in enumerate(where.items()):
        column = columns.get(name)
        if column is None:
            raise InvalidStatistic(f"where.{position}", "is not a column of this dataset", tuple(columns), name)
        try:
            found.append(_condition(column, asked, f"where.{position}"))
        except InvalidStatistic as error:
            error.column = name  # the path has only the position of the condition
            raise
    return tuple(sorted(found, key=_by))


def _by(condition: Condition) -> str:
    return condition.column


def _condition(column: Column, asked: Mapping[str, Any], where: str) -> Condition:
    given = [member for member in _FORMS if asked.get(member) is not None]
    ends = {member: asked[member] for member in (*_LOWER, *_UPPER) if asked.get(member) is not None}
    if len(given) + bool(ends) != 1:
        raise InvalidStatistic(
            where, "needs one of `in`, `between`, `is_missing` and `not`, or a lower and an upper end, or one of them"
        )
    if ends:
        return _one_sided(column, ends, where)
    match given[0]:
        case "one_of":
            return _one_of(column, asked["one_of"], where)
        case "between":
            return _between(column, asked["between"], f"{where}.between")
        case "is_missing":
            return _missing(column, f"{where}.is_missing", missing=asked["is_missing"])
        case _:
            return _negated(column, asked["negated"], f"{where}.not")


def _one_of(column: Column, values: Any, where: str) -> OneOf:  # noqa: ANN401  whatever a request holds there
    if not 1 <= len(values) <= MAX_VALUES:
        raise InvalidStatistic(f"{where}.in", f"must have 1 to {MAX_VALUES:,} values")
    stored = {_value(column, value, f"{where}.in.{i}") for i, value in enumerate(values)}
    return OneOf(column.name, column.kind, _scale(column), tuple(sorted(stored)))


def _missing(column: Column, where: str, *, missing: bool) -> Condition:
    if missing and not column.nullable:
        raise InvalidStatistic(where, "leaves no rows: this column is declared without missing values")
    return Missing(column.name, column.kind) if missing else known(column.name, column.kind, _scale(column))


def _negated(column: Column, asked: Mapping[str, Any], where: str) -> Condition:
    """Return the condition of the known values that do not meet one: as in SQL, a missing value meets neither."""
    if asked.get("is_missing") is not None:
        return _condition(column, {**asked, "is_missing": not asked["is_missing"]}, where)
    condition = _condition(column, asked, where)
    if isinstance(condition, Missing) or condition.all_known:
        raise InvalidStatistic(where, "leaves no rows: each value of this column meets the condition")
    return condition.negate()


def _between(column: Column, ends: Any, where: str) -> Between:  # noqa: ANN401  whatever a request holds there
    if not column.kind.numeric:
        raise InvalidStatistic(where, "is for numeric columns only: use `in`")
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise InvalidStatistic(where, "must have exactly two members")
    least, most = (_number(column, end, f"{where}.{i}", last=i == 1) for i, end in enumerate(ends))
    if most < least:
        raise InvalidStatistic(where, "must have its smaller number first")
    return _range(column, _lower_end(column, least), _upper_end(column, most), where)


def _one_sided(column: Column, ends: Mapping[str, Any], where: str) -> Between:
    least, most = (-math.inf, math.inf) if column.kind is Kind.REAL else (INT64_LEAST, INT64_MOST)
    for member, end in ends.items():
        path = f"{where}.{member}"
        if not column.kind.numeric:
            raise InvalidStatistic(path, "is for numeric columns only: use `in`")
        for pair in (_LOWER, _UPPER):
            if member == pair[1] and pair[0] in ends:
                raise InvalidStatistic(path, f"does not go with `{pair[0]}`: leave one of them out")
        number = _number(column, end, path, last=member in {"at_most", "above"})
        excluded = member in {"above", "below"}
        if member in _LOWER:
            least = _lower_end(column, number, excluded=excluded)
        else:
            most = _upper_end(column, number, excluded=excluded)
    return _range(column, least, most, where)


def _lower_end(column: Column, number: Rational, *, excluded: bool = False) -> int | float:
    """Return the least stored number that is at least this one, or above it."""
    if column.kind is Kind.REAL:
        double = to_nearest_double(number)
        return value_after(double, column.kind) if excluded else double
    units = number * 10 ** _scale(column)
    return int(max(math.floor(units) + 1 if excluded else math.ceil(units), INT64_LEAST))


def _upper_end(column: Column, number: Rational, *, excluded: bool = False) -> int | float:
    """Return the largest stored number that is at most this one, or below it."""
    if column.kind is Kind.REAL:
        double = to_nearest_double(number)
        return value_before(double, column.kind) if excluded else double
    units = number * 10 ** _scale(column)
    return int(min(math.ceil(units) - 1 if excluded else math.floor(units), INT64_MOST))


def _range(column: Column, least: float, most: float, where: str) -> Between:
    if most < least:
        raise InvalidStatistic(where, f"contains no value that this {column.kind} column can hold")
    return Between(column.name, column.kind, _scale(column), least, most)


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


def _number(column: Column, value: object, where: str, *, last: bool = False) -> Rational:
    """Return a number of a request; a date as the number of its first unit, or of its last one."""
    if column.kind.temporal:
        moment = parse_moment(value) if isinstance(value, str) else value
        return mpq(require_units(moment, column, where, end=last))
    number = parse_exact(value) if isinstance(value, str) else value
    if not isinstance(number, mpq):
        raise InvalidStatistic(where, "must be a number")
    if abs(number) > MAX_VALUE:
        raise InvalidStatistic(where, "must be from -1e100 to 1e100")
    return number


def _scale(column: Column) -> int:
    return column.scale if column.kind is Kind.DECIMAL else 0
