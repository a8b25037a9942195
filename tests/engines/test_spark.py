"""Spark where the data lives: the same integers as everywhere, and no value makes any query fail.

Needs Java and `pyspark[connect]`, which `make test-spark` installs into an environment of its own.
"""

import importlib.util
import logging
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
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
from engine_world import as_csv, decimal_text
from gmpy2 import mpq
from sources_world import COLUMNS, all_needs, expected, rows

from app.dp.table.bins import CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import BinCounts, ColumnSums, Moments
from app.engines.backends import answers, spark_engine
from app.engines.errors import EngineFailure, InvalidFile, StaleTable
from app.engines.ingest import Units
from app.engines.ingest_process.reader import never
from app.engines.sql.scan_sharing import scans_of
from app.engines.storage.connections import TableOrigin
from app.engines.storage.table_intake import Ingested
from app.engines.storage.tables import Tables

SPARK = importlib.util.find_spec("pyspark")
HAS_SERVER = SPARK is not None and (Path(str(SPARK.origin)).parent / "bin" / "spark-submit").exists()

pytestmark = [
    pytest.mark.skipif(not HAS_SERVER, reason="needs pyspark[connect]: make test-spark"),
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java: make test-spark"),
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),  # of pandas and of Spark's client, which are not ours
]

X = Column("x", Kind.INTEGER, (mpq(0), mpq(100)))
SUM_OF_X = ColumnSums("x", codes_for(X, None))


