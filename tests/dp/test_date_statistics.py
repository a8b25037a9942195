"""Calendar bins, and statistics of every small table of dates: values, ranges and sensitivities by brute force."""

import itertools
from datetime import date, timedelta
from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.statistics import Statistic, build
from app.dp.statistics.count_base import SharedCounts
from app.dp.table.bins import IntervalBins
from app.dp.table.calendar_bins import PERIODS, bins_by_period
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import Beyond, count_units, format_units, label_period
from app.dp.table.sums import ColumnTotal, Moments, Total

EPOCH = date(1970, 1, 1)


def days(*texts: str) -> list[mpq]:
    return [mpq((date.fromisoformat(text) - EPOCH).days) for text in texts]


def column(lower: str, upper: str, kind: Kind = Kind.DATE) -> Column:
    first, last = (each * (86_400 // kind.seconds) for each in days(lower, upper))
    return Column("day", kind, (first, last), time_zone="UTC")


LABELS = {
    "day": lambda day: day.isoformat(),
    "iso_week": lambda day: f"{day.isocalendar().year:04d}-W{day.isocalendar().week:02d}",
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "year": lambda day: str(day.year),
}


@pytest.mark.parametrize("kind", [Kind.DATE, Kind.MINUTES])
@pytest.mark.parametrize("period", PERIODS)
def test_each_day_is_in_the_bin_of_its_period(period: Any, kind: Kind) -> None:
    first, last = date(1998, 12, 24), date(2002, 1, 5)  # with a leap day, and with a year of 53 ISO weeks
    bins = bins_by_period(column(str(first), str(last), kind), period, None)
    labels, edges = [each["label"] for each in bins.describe()[:-1]], bins.thresholds()
    place, per_day = 0, 86_400 // kind.seconds
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        units = (day - EPOCH).days * per_day
        while edges[place + 1] <= units:
            place += 1
        assert labels[place] == LABELS[period](day)
    assert place == len(labels) - 1
    assert bins.describe()[0]["lower"][:10] <= str(first)


def test_the_first_and_the_last_years_have_bins() -> None:
    assert bins_by_period(column("0001-01-01", "0001-01-15"), "iso_week", None).count == 4
    ends = bins_by_period(column("9998-06-01", "9999-12-31"), "year", None).describe()
    assert [each["label"] for each in ends] == ["9998", "9999", "missing"]
    assert bins_by_period(column("0001-01-01", "9999-12-31"), "year", None).count == 9_999 + 1
    assert label_period("0001-01-01", "quarter") == "0001-Q1"
    times = Column("at", Kind.HOURS, time_zone="UTC")
    for asked in ((Beyond.BEFORE, date(3, 1, 1)), (date(9997, 1, 1), Beyond.AFTER)):  # as instants can be
        lower, upper = (mpq(count_units(end, times)) for end in asked)
        assert bins_by_period(times, "year", (lower, upper)).count == 3 + 1


@pytest.mark.parametrize(
    ("lower", "upper", "period"),
    [("2021-01-01", "2021-12-31", "year"), ("0001-01-01", "9999-12-31", "day"), ("1000-01-01", "2021-01-01", "month")],
)
def test_too_few_and_too_many_periods(lower: str, upper: str, period: Any) -> None:
    with pytest.raises(InvalidStatistic, match=r"bins: must be a period that makes 2 to 9,999 bins"):
        bins_by_period(column(lower, upper), period, None)


def test_numbers_of_dates_go_back_to_dates() -> None:
    for kind in (Kind.DATE, Kind.DAYS, Kind.HOURS, Kind.MINUTES, Kind.SECONDS):
        for day in (date.min, date(1969, 12, 31), date(2020, 2, 29), date.max):
            told = format_units(count_units(day, Column("day", kind, time_zone="UTC")), kind)
            assert told[:10] == day.isoformat()


DOMAIN = [date(2020, 2, 27), date(2020, 2, 28), date(2020, 2, 29), date(2020, 3, 2), date(2020, 3, 5), None]
BOUNDS = (date(2020, 2, 28), date(2020, 3, 3))
TABLE = {"day": Column("day", Kind.DATE, None)}
STATISTICS: list[dict[str, Any]] = [
    {"kind": "mean", "column": "day", "bounds": BOUNDS},
    {"kind": "variance", "column": "day", "bounds": BOUNDS},
    {"kind": "histogram", "column": "day", "bins": "month", "bounds": BOUNDS},
    {"kind": "count", "group_by": {"column": "day", "bins": "iso_week", "bounds": BOUNDS}},
    {"kind": "sum", "column": "day", "bounds": BOUNDS, "centred": True},
    {
        "kind": "sum",
        "column": "day",
        "bounds": BOUNDS,
        "centred": True,
        "group_by": {"column": "day", "bins": "month", "bounds": BOUNDS},
    },
    {"kind": "count", "where": {"day": {"between": BOUNDS}}},
]


def place(value: int | None, bins: IntervalBins) -> int:
    """The bin of a date by the definition."""
    if value is None:
        return bins.count - 1
    return sum(value >= edge for edge in bins.edges.to_stored(bins.kind)[1:-1])


def answer(statistic: Statistic, rows: tuple[int | None, ...]) -> Any:
    """What an engine must answer, by the definition."""
    needs: Any = statistic.needs
    if hasattr(needs, "codes"):
        codes = [needs.codes.code(None if row is None else mpq(row)) for row in rows]
        if isinstance(needs, ColumnTotal):
            return Total(len(rows), sum(codes))
        return Moments(len(rows), sum(codes), sum(code * code for code in codes))
    if not hasattr(needs, "axes"):
        places = [place(row, needs.bins) for row in rows]
        return tuple(places.count(each) for each in range(needs.bins.count))
    counts, totals = [0] * (needs.count + 1), [0] * needs.count
    for row in rows:
        inside = all(row is not None and each.least <= row <= each.most for each in needs.conditions)
        cell = (place(row, needs.axes[0][1]) if needs.axes else 0) if inside else needs.count
        counts[cell] += 1
        if needs.summed and inside:
            totals[cell] += needs.summed[1].code(None if row is None else mpq(row))
    return (*counts, *totals) if needs.summed else tuple(counts)


@pytest.mark.parametrize("rows_per_unit", [1, 2, 3])
@pytest.mark.parametrize("spec", STATISTICS, ids=lambda spec: f"{spec['kind']} {sorted(spec)}")
def test_neighbours_are_as_near_as_promised(spec: dict[str, Any], rows_per_unit: int) -> None:
    statistic = build(spec, TABLE, 3, rows_per_unit)
    numbers = [None if day is None else (day - EPOCH).days for day in DOMAIN]
    values = {}
    for rows in itertools.product(numbers, repeat=3):
        values[rows] = statistic.values(answer(statistic, rows))
        assert all(statistic.lower <= value <= statistic.upper for value in values[rows])
    most = mpq(0)
    for rows, other in itertools.combinations(values, 2):
        if sum(a != b for a, b in zip(rows, other, strict=True)) <= rows_per_unit:
            distance = sum(abs(a - b) for a, b in zip(values[rows], values[other], strict=True))
            most = max(most, mpq(distance))
    promised = statistic.sensitivity * (statistic.mechanisms if isinstance(statistic, SharedCounts) else 1)
    assert most <= promised
    if spec["kind"] != "variance" and "group_by" not in spec and rows_per_unit == 1:
        assert most == promised


def test_a_mean_of_dates_is_a_number_of_days() -> None:
    statistic = build(STATISTICS[0], TABLE, 3, 1)
    rows = tuple((date(2020, *day) - EPOCH).days for day in ((2, 28), (2, 29), (3, 3)))
    assert statistic.values(answer(statistic, rows)) == (mpq(sum(rows), 3),)
    assert statistic.describe()["bounds"] == ["2020-02-28", "2020-03-03"]
    assert build(STATISTICS[1], TABLE, 3, 1).upper == mpq(4 * 4, 3)
