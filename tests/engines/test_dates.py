"""Dates and times become the same numbers from every file and every engine, and none makes anything fail."""

from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from date_world import (
    DATES,
    INSTANTS,
    TIMES,
    UNITS,
    counts_by_value,
    day_column,
    expected_counts,
    instant,
    time_column,
    units_of,
)
from engine_world import as_parquet

from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import parse_moment
from app.dp.table.sums import ColumnSums
from app.engines.errors import InvalidFile
from app.engines.ingest.date_arrays import to_units
from app.engines.storage.connections import TableOrigin
from app.engines.storage.table_files import data_files
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_name

KINDS = [*UNITS]


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def stored(tables: Tables, content: bytes | BytesIO, *columns: Column) -> list[list[int | None]]:
    upload = BytesIO(content) if isinstance(content, bytes) else content
    file_id = tables.intake.ingest(upload, columns, [""]).file_id
    table = pq.read_table(
        data_files(tables._directory, file_id)[0], columns=[encode_name(each.name) for each in columns]
    )
    return [each.to_pylist() for each in table.columns]


def test_dates_in_csv(tables: Tables) -> None:
    told = ["day", *DATES, '""', "2020-02-29 13:14:15.9", "2020-02-29T13:14", '" 2020-02-29 "']
    leap = DATES["2020-02-29"]
    assert stored(tables, "\n".join(told).encode(), day_column()) == [[*DATES.values(), None, leap, leap, leap]]


@pytest.mark.parametrize("kind", KINDS)
def test_times_in_csv(tables: Tables, kind: Kind) -> None:
    clocks = [*INSTANTS.values(), *(at.replace(" ", "T") for at in TIMES), "2021-03-04"]
    told = ["at", *INSTANTS, *TIMES, "2021-03-04", "2021-03-04T05:06:07Z", "2021-03-04T05:06:07-1130"]
    clocks += ["2021-03-04T06:06:07", "2021-03-04T17:36:07"]
    assert stored(tables, "\n".join(told).encode(), time_column(kind)) == [[units_of(at, kind) for at in clocks]]


def test_what_is_no_date(tables: Tables) -> None:
    texts = ["2021-02-29", "20210228", "2021-2-28", "28.02.2021", "2021-W08-7", "2021-02-28T24:00", "2021-02-28T1:00"]
    texts += ["18628", "2021-02-28T10:60", "2021-02-28T10:00+24:00", "2021-02-28T10:00+01:60", "10000-01-01"]
    assert all(parse_moment(text) is None for text in texts)
    with pytest.raises(
        InvalidFile, match="line 2, column day: is not an ISO date or time such as 2021-03-31"
    ) as caught:
        stored(tables, b"day\n28.02.2021\n2021-02-28", day_column())
    assert "28.02" not in str(caught.value)


def test_an_offset_needs_a_time_zone(tables: Tables) -> None:
    with pytest.raises(InvalidFile, match="declare the column as a timestamp with a time zone"):
        stored(tables, b"day\n2021-02-28T10:00Z\n2021-02-28", day_column())


def test_dates_in_parquet(tables: Tables) -> None:
    days = [*DATES.values(), None]
    arrays = [pa.array(days, pa.int32()).cast(pa.date32())]
    arrays.append(pa.array([None if day is None else day * 86_400_000 for day in days], pa.date64()))
    arrays.append(pa.array([None if day is None else day * 86_400 + 86_399 for day in days], pa.timestamp("s")))
    arrays.append(pa.array([None if day is None else day * 86_400_000_000 for day in days], pa.timestamp("us")))
    for array in arrays:
        assert stored(tables, as_parquet(pa.table({"day": array})), day_column()) == [days]
    far = pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32())
    ends = [[DATES["infinity"], DATES["-infinity"]]]
    assert stored(tables, as_parquet(pa.table({"day": far})), day_column()) == ends