@pytest.fixture(scope="module")
def spark_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Spark Connect server of this test run."""
    assert SPARK is not None
    folder = tmp_path_factory.mktemp("spark")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    home = Path(str(SPARK.origin)).parent
    command = [home / "bin" / "spark-submit", "--master", "local[2]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=log, stderr=log)  # noqa: S603
    try:
        _wait_for(port, server, folder / "log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=60)


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def lake(spark_url: str) -> Iterator[Any]:
    """A session that makes tables."""
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

    session = SparkSession.builder.remote(spark_url).create()
    session.conf.set("spark.sql.caseSensitive", "true")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def near(spark_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    opened = Tables(tmp_path_factory.mktemp("data"), connections={"lake": spark_url}, statement_seconds=120)
    yield opened
    opened.close()


def make(lake: Any, table: pa.Table | str, name: str = "t") -> str:
    """A table of Arrow columns, or of a query."""
    lake.sql(f"DROP TABLE IF EXISTS `{name}`").collect()
    frame = lake.sql(table) if isinstance(table, str) else lake.createDataFrame(table)
    frame.write.saveAsTable(f"`{name}`")
    return name


def taken(tables: Tables, name: str, columns: Sequence[Column], units: Units | None = None) -> Ingested:
    ingested = tables.intake.ingest_from(TableOrigin("lake", name, live=True), columns, units)
    tables.mark_registered(ingested.file_id)
    return ingested


def problems(tables: Tables, name: str, columns: Sequence[Column], units: Units | None = None) -> str:
    with pytest.raises(InvalidFile) as caught:
        tables.intake.ingest_from(TableOrigin("lake", name, live=True), columns, units)
    return str(caught.value)


@pytest.fixture(scope="module")
def worst(near: Tables, lake: Any) -> str:
    of = rows()
    kinds = {"real": pa.float64(), "boolean": pa.bool_(), "category": pa.string(), "decimal": pa.string()}
    texts = {**of, "decimal": [None if v is None else decimal_text(v) for v in of["decimal"]]}
    arrays = {name: pa.array(values, kinds.get(name, pa.int64())) for name, values in texts.items()}
    arrays["decimal"] = arrays["decimal"].cast(pa.decimal128(18, 4))
    return taken(near, make(lake, pa.table(arrays), "worst"), COLUMNS).file_id


def test_the_worst_rows_give_the_same_integers_everywhere(near: Tables, worst: str) -> None:
    file = near.intake.ingest(BytesIO(as_csv(rows())), COLUMNS, ["NA"]).file_id
    for needs in all_needs():
        answer = near.sums(worst, needs)
        assert answer == expected(needs) == near.sums(file, needs), needs
        assert all(type(number) is int for number in answer)


def test_the_worst_rows_give_the_same_integers_together(near: Tables, worst: str, monkeypatch: Any) -> None:
    needs, statements = list(all_needs()), []
    plain = spark_engine._fetch
    monkeypatch.setattr(spark_engine, "_fetch", lambda *asked: statements.append(asked) or plain(*asked))
    answers = near.all_sums(worst, needs)
    assert len(statements) == len(scans_of(needs)) < len(needs) * 2 / 5
    for each in needs:
        assert answers[each] == expected(each), each
        assert all(type(number) is int for number in answers[each])


def test_hard_data_gives_right_answers(near: Tables, lake: Any) -> None:
    real = Column("r", Kind.REAL, (mpq(2) ** 50, mpq(2) ** 50 + 1))
    whole = Column("i", Kind.INTEGER, (mpq(2) ** 53, mpq(2) ** 53 + 4))
    wide = Column("w", Kind.INTEGER, (mpq(2) ** 62, mpq(2) ** 62 + mpq(2) ** 33))
    table = pa.table({"r": [2**50 + 0.25] * 3, "i": [2**53 + 1] * 3, "w": [2**62 + 4] * 3})
    file_id = taken(near, make(lake, table), [real, whole, wide]).file_id
    answer = near.sums(file_id, ColumnSums("r", codes_for(real, None)))
    assert isinstance(answer, Moments)
    assert answer.n * answer.squares == answer.total**2
    assert near.sums(file_id, ColumnSums("i", codes_for(whole, None))) == Moments(3, 3, 3)
    assert near.sums(file_id, ColumnSums("w", codes_for(wide, None))) == Moments(3, 3, 3)


def test_a_large_histogram(near: Tables, lake: Any) -> None:
    real = Column("r", Kind.REAL, (mpq(0), mpq(1)))
    table = pa.table({"r": [i / 1000 for i in range(1001)]})
    file_id = taken(near, make(lake, table), [real]).file_id
    counts = near.sums(file_id, BinCounts("r", bins_by_number(real, 200_000, None)))
    assert (sum(counts), sum(count > 0 for count in counts)) == (1001, 1001)


@pytest.mark.parametrize(
    ("type_", "column", "what"),
    [
        ("DECIMAL(19, 0)", X, "18 digits"),
        ("DECIMAL(5, 2)", X, "not whole"),
        ("DOUBLE", X, "decimal(p, s)"),
        ("BIGINT", Column("x", Kind.DECIMAL, X.bounds, scale=2), "18 digits"),
        ("DECIMAL(6, 3)", Column("x", Kind.DECIMAL, X.bounds, scale=2), "more than 2 decimals"),
        ("DATE", X, "must be of a numeric type"),
        ("STRING", X, "must be of a numeric type"),
        ("TIMESTAMP", Column("x", Kind.DATE), "has a time zone"),
        ("STRING", Column("x", Kind.DATE), "must be of a date or timestamp type"),
        ("INT", Column("x", Kind.BOOLEAN), "must be of a boolean type"),
        ("STRING COLLATE UTF8_LCASE", Column("x", Kind.CATEGORY, categories=("a",)), "must be of a text type"),
        ("INT", Column("X", Kind.INTEGER, X.bounds), "does not exist"),
    ],
)
def test_types_that_cannot_stay_live(near: Tables, lake: Any, type_: str, column: Column, what: str) -> None:
    assert what in problems(near, make(lake, f"SELECT CAST(NULL AS {type_}) AS x"), [column])


def test_decimals_and_small_types(near: Tables, lake: Any) -> None:
    cents = [Column(name, Kind.DECIMAL, (mpq(-10), mpq(10)), scale=2) for name in ("d", "i")]
    reals = [Column(name, Kind.REAL, (mpq(0), mpq(2))) for name in ("f", "n")]
    query = (
        "SELECT CAST(1.5 AS DECIMAL(6, 1)) AS d, CAST(2 AS INT) AS i, CAST(1.5 AS FLOAT) AS f,"
        " CAST(0.5 AS DECIMAL(38, 30)) AS n UNION ALL SELECT CAST(-2.5 AS DECIMAL(6, 1)), -3, NULL, NULL"
    )
    file_id = taken(near, make(lake, query), [*cents, *reals]).file_id
    totals = [near.sums(file_id, ColumnSums(c.name, codes_for(c, None)))[1] for c in (*cents, *reals)]
    assert totals == [1150 + 750, 1200 + 700, 3 * 2**29 + 2**30, 2**29 + 2**30]


@pytest.mark.parametrize("kind", UNITS)
def test_dates_are_the_same_numbers_as_everywhere(near: Tables, lake: Any, kind: Kind) -> None:
    far = [2**31 - 1, -(2**31)]
    days = pa.array([*(day for day in DATES.values()), *far], pa.int32()).cast(pa.date32())
    blank = [None] * len(days)
    instants = pa.array([*map(instant, INSTANTS), *blank[len(INSTANTS) :]], pa.timestamp("us", "UTC"))
    times = pa.array([*map(datetime.fromisoformat, TIMES), *blank[len(TIMES) :]], pa.timestamp("us"))
    name = make(lake, pa.table({"day": days, "at": instants, "plain": times}))
    lake.sql(f"INSERT INTO {name} SELECT NULL, timestamp_micros({2**63 - 1}), NULL").collect()
    lake.sql(f"INSERT INTO {name} SELECT NULL, timestamp_micros({-(2**63)}), NULL").collect()
    columns = [day_column(), time_column(kind), Column("plain", kind, time_zone="UTC")]
    file_id = taken(near, name, columns).file_id
    per_day = 86_400 // UNITS[kind]
    ends = [DATES["-infinity"] * per_day + per_day - 1, DATES["infinity"] * per_day]
    for each, of, numbers in (
        ("day", Kind.DATE, [*DATES.values(), DATES["infinity"], DATES["-infinity"]]),
        ("at", kind, [units_of(at, kind) for at in INSTANTS.values()] + ends),
        ("plain", kind, [units_of(at, kind) for at in TIMES]),
    ):
        assert counts_by_value(near, file_id, each, of, set(numbers)) == expected_counts(numbers)


def test_names_are_exact_and_quoted(near: Tables, lake: Any) -> None:
    names = ["; DROP TABLE x --", "a", "A", "ü", "x.y", "%s"]
    columns = [Column(name, Kind.INTEGER, X.bounds) for name in names]
    table = pa.table([pa.array([i, i]) for i in range(len(names))], names=names)
    file_id = taken(near, make(lake, table), columns).file_id
    for i, column in enumerate(columns):
        assert near.sums(file_id, ColumnSums(column.name, codes_for(column, None))) == Moments(2, 2 * i, 2 * i * i)


@pytest.mark.parametrize("name", ["nowhere", "default.nowhere", "a.b.c.d", "", "t; DROP TABLE t", "default.a_view"])
def test_names_that_are_no_tables(near: Tables, lake: Any, name: str) -> None:
    make(lake, "SELECT 1 AS x UNION ALL SELECT 2")
    lake.sql("CREATE OR REPLACE VIEW a_view AS SELECT * FROM t").collect()
    assert problems(near, name, [X]).startswith("source.table")
    lake.sql("DROP VIEW a_view").collect()


def test_it_is_not_copied(near: Tables, lake: Any) -> None:
    name = make(lake, "SELECT 1 AS x UNION ALL SELECT 2")
    with pytest.raises(InvalidFile, match="the service does not copy Spark tables"):
        near.intake.ingest_from(TableOrigin("lake", name, live=False), [X])


def test_another_number_of_rows_is_noticed_at_once(near: Tables, lake: Any) -> None:
    name = make(lake, "SELECT 1 AS x UNION ALL SELECT 2")
    file_id = taken(near, f"default.{name}", [X]).file_id
    assert near.sums(file_id, SUM_OF_X) == Moments(2, 3, 5)
    lake.sql("INSERT INTO t VALUES (7)").collect()
    with pytest.raises(StaleTable):
        near.sums(file_id, SUM_OF_X)
    assert near.is_stale(file_id, TableOrigin("lake", f"default.{name}", live=True), [X], None)


def is_stale(tables: Tables, file_id: str, column: Column = X, units: Units | None = None) -> bool:
    return tables.is_stale(file_id, TableOrigin("lake", "t", live=True), [column], units)


OTHER_TABLES = [
    "CREATE TABLE t USING parquet AS SELECT id * CAST({} AS DECIMAL(38, 0)) AS x FROM range(2)",
    "CREATE TABLE t USING parquet AS SELECT CAST(id AS DOUBLE) * {} AS x FROM range(2)",
    "CREATE TABLE t USING csv AS SELECT CAST(id AS INT) AS x FROM range(2)",
    "CREATE VIEW t AS SELECT CAST({} / id AS INT) AS x FROM range(2)",
]


@pytest.mark.parametrize("value", ["5", "1e30"])
@pytest.mark.parametrize("other", OTHER_TABLES)
def test_another_table_in_its_place_is_noticed_whatever_it_holds(
    near: Tables, lake: Any, other: str, value: str
) -> None:
    file_id = taken(near, make(lake, "SELECT 1 AS x UNION ALL SELECT 2"), [X]).file_id
    assert near.sums(file_id, SUM_OF_X) == Moments(2, 3, 5)
    lake.sql("DROP TABLE t").collect()
    lake.sql(other.format(value)).collect()
    try:
        with pytest.raises(StaleTable):
            near.sums(file_id, SUM_OF_X)
        assert is_stale(near, file_id)
    finally:
        lake.sql(f"DROP {other.split()[1]} t").collect()


@pytest.mark.parametrize("value", ["5", "1e30"])
def test_another_table_during_a_scan_is_noticed_whatever_it_holds(
    near: Tables, lake: Any, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id, plain = taken(near, make(lake, "SELECT 1 AS x UNION ALL SELECT 2"), [X]).file_id, spark_engine._fetch

    def change(*asked: Any) -> Any:
        lake.sql("DROP TABLE t").collect()
        lake.sql(OTHER_TABLES[1].format(value)).collect()
        return plain(*asked)

    monkeypatch.setattr(spark_engine, "_fetch", change)
    with pytest.raises(StaleTable) as caught:
        near.sums(file_id, SUM_OF_X)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_texts_that_are_parsed_may_not_stay_live(near: Tables, lake: Any) -> None:
    lake.sql("DROP TABLE IF EXISTS t").collect()
    lake.sql("CREATE TABLE t USING csv OPTIONS (mode 'FAILFAST') AS SELECT 1 AS x UNION ALL SELECT 2").collect()
    assert "format" in problems(near, "t", [X])
    lake.sql("DROP TABLE t").collect()


def test_revalidation_looks_at_all_that_registration_looks_at(near: Tables, lake: Any) -> None:
    complete, units = Column("x", Kind.INTEGER, X.bounds, nullable=False), Units("who", 2)
    rows_of = "SELECT * FROM VALUES {} AS v(who, x)".format
    file_id = taken(near, make(lake, rows_of("('a', 1), ('a', 2), ('b', 3)")), [complete], units).file_id
    assert not is_stale(near, file_id, complete, units)
    for spoiled in ("('a', 1), ('a', 2), ('a', 3)", "('a', 1), (NULL, 2), ('b', 3)", "('a', 1), ('a', 2), ('b', NULL)"):
        make(lake, rows_of(spoiled))
        assert is_stale(near, file_id, complete, units)


def test_people_and_missing_values(near: Tables, lake: Any) -> None:
    name = make(lake, "SELECT * FROM VALUES ('a', 1), ('a', 2), ('b', NULL) AS v(who, x)")
    assert taken(near, name, [X], Units("who", 2)).n == 3
    assert "1 unit has more than 1 rows" in problems(near, name, [X], Units("who", 1))
    complete = Column("x", Kind.INTEGER, X.bounds, nullable=False)
    assert problems(near, name, [complete]) == "column x: has no value in 1 rows"


def test_a_server_that_is_away_tells_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    opened = Tables(tmp_path, connections={"lake": "sc://127.0.0.1:1/;token=a-secret"}, statement_seconds=10)
    with caplog.at_level(logging.INFO), pytest.raises(EngineFailure):
        opened.intake.ingest_from(TableOrigin("lake", "t", live=True), [X])
    assert "a-secret" not in caplog.text
    opened.close()


def test_a_statement_ends_in_time(near: Tables, lake: Any, spark_url: str, tmp_path: Path, monkeypatch: Any) -> None:
    file_id = taken(near, make(lake, "SELECT id AS x FROM range(1000)"), [X]).file_id
    shutil.copy(near._path(file_id), tmp_path)
    opened = Tables(tmp_path, connections={"lake": spark_url}, statement_seconds=10)
    with monkeypatch.context() as patched:
        hours = "SELECT COUNT(*), SUM(a.id % 7), SUM(b.id % 7) FROM range(10000000) a CROSS JOIN range(10000000) b"
        patched.setattr(answers, "sums_query", lambda *_: hours)
        with pytest.raises(EngineFailure):
            opened.sums(file_id, SUM_OF_X)
    assert isinstance(opened.sums(file_id, SUM_OF_X), Moments)  # by another session
    opened.close()


def test_texts_with_quotes(near: Tables, lake: Any) -> None:
    texts = ["it's", 'say "no"', "back\\slash", "", " ", "🐧", "${x}", "a\\nb", "a\nb", "--"]
    category = Column("t", Kind.CATEGORY, categories=tuple(texts))
    file_id = taken(near, make(lake, pa.table({"t": texts})), [category]).file_id
    assert near.sums(file_id, BinCounts("t", CategoryBins(tuple(texts), missing=False))) == (1,) * len(texts) + (0,)


def test_a_draft_follows_the_types_and_the_first_rows(lake: Any, near: Tables) -> None:
    """Its kinds are those that a registration takes; what no kind suits is left out."""
    name = make(
        lake,
        "SELECT id AS n, CAST(id * 1.25 AS DECIMAL(8, 2)) AS price, CAST(id / 7 AS DOUBLE) AS ratio, "
        "CASE WHEN id % 3 = 0 THEN NULL WHEN id % 3 = 1 THEN 'a' ELSE 'b' END AS letter, "
        "concat('remark ', CAST(id AS STRING)) AS remark, id % 2 = 0 AS even, "
        "date_add(DATE '2024-01-01', CAST(id AS INT)) AS day, "
        "CAST(date_add(DATE '2024-01-01', CAST(id AS INT)) AS TIMESTAMP_NTZ) AS midnight, "
        "TIMESTAMP '2024-01-01 00:00:00+00:00' + make_dt_interval(0, 0, 0, id * 90) AS instant, array(id) AS list "
        "FROM range(1, 201)",
        "drafted",
    )
    drafted = near.drafts.draft_from(TableOrigin("lake", name, live=True), never)
    columns = drafted.described["columns"]
    assert {name: column["kind"] for name, column in columns.items()} == {
        "n": "integer",
        "price": "decimal",
        "ratio": "real",
        "letter": "category",
        "even": "boolean",
        "day": "date",
        "midnight": "date",
        "instant": "timestamp",
    }
    assert (columns["n"]["bounds"], columns["price"]["bounds"]) == (["1", "200"], ["1.25", "250.00"])
    assert columns["letter"]["categories"] == ["a", "b"]
    assert columns["day"]["bounds"] == columns["midnight"]["bounds"] == ["2024-01-02", "2024-07-19"]
    assert columns["instant"]["bounds"] == ["2024-01-01T00:01:30", "2024-01-01T05:00:00"]
    assert columns["instant"]["resolution"] == "second"
    assert set(drafted.left_out) == {"remark", "list"}
    with pytest.raises(InvalidFile, match="does not copy Spark tables"):
        near.drafts.draft_from(TableOrigin("lake", name, live=False), never)
