"""Dates and times as engines are given them, and the numbers that a column must store for them."""

from datetime import UTC, date, datetime, timedelta

from gmpy2 import mpq

from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import OneOf
from app.dp.table.sums import CellSums
from app.engines.storage.tables import Tables

EPOCH = date(1970, 1, 1)
DAY_0, DAY_9 = (date.min - EPOCH).days, (date.max - EPOCH).days
DATES = {
    **{
        day: (date.fromisoformat(day) - EPOCH).days
        for day in (
            *("1969-12-31", "1970-01-01", "1582-10-10", "1900-02-28", "1900-03-01", "2000-02-29", "2020-02-29"),
            *("2020-12-31", "2021-01-01", "2021-01-03", "2021-01-04", "2023-12-31", "2024-01-01"),
            *("0001-01-01", "9999-12-31"),
        )
    },
    "-infinity": DAY_0 - 1,
    "infinity": DAY_9 + 1,
}
"""Each date with the days from 1970-01-01 to it; beyond all dates is the next number."""

PARIS = "Europe/Paris"
INSTANTS = {
    "2021-03-28 00:59:59+00": "2021-03-28T01:59:59",  # the last second before the clocks leave out an hour
    "2021-03-28 01:00:00+00": "2021-03-28T03:00:00",
    "2021-10-31 00:30:00+00": "2021-10-31T02:30:00",  # the hour that comes twice
    "2021-10-31 01:30:00+00": "2021-10-31T02:30:00",
    "1969-12-31 22:59:59.5+00": "1969-12-31T23:59:59",
    "2020-12-31 23:30:00+00": "2021-01-01T00:30:00",  # another year in Paris
    "1890-01-01 00:00:00+00": "1890-01-01T00:09:21",  # by the sun
    "2080-07-01 12:00:00+00": "2080-07-01T14:00:00",  # beyond the table of changes
}
"""Each instant with what the clocks of Paris show."""

TIMES = ("2021-03-28 02:30:00", "2021-10-31 02:30:00", "1969-12-31 23:59:59.999999", "2020-02-29 12:34:56")

UNITS = {Kind.DAYS: 86_400, Kind.HOURS: 3_600, Kind.MINUTES: 60, Kind.SECONDS: 1}


def day_column(lower: str = "1900-01-01", upper: str = "2023-12-31", *, nullable: bool = True) -> Column:
    """A column of dates within bounds."""
    bounds = tuple(mpq((date.fromisoformat(end) - EPOCH).days) for end in (lower, upper))
    return Column("day", Kind.DATE, (bounds[0], bounds[1]), nullable=nullable)


def time_column(kind: Kind, zone: str = PARIS) -> Column:
    """A column of times from 2020 to 2024."""
    per_day = 86_400 // UNITS[kind]
    return Column("at", kind, (mpq(18_262 * per_day), mpq(20_089 * per_day)), time_zone=zone)


def units_of(clock: str, kind: Kind) -> int:
    """The number of whole units from 1970-01-01 to a time of the clock, by Python's exact times."""
    since = datetime.fromisoformat(clock) - datetime(1970, 1, 1)  # noqa: DTZ001
    return since // timedelta(seconds=UNITS[kind])


def instant(text: str) -> datetime:
    """An instant as Python's."""
    return datetime.fromisoformat(text.replace(".5", ".500000").replace("+00", "+00:00")).astimezone(UTC)


def counts_by_value(tables: Tables, file_id: str, name: str, kind: Kind, values: set[int]) -> dict[int, int]:
    """How many rows have each value."""
    return {value: tables.sums(file_id, CellSums((), (OneOf(name, kind, 0, (value,)),)))[0] for value in sorted(values)}


def expected_counts(of: list[int]) -> dict[int, int]:
    """How often each number is there."""
    return {value: of.count(value) for value in sorted(set(of))}
