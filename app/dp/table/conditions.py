"""The conditions of a filter, each on the value of one column, in their canonical form.

Only a row's own values decide whether it meets a condition, so replacing a row changes the membership of no other row.
A missing value (NULL, NaN) meets no condition on values, whatever `null_value` the column declares, and not the
opposite of one either; only `Missing` selects it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gmpy2 import mpq

from app.dp.numbers.exact import decimal_text, json_number, shortest_text
from app.dp.table.columns import Kind
from app.dp.table.dates import format_units

INT64_LEAST, INT64_MOST = -(2**63), 2**63 - 1

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

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - a stored value, or None
        """Return whether a stored value meets the condition."""
        return value in self.values

    @property
    def all_known(self) -> bool:
        """Whether each value that is not missing meets the condition."""
        return self.kind is Kind.BOOLEAN and len(self.values) == 2

    def negate(self) -> "OneOf | NoneOf":
        """Return the condition that the other values meet, missing ones excluded."""
        if self.kind is Kind.BOOLEAN:
            return OneOf(self.column, self.kind, 0, tuple(value for value in (False, True) if value not in self.values))
        return NoneOf(self.column, self.kind, self.scale, self.values)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The condition that a category or number is known and none of `values`: ascending and distinct, maybe none."""

    column: str
    kind: Kind
    scale: int
    values: tuple[Stored, ...]

    def describe(self) -> dict[str, Any]:
        """Return the condition as in a request."""
        return {"not": self.negate().describe()} if self.values else {"is_missing": False}

    def distinction(self) -> list[Any]:
        """Return the JSON value that distinguishes it from other conditions."""
        return [self.column, "not in", *map(_canonical, self.values)]

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - a stored value, or None
        """Return whether a stored value meets the condition."""
        return not is_missing(value) and value not in self.values

    @property
    def all_known(self) -> bool:
        """Whether each value that is not missing meets the condition."""
        return not self.values

    def negate(self) -> OneOf:
        """Return the condition that the other values meet, missing ones excluded."""
        return OneOf(self.column, self.kind, self.scale, self.values)


@dataclass(frozen=True, slots=True)
class Between:
    """The condition that a number is from `least` to `most`, which are as stored and included.

    An end that every number is within stands for no end: the least or largest 64-bit integer, or infinity.
    """

    column: str
    kind: Kind
    scale: int
    least: int | float
    most: int | float

    def describe(self) -> dict[str, Any]:
        """Return the condition as in a request; the ends for an integer column are rounded inwards to whole numbers."""
        if self.all_known:
            return {"is_missing": False}
        ends: dict[str, Any] = {}
        if not self.open_below:
            ends |= self._describe_end(self.least, "at_least", "above", -math.inf)
        if not self.open_above:
            ends |= self._describe_end(self.most, "at_most", "below", math.inf)
        return {"between": [*ends.values()]} if [*ends] == ["at_least", "at_most"] else ends

    def _describe_end(self, end: float, included: str, excluded: str, outwards: float) -> dict[str, Any]:
        """Return an end as it is shorter to write: 17.999999999999996 is what is below 18."""
        if self.kind is Kind.REAL:
            beyond = math.nextafter(end, outwards)
            if len(repr(shortest_text(beyond))) < len(repr(shortest_text(end))):
                return {excluded: _to_json_value(beyond, self.kind, self.scale)}
        return {included: _to_json_value(end, self.kind, self.scale)}

    def distinction(self) -> list[Any]:
        """Return the JSON value that distinguishes it from other conditions."""
        return [self.column, "between", _canonical(self.least), _canonical(self.most)]

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - a stored value, or None
        """Return whether a stored value meets the condition."""
        return not is_missing(value) and self.least <= value <= self.most

    @property
    def open_below(self) -> bool:
        """Whether each number is at least `least`."""
        return self.least == (-math.inf if self.kind is Kind.REAL else INT64_LEAST)

    @property
    def open_above(self) -> bool:
        """Whether each number is at most `most`."""
        return self.most == (math.inf if self.kind is Kind.REAL else INT64_MOST)

    @property
    def all_known(self) -> bool:
        """Whether each value that is not missing meets the condition."""
        return self.open_below and self.open_above

    def negate(self) -> "Between | NotBetween | NoneOf":
        """Return the condition that the other values meet, missing ones excluded."""
        if self.open_above:
            bottom = -math.inf if self.kind is Kind.REAL else INT64_LEAST
            return Between(self.column, self.kind, self.scale, bottom, value_before(self.least, self.kind))
        if self.open_below:
            top = math.inf if self.kind is Kind.REAL else INT64_MOST
            return Between(self.column, self.kind, self.scale, value_after(self.most, self.kind), top)
        if self.least == self.most:
            return NoneOf(self.column, self.kind, self.scale, (self.least,))
        return NotBetween(self.column, self.kind, self.scale, self.least, self.most)


