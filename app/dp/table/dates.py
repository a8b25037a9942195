"""Dates and times as whole numbers, in days or smaller units since 1970-01-01.

A time is what the clocks of the column's time zone show. So a time without an offset is taken as it is written, and an
instant has exactly one time. Where clocks are set back, an hour comes twice, and both count as the same; an hour that
is left out is not the time of any instant.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import Enum
from functools import cache
from typing import TypeAlias
from zoneinfo import ZoneInfo

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.table.columns import Column, Kind

FIRST_DAY, LAST_DAY = date.min, date.max
"""Every earlier date counts as the unit before the first day, and every later one as the unit after the last day."""

FIRST_INSTANT, LAST_INSTANT = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC) - timedelta(0, 1)
"""The instants whose times are between the first and the last day in every zone; those beyond count as beyond."""

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a time of any zone
_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[Tt ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,][0-9]{1,9})?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_SECONDS_IN_DAY = 86_400


class Beyond(Enum):
    """What is before or after every date: `-infinity` and `infinity`."""

    BEFORE = -1
    AFTER = 1


Moment: TypeAlias = date | datetime | Beyond
"""What a text stands for: a date, a time with or without an offset from UTC, or what is beyond all dates."""

_INFINITE = {"infinity": Beyond.AFTER, "+infinity": Beyond.AFTER, "-infinity": Beyond.BEFORE}


@cache
def zone_of(name: str) -> ZoneInfo:
    """Return the time zone of this name in the IANA database."""
    return ZoneInfo(name)


def parse_moment(text: str) -> Moment | None:
    """Return the date or time in ISO 8601 that a text is, or None; parts of a second are dropped."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return _INFINITE.get(text.lower())
    day, clock, offset = match["day"], match["time"], match["offset"]
    try:
        if clock is None:
            return date.fromisoformat(day)
        at = datetime.fromisoformat(f"{day} {clock}")
        return at if offset is None else at.replace(tzinfo=_parse_offset(offset))
    except ValueError:
        return None


def _parse_offset(offset: str) -> timezone:
    """Return an offset from UTC; raise ValueError if it is a day or more."""
    if offset in "Zz":
        return UTC
    digits = offset[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if minutes >= 60:
        raise ValueError
    return timezone((-1 if offset[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes))


def first_unit(kind: Kind) -> int:
    """Return the least number that stands for a date or a time; the one before it stands for all earlier ones."""
    return (FIRST_DAY - EPOCH.date()).days * (_SECONDS_IN_DAY // kind.seconds)


def last_unit(kind: Kind) -> int:
    """Return the largest number that stands for a date or a time; the one after it stands for all later ones."""
    return ((LAST_DAY - EPOCH.date()).days + 1) * (_SECONDS_IN_DAY // kind.seconds) - 1


def count_units(moment: Moment, column: Column) -> int:
    """Return the number that a column stores for a date or a time: the last unit that is not after it."""
    at = moment if isinstance(moment, datetime | Beyond) else datetime.combine(moment, time.min)
    if isinstance(at, datetime) and at.tzinfo is not None:
        if FIRST_INSTANT <= at <= LAST_INSTANT:
            at = at.astimezone(zone_of(column.time_zone)).replace(tzinfo=None)
        else:
            at = Beyond.AFTER if at > LAST_INSTANT else Beyond.BEFORE
    if isinstance(at, Beyond):
        return last_unit(column.kind) + 1 if at is Beyond.AFTER else first_unit(column.kind) - 1
    return (at - EPOCH) // timedelta(seconds=column.kind.seconds)


def require_units(value: object, column: Column, where: str, *, end: bool = False) -> int:
    """Return the number that a column of dates or times stores for a member of a request.

    Args:
        value: a moment.
        column: a column of dates or times.
        where: the member's path.
        end: whether it ends a range; then a date stands for its last unit, and otherwise for its first one.

    Raises:
        InvalidStatistic: at `where`, if it is not a moment that the column can hold.
    """
    if not isinstance(value, date | Beyond):
        example = "2021-03-31" if column.kind is Kind.DATE else "2021-03-31T14:00"
        raise InvalidStatistic(where, f'must be a date, such as "{example}": the column holds dates')
    whole_day = isinstance(value, date) and not isinstance(value, datetime)
    if column.kind is Kind.DATE and isinstance(value, datetime) and value.timetz() != time.min:
        raise InvalidStatistic(where, "must be a date without a time, such as 2021-03-31")
    units = count_units(value, column)
    return units + _SECONDS_IN_DAY // column.kind.seconds - 1 if end and whole_day else units


def format_units(units: int, kind: Kind) -> str:
    """Return a stored number as an ISO date or time; a number beyond all dates as `infinity` or `-infinity`."""
    if not first_unit(kind) <= units <= last_unit(kind):
        return "infinity" if units > 0 else "-infinity"
    at = EPOCH + timedelta(seconds=int(units) * kind.seconds)
    return at.date().isoformat() if kind.seconds == _SECONDS_IN_DAY else at.isoformat()


def format_down(units: Rational, kind: Kind) -> str:
    """Return the last date or time that is not after a number of units."""
    return format_units(min(max(int(units // 1), first_unit(kind)), last_unit(kind)), kind)


def format_nearest(units: Rational, kind: Kind) -> str:
    """Return the date or time that is nearest to a number of units."""
    return format_down(units + mpq(1, 2), kind)


def format_range(lower: Rational, upper: Rational, kind: Kind) -> list[str]:
    """Return the dates or times of a range of numbers, rounded outwards."""
    return [format_down(lower, kind), format_down(-(-upper // 1), kind)]


def label_period(first_day: str, period: str) -> str:
    """Return the name of the calendar period that begins on an ISO date, such as 2021-03, 2021-W05 or 2021-Q1."""
    day = first_day[:10]
    if period in {"day", "month", "year"}:
        return day[: {"day": 10, "month": 7, "year": 4}[period]]
    if period == "quarter":
        return f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04d}-W{week:02d}"
