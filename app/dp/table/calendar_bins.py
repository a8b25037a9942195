"""Bins of whole calendar periods: days, ISO weeks, months, quarters or years, which do not depend on the data."""

from datetime import date, timedelta

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.table.bins import MAX_EDGES, Edges, IntervalBins, Period
from app.dp.table.codes import check_bounds
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import EPOCH, LAST_DAY, first_unit, last_unit

PERIODS: tuple[Period, ...] = ("day", "iso_week", "month", "quarter", "year")

_SHORTEST = {"day": 1, "iso_week": 7, "month": 28, "quarter": 90, "year": 365}
"""The least number of days of a period."""

_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def bins_by_period(column: Column, period: Period, bounds: tuple[Rational, Rational] | None) -> IntervalBins:
    """Return a bin for each period from the one with the lower bound to the one with the upper bound, both whole.

    Raises:
        InvalidStatistic: at `bins`, if the column holds no dates, or the bounds make too few or too many bins; at
            `bounds`, as in `check_bounds`.
    """
    if not column.kind.temporal:
        raise InvalidStatistic("bins", "must be a whole number: only dates have calendar periods")
    per_day = 86_400 // column.kind.seconds
    ends = check_bounds(column, bounds)
    first, last = (EPOCH.date() + timedelta(days=int(_nearest_unit(end, column.kind) // per_day)) for end in ends)
    starts: list[int] = []
    if (last - first).days // _SHORTEST[period] < 2 * MAX_EDGES:  # so short are not all of them
        starts = _list_starts(first, last, period)
    if not 3 <= len(starts) <= MAX_EDGES:
        raise InvalidStatistic("bins", f"must be a period that makes 2 to {MAX_EDGES - 1:,} bins between the bounds")
    edges = tuple(mpq(day * per_day) for day in starts)
    even = Edges(edges[0], edges[-1], len(edges) - 1)
    written = even if even.are(edges, column.kind) else Edges(edges[0], edges[-1], even.intervals, edges)
    return IntervalBins(column.kind, 0, written, column.nullable, period)


def _nearest_unit(bound: Rational, kind: Kind) -> Rational:
    """Return a bound, or the first or last unit if it is an instant beyond all dates."""
    return min(max(bound, mpq(first_unit(kind))), mpq(last_unit(kind)))


def _list_starts(first: date, last: date, period: Period) -> list[int]:
    """Return the first days of the periods, as days since 1970-01-01, and the day after the last period."""
    if period in _MONTHS:
        step = _MONTHS[period]
        begin, end = ((day.year * 12 + day.month - 1) // step for day in (first, last))
        return [_month_start(step * period_number) for period_number in range(begin, end + 2)]
    step = _SHORTEST[period]
    begin, end = ((day - EPOCH.date()).days for day in (first, last))
    begin -= first.weekday() if period == "iso_week" else 0
    return list(range(begin, end + step + 1, step))[: (end - begin) // step + 2]


def _month_start(month: int) -> int:
    """Return the first day of a month, which is counted from the year 0, as days since 1970-01-01."""
    year, place = divmod(month, 12)
    if year > LAST_DAY.year:
        return (LAST_DAY - EPOCH.date()).days + 1
    return (date(year, place + 1, 1) - EPOCH.date()).days