@dataclass(frozen=True, slots=True)
class NotBetween:
    """The condition that a number is known and below `least` or above `most`; both ends are as stored, and exist."""

    column: str
    kind: Kind
    scale: int
    least: int | float
    most: int | float

    def describe(self) -> dict[str, Any]:
        """Return the condition as in a request."""
        return {"not": self.negate().describe()}

    def distinction(self) -> list[Any]:
        """Return the JSON value that distinguishes it from other conditions."""
        return [self.column, "not between", _canonical(self.least), _canonical(self.most)]

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - a stored value, or None
        """Return whether a stored value meets the condition."""
        return not is_missing(value) and not self.least <= value <= self.most

    @property
    def all_known(self) -> bool:
        """Whether each value that is not missing meets the condition: never."""
        return False

    def negate(self) -> Between:
        """Return the condition that the other values meet, missing ones excluded."""
        return Between(self.column, self.kind, self.scale, self.least, self.most)


@dataclass(frozen=True, slots=True)
class Missing:
    """The condition that a value is missing: NULL or NaN."""

    column: str
    kind: Kind

    def describe(self) -> dict[str, Any]:
        """Return the condition as in a request."""
        return {"is_missing": True}

    def distinction(self) -> list[Any]:
        """Return the JSON value that distinguishes it from other conditions."""
        return [self.column, "is missing"]

    def holds(self, value: Any) -> bool:  # noqa: ANN401 - a stored value, or None
        """Return whether a stored value meets the condition."""
        return is_missing(value)

    @property
    def all_known(self) -> bool:
        """Whether each value that is not missing meets the condition: never."""
        return False


Condition: TypeAlias = OneOf | NoneOf | Between | NotBetween | Missing


def known(column: str, kind: Kind, scale: int) -> OneOf | NoneOf | Between:
    """Return the condition that a value is not missing."""
    if kind is Kind.CATEGORY:
        return NoneOf(column, kind, 0, ())
    if kind is Kind.BOOLEAN:
        return OneOf(column, kind, 0, (False, True))
    ends = (-math.inf, math.inf) if kind is Kind.REAL else (INT64_LEAST, INT64_MOST)
    return Between(column, kind, scale, *ends)


def is_missing(value: Any) -> bool:  # noqa: ANN401 - a stored value, or None
    """Return whether a stored value is missing: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def value_before(value: float, kind: Kind) -> int | float:
    """Return the largest stored number below one."""
    return math.nextafter(value, -math.inf) if kind is Kind.REAL else int(value) - 1


def value_after(value: float, kind: Kind) -> int | float:
    """Return the least stored number above one."""
    return math.nextafter(value, math.inf) if kind is Kind.REAL else int(value) + 1


def describe_conditions(conditions: Sequence[Condition]) -> dict[str, Any]:
    """Return the member `where` of a request, or no member if there are no conditions."""
    return {"where": {each.column: each.describe() for each in conditions}} if conditions else {}


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