@pytest.mark.parametrize(("unit", "rate"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_in_parquet(unit: str, rate: int) -> None:
    def array(times: list[datetime], zone: str | None) -> pa.Array:
        since = [time.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC) for time in times]
        numbers = [(each // timedelta(microseconds=1)) * rate // 10**6 for each in since]
        return pa.array([*numbers, None]).cast(pa.timestamp(unit, zone))

    zoned = array([instant(text) for text in INSTANTS], "America/New_York")
    plain = array([datetime.fromisoformat(at) for at in TIMES], None)
    for kind in KINDS:
        shown = [units_of(at, kind) for at in INSTANTS.values()]
        assert to_units(zoned, time_column(kind)).to_pylist() == [*shown, None]
        assert to_units(plain, time_column(kind)).to_pylist() == [*(units_of(at, kind) for at in TIMES), None]


def test_extreme_times_in_parquet_are_beyond_all_dates(tables: Tables) -> None:
    column = time_column(Kind.HOURS)
    ends = [DATES["-infinity"] * 24 + 23, DATES["infinity"] * 24]
    for zone in (None, "UTC"):
        extremes = pa.array([-(2**63), 2**63 - 1], pa.int64()).cast(pa.timestamp("us", zone))
        assert stored(tables, as_parquet(pa.table({"at": extremes})), column) == [ends]


def test_other_types_in_parquet(tables: Tables) -> None:
    zoned, texts = pa.array([0, 1], pa.timestamp("s", "UTC")), pa.array(["2021-01-01"] * 2)
    for array, column, what in (
        (zoned, day_column(), "has a time zone: declare it as a timestamp"),
        (texts, day_column(), "must be of a date or timestamp type"),
        (pa.array([1, 2]), time_column(Kind.HOURS), "must be of a date or timestamp type"),
    ):
        with pytest.raises(InvalidFile, match=what):
            stored(tables, as_parquet(pa.table({column.name: array})), column)


def test_sums_of_dates(tables: Tables) -> None:
    column = day_column("2020-01-01", "2020-12-31")
    days = ["2019-12-31", "2020-01-01", "2020-02-29", "2020-12-31", "infinity", ""]
    codes = [0, 0, 59, 365, 365, 183]
    file_id = tables.intake.ingest(BytesIO("\n".join(["day", *days[:5], '""']).encode()), [column], [""]).file_id
    needs = ColumnSums("day", codes_for(column, None))
    assert tables.sums(file_id, needs) == (6, sum(codes), sum(code * code for code in codes))


@pytest.fixture(scope="module")
def warehouse(postgres_server: str) -> str:
    """A Postgres server with a table of all the dates and times."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS dated")
        connection.execute(
            "CREATE TABLE dated (day date, plain timestamp, at timestamptz, again timestamptz DEFAULT now())"
        )
        rows: list[tuple[Any, ...]] = [(day, None, None) for day in DATES]
        rows += [(None, at, None) for at in (*TIMES, "infinity", "-infinity", "294276-12-31", "4713-01-01 BC")]
        rows += [(None, None, at) for at in (*INSTANTS, "infinity", "-infinity", "294276-12-31Z", "4713-01-01Z BC")]
        rows += [(day, None, None) for day in ("4713-01-01 BC", "5874897-12-31")]
        for row in rows:
            connection.execute("INSERT INTO dated VALUES (%s, %s, %s)", row)
    return postgres_server


@pytest.mark.parametrize(("kind", "live"), [(Kind.HOURS, False), (Kind.DAYS, True), (Kind.SECONDS, True)])
def test_dates_in_postgres(tmp_path: Any, warehouse: str, kind: Kind, live: bool) -> None:  # noqa: FBT001
    near = Tables(tmp_path / "near", connections={"warehouse": warehouse})
    at, plain, day = time_column(kind), Column("plain", kind, time_zone="UTC"), day_column()
    file_id = near.intake.ingest_from(TableOrigin("warehouse", "dated", live=live), [day, plain, at]).file_id
    days = [*DATES.values(), DATES["-infinity"], DATES["infinity"]]
    per_day = 86_400 // UNITS[kind]
    ends = [DATES["-infinity"] * per_day + per_day - 1, DATES["infinity"] * per_day] * 2
    for name, each, numbers in (
        ("day", Kind.DATE, days),
        ("plain", kind, [units_of(at, kind) for at in TIMES] + ends),
        ("at", kind, [units_of(at, kind) for at in INSTANTS.values()] + ends),
    ):
        assert counts_by_value(near, file_id, name, each, set(numbers)) == expected_counts(numbers)
    near.close()


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (Column("at", Kind.DATE), "has a time zone: declare it as a timestamp"),
        (Column("at", Kind.INTEGER), "must be of a numeric type"),
        (Column("at", Kind.HOURS, time_zone="Mars/Olympus"), "has a time zone that the database does not know"),
    ],
)
def test_other_types_in_postgres(tmp_path: Any, warehouse: str, column: Column, what: str) -> None:
    near = Tables(tmp_path / "near", connections={"warehouse": warehouse})
    with pytest.raises(InvalidFile, match=what):
        near.intake.ingest_from(TableOrigin("warehouse", "dated", live=True), [column])
    near.close()
