"""Dates and timestamps of external tables as whole numbers of a unit since 1970-01-01, as they would be stored.

No value may raise an error: a date beyond the years 1 to 9999, such as Postgres's `infinity`, is compared with them
before anything is computed from it, and becomes the number before the first one or after the last one.
"""

from collections.abc import Callable
from datetime import datetime, time, timedelta

from sqlglot import exp

from app.dp.table.columns import Column, Kind
from app.dp.table.dates import FIRST_DAY, FIRST_INSTANT, LAST_DAY, LAST_INSTANT, first_unit, last_unit
from app.engines.sql.expressions import Node, case, whole

TYPES = {"date", "timestamp", "timestamptz"}
"""The names of the types that this module understands, as in Postgres."""


def unsuitable(type_: str, column: Column) -> str | None:
    """Return why a column of dates or times cannot be read from a type; None if it can."""
    if type_ not in TYPES:
        return "must be of a date or timestamp type"
    if type_ == "timestamptz" and column.kind is Kind.DATE:
        return "has a time zone: declare it as a timestamp with the time zone whose dates count"
    return None


def days_as_units(days: Callable[[], Node], value: Node, kind: Kind) -> Node:
    """Return a date's number, from an expression for its days since 1970-01-01 that need not hold for other dates."""
    first, last = (_literal(each.isoformat(), "DATE") for each in (FIRST_DAY, LAST_DAY))
    per_day = 86_400 // kind.seconds
    found = exp.cast(days(), "BIGINT")
    units = found if per_day == 1 else exp.Mul(this=found, expression=whole(per_day))
    return _within(value, first, last, units, kind)


def seconds_as_units(seconds: Callable[[Node], Node], value: Node, kind: Kind) -> Node:
    """Return the number of a time without a zone; `seconds` rounds a time down to whole seconds since 1970-01-01."""
    first = datetime.combine(FIRST_DAY, time.min)
    last = datetime.combine(LAST_DAY, time.max)
    return _time_as_units(seconds, value, (first, last, "TIMESTAMPNTZ"), kind)


def instants_as_units(seconds: Callable[[Node], Node], value: Node, kind: Kind) -> Node:
    """Return the number of an instant; `seconds` returns what the clocks of the zone show, as in `seconds_as_units`."""
    last = LAST_INSTANT + timedelta(microseconds=999_999)
    return _time_as_units(seconds, value, (FIRST_INSTANT, last, "TIMESTAMPTZ"), kind)


def _time_as_units(
    seconds: Callable[[Node], Node], value: Node, ends: tuple[datetime, datetime, str], kind: Kind
) -> Node:
    first, last, type_ = ends
    units = _floor(seconds(value.copy()), kind)
    return _within(value, _literal(first.isoformat(" "), type_), _literal(last.isoformat(" "), type_), units, kind)


def _within(value: Node, first: Node, last: Node, units: Node, kind: Kind) -> Node:
    before = exp.LT(this=value.copy(), expression=first)
    after = exp.GT(this=value.copy(), expression=last)
    return case([(before, whole(first_unit(kind) - 1)), (after, whole(last_unit(kind) + 1))], units)


def _floor(seconds: Node, kind: Kind) -> Node:
    """Return whole seconds in the kind's unit, rounded down: the quotient of so small numbers is never rounded up."""
    if kind.seconds > 1:
        seconds = exp.Floor(this=exp.Div(this=seconds, expression=whole(kind.seconds)))
    return exp.cast(seconds, "BIGINT")


def _literal(text: str, type_: str) -> Node:
    return exp.cast(exp.Literal.string(text), type_)


INSTANT = _literal("1970-01-01 00:00:00+00:00", "TIMESTAMPTZ")
