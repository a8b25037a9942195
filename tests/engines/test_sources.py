"""Tables where they live: the same integers as from files, and no value makes any query fail."""

import io
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from engine_world import as_csv, as_parquet, decimal_text
from gmpy2 import mpq
from psycopg import sql
from sources_world import COLUMNS, all_needs, expected, fill_postgres, rows
from sqlalchemy import make_url

from app.dp.table.bins import CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Between
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, Moments, Needs
from app.engines.backends import postgres_engine
from app.engines.errors import EngineFailure, InvalidFile, StaleTable
from app.engines.ingest import Units
from app.engines.live_tables import LiveColumn
from app.engines.sql.scan_sharing import scans_of
from app.engines.storage.connections import TableOrigin
from app.engines.storage.table_intake import Ingested
from app.engines.storage.tables import Tables

X = Column("x", Kind.INTEGER, (mpq(0), mpq(100)))
SUM_OF_X = ColumnSums("x", codes_for(X, None))
PASSWORD = "a-password-that-nobody-may-see"  # noqa: S105


@pytest.fixture(scope="module")
def warehouse(postgres_server: str) -> Iterator[str]:
    """The URL of a database of its own, of which the service may read what it is granted."""
    url = make_url(postgres_server)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE warehouse")
    yield url.set(database="warehouse").render_as_string(hide_password=False)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE warehouse WITH (FORCE)")


@pytest.fixture(scope="module")
def near(warehouse: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    opened = Tables(tmp_path_factory.mktemp("data"), connections={"warehouse": warehouse})
    yield opened
    opened.close()


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.fixture
def table(warehouse: str) -> Iterator[Any]:
    """Makes the table `"Odd name"."t;"`, of the columns and rows that are given in SQL."""

    def make(columns: str, *values: str) -> str:
        run(
            warehouse,
            'DROP SCHEMA IF EXISTS "Odd name" CASCADE',
            'CREATE SCHEMA "Odd name"',
            f'CREATE TABLE "Odd name"."t;" ({columns})',
            *(
                f'INSERT INTO "Odd name"."t;" VALUES ({value})'  # noqa: S608
                for value in values
            ),
        )
        return "Odd name.t;"

    yield make
    run(warehouse, 'DROP SCHEMA IF EXISTS "Odd name" CASCADE')


def taken(tables: Tables, name: str, columns: Sequence[Column], *, live: bool, units: Units | None = None) -> Ingested:
    ingested = tables.intake.ingest_from(TableOrigin("warehouse", name, live), columns, units)
    tables.mark_registered(ingested.file_id)
    return ingested


def is_stale(tables: Tables, file_id: str) -> bool:
    return tables.is_stale(file_id, TableOrigin("warehouse", "Odd name.t;", live=True), [X], None)


def problems(tables: Tables, name: str, columns: Sequence[Column], *, live: bool, units: Units | None = None) -> str:
    before = sorted(tables._directory.rglob("*"))
    with pytest.raises(InvalidFile) as caught:
        tables.intake.ingest_from(TableOrigin("warehouse", name, live), columns, units)
    assert sorted(tables._directory.rglob("*")) == before
    return str(caught.value)


@pytest.fixture(scope="module")
def everywhere(near: Tables, warehouse: str) -> dict[str, str]:
    """The same rows, by the name of where they are."""
    of = rows()
    fill_postgres(warehouse, "worst", of)
    kinds = {"real": pa.float64(), "boolean": pa.bool_(), "category": pa.string(), "decimal": pa.string()}
    texts = {**of, "decimal": [None if v is None else decimal_text(v) for v in of["decimal"]]}
    arrays = {name: pa.array(values, kinds.get(name, pa.int64())) for name, values in texts.items()}
    arrays["decimal"] = arrays["decimal"].cast(pa.decimal128(38, 4))
    return {
        "csv": near.intake.ingest(io.BytesIO(as_csv(of)), COLUMNS, ["NA"]).file_id,
        "parquet": near.intake.ingest(as_parquet(pa.table(arrays)), COLUMNS, []).file_id,
        "snapshot": taken(near, "public.worst", COLUMNS, live=False).file_id,
        "live": taken(near, "public.worst", COLUMNS, live=True).file_id,
    }


@pytest.mark.parametrize("place", ["csv", "parquet", "snapshot", "live"])
def test_the_worst_rows_give_the_same_integers_everywhere(near: Tables, everywhere: dict[str, str], place: str) -> None:
    """Some of the questions, each by itself; the test below asks all of them together."""
    step = {"snapshot": 3, "live": 2}.get(place, 8)  # files are stored as snapshots are
    for needs in list(all_needs())[::step]:
        answer = near.sums(everywhere[place], needs)
        assert answer == expected(needs), needs
        assert all(type(number) is int for number in answer)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["snapshot", "live"])
def test_the_worst_rows_give_the_same_integers_together(
    near: Tables, everywhere: dict[str, str], place: str, monkeypatch: Any
) -> None:
    needs, statements = list(all_needs()), []
    engine = near._engine if place == "snapshot" else near._sources.of("warehouse")
    plain = engine._rows  # type: ignore[union-attr]
    monkeypatch.setattr(engine, "_rows", lambda *query: statements.append(query) or plain(*query))
    answers = near.all_sums(everywhere[place], needs)
    most = len(scans_of(needs, keyed=place == "live"))  # DuckDB counts by one key a statement
    assert len(statements) <= most < len(needs) / 2
    for each in needs:
        assert answers[each] == expected(each), each
        assert all(type(number) is int for number in answers[each])


@pytest.mark.parametrize("live", [False, True])
def test_hard_data_gives_right_answers(near: Tables, table: Any, live) -> None:
    near_2_50 = Column("r", Kind.REAL, (mpq(2) ** 50, mpq(2) ** 50 + 1))
    whole = Column("i", Kind.INTEGER, (mpq(2) ** 53, mpq(2) ** 53 + 4))
    wide = Column("w", Kind.INTEGER, (mpq(2) ** 62, mpq(2) ** 62 + mpq(2) ** 33))
    name = table("r float8, i int8, w int8", *[f"{2**50 + 0.25!r}, {2**53 + 1}, {2**62 + 4}"] * 3)
    file_id = taken(near, name, [near_2_50, whole, wide], live=live).file_id
    answer = near.sums(file_id, ColumnSums("r", codes_for(near_2_50, None)))
    assert isinstance(answer, Moments)
    assert answer.n * answer.squares == answer.total**2  # the variance is 0
    assert near.sums(file_id, ColumnSums("i", codes_for(whole, None))) == Moments(3, 3, 3)
    assert near.sums(file_id, ColumnSums("w", codes_for(wide, None))) == Moments(3, 3, 3)


@pytest.mark.parametrize("live", [False, True])
def test_every_type_that_can_hold_a_kind(near: Tables, warehouse: str, table: Any, live) -> None:
    columns = [
        *(Column(name, Kind.INTEGER, (mpq(-100), mpq(100))) for name in ("small", "whole", "big", "exact")),
        *(Column(name, Kind.REAL, (mpq(-100), mpq(100))) for name in ("single", "double", "numeric", "asreal")),
        Column("cents", Kind.DECIMAL, (mpq(0), mpq(10)), scale=2),
        Column("units", Kind.DECIMAL, (mpq(0), mpq(10)), scale=2),
        *(Column(name, Kind.CATEGORY, categories=("a", "b ")) for name in ("text", "varying", "fixed", "listed")),
    ]
    run(warehouse, "DROP TYPE IF EXISTS public.mood CASCADE", "CREATE TYPE public.mood AS ENUM ('a', 'c')")
    name = table(
        "small int2, whole int4, big int8, exact numeric(10, 0), single float4, double float8, numeric numeric(12, 3),"
        " asreal int8, cents numeric(6, 1), units int4, text text, varying varchar(9), fixed char(4),"
        " listed public.mood",
        "1, 2, 3, 4, 1.5, 2.5, 3.125, 7, 1.5, 2, 'a', 'b ', 'a', 'a'",
        "'-1', -2, -3, 'NaN', 'NaN', '-Infinity', 'NaN', 7, 2.5, 3, 'b', 'b', 'b', 'c'",
    )
    file_id = taken(near, name, columns, live=live).file_id
    middle = codes_for(columns[4], None).null_code

    def total(column: Column) -> int:
        answer = near.sums(file_id, ColumnSums(column.name, codes_for(column, None)))
        assert isinstance(answer, Moments)
        return answer.total

    def code(column: Column, value: Any) -> int:
        return codes_for(column, None).code(None if value is None else mpq(value))

    by_name = {column.name: column for column in columns}
    values = {
        "small": [1, -1],
        "whole": [2, -2],
        "big": [3, -3],
        "exact": [4, None],
        "single": ["1.5", None],
        "double": ["2.5", -1000],
        "numeric": ["3.125", None],
        "asreal": [7, 7],
        "cents": ["1.5", "2.5"],
        "units": [2, 3],
    }
    assert middle == 2**30
    for each, of in values.items():
        assert total(by_name[each]) == sum(code(by_name[each], value) for value in of), each
    texts = {"text": (1, 0, 1), "varying": (0, 1, 1), "fixed": (1, 0, 1), "listed": (1, 0, 1)}
    for each, counts in texts.items():
        assert near.sums(file_id, BinCounts(each, CategoryBins(("a", "b "), missing=False))) == counts, each


def test_a_domain_is_read_as_its_base_type(near: Tables, warehouse: str, table: Any) -> None:
    run(
        warehouse,
        "DROP DOMAIN IF EXISTS public.age CASCADE",
        "CREATE DOMAIN public.age AS int CHECK (VALUE >= 0)",
        "CREATE DOMAIN public.old AS public.age CHECK (VALUE >= 65)",
        "DROP DOMAIN IF EXISTS public.money CASCADE",
        "CREATE DOMAIN public.money AS numeric(6, 2)",
        "DROP DOMAIN IF EXISTS public.mark CASCADE",
        "CREATE DOMAIN public.mark AS text",
    )
    name = table("x public.old, m public.money, t public.mark", "70, 1.25, 'a'", "80, NULL, 'b'")
    money = Column("m", Kind.DECIMAL, X.bounds, scale=2)
    columns = [X, money, Column("t", Kind.CATEGORY, categories=("a", "b"))]
    for live in (False, True):
        file_id = taken(near, name, columns, live=live).file_id
        assert near.sums(file_id, SUM_OF_X) == Moments(2, 150, 11_300)
        assert near.sums(file_id, BinCounts("t", CategoryBins(("a",), missing=False))) == (1, 1)
        total = near.sums(file_id, ColumnSums("m", codes_for(money, None))).total
        assert total == 125 + 5_000  # the missing value is the middle
    run(warehouse, 'ALTER TABLE "Odd name"."t;" ALTER x TYPE public.money')
    with pytest.raises(StaleTable):
        near.sums(file_id, SUM_OF_X)


@pytest.mark.parametrize(
    ("type_", "column", "what"),
    [
        ("numeric", X, "numeric(p, s)"),
        ("numeric(19, 0)", X, "18 digits"),
        ("numeric(5, 2)", X, "not whole"),
        ("float8", X, "numeric(p, s)"),
        ("numeric(400, 0)", Column("x", Kind.REAL, X.bounds), "too many digits"),
        ("numeric", Column("x", Kind.REAL, X.bounds), "numeric(p, s)"),
        ("int8", Column("x", Kind.DECIMAL, X.bounds, scale=2), "18 digits"),
        ("numeric(6, 3)", Column("x", Kind.DECIMAL, X.bounds, scale=2), "more than 2 decimals"),
        ("numeric(18, 1)", Column("x", Kind.DECIMAL, X.bounds, scale=2), "18 digits"),
        ("date", X, "must be of a numeric type"),
        ("text", X, "must be of a numeric type"),
        ("int4", Column("x", Kind.BOOLEAN), "must be of a boolean type"),
        ("int4", Column("x", Kind.CATEGORY, categories=("a",)), "must be of a text type"),
        ("bytea", Column("x", Kind.CATEGORY, categories=("a",)), "must be of a text type"),
        ("int4", Column("y", Kind.INTEGER, X.bounds), "does not exist"),
        ("int4", Column("X", Kind.INTEGER, X.bounds), "does not exist"),
        ("int4 GENERATED ALWAYS AS (1 / y) VIRTUAL, y int4", X, "is computed"),
    ],
)
def test_types_that_cannot_stay_live(near: Tables, table: Any, type_: str, column: Column, what: str) -> None:
    assert what in problems(near, table(f"x {type_}"), [column], live=True)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("nowhere", "source.table"),
        ("Odd name.t", "source.table"),
        ("odd name.t;", "source.table"),
        ("", "source.table"),
        ("a.b.c", "source.table"),
        ('"Odd name"."t;" -- ', "source.table"),
        ("pg_catalog.pg_authid; DROP TABLE x", "source.table"),
    ],
)
@pytest.mark.parametrize("live", [False, True])
def test_names_that_are_no_tables(near: Tables, table: Any, name: str, where: str, live) -> None:
    table("x int", "1", "2")
    assert problems(near, name, [X], live=live).startswith(where)


def test_names_are_exact_and_quoted(near: Tables, warehouse: str, table: Any) -> None:
    columns = [Column(name, Kind.INTEGER, X.bounds) for name in ('"; DROP TABLE x; --', "a", "A", "🐧", "%s", "a.b")]
    quoted = ", ".join(sql.Identifier(column.name).as_string() + " int" for column in columns)
    values = ", ".join(str(i) for i in range(len(columns)))
    name = table(quoted, values, values)
    run(warehouse, 'CREATE TABLE "Odd name"."with.dot" AS SELECT * FROM "Odd name"."t;"')
    for path in (name, '"Odd name"."t;"', '"Odd name"."with.dot"', 'Odd name."with.dot"'):
        for live in (False, True):
            file_id = taken(near, path, columns, live=live).file_id
            for i, column in enumerate(columns):
                answer = near.sums(file_id, ColumnSums(column.name, codes_for(column, None)))
                assert answer == Moments(2, 2 * i, 2 * i * i)


def test_a_snapshot_checks_every_value(near: Tables, table: Any) -> None:
    name = table("x numeric, t text", "1, 'a'", "1.5, 'b'", "1e30, NULL", "'NaN', 'b'")
    told = problems(near, name, [X, Column("t", Kind.CATEGORY, categories=("a",), nullable=False)], live=False)
    assert told == (
        "row 2, column x: is not a whole number; row 3, column x: is beyond the range of 64-bit whole numbers; "
        "row 3, column t: is missing"
    )


def test_a_live_table_is_checked_where_it_is(near: Tables, table: Any) -> None:
    complete = [
        Column("x", Kind.INTEGER, X.bounds, nullable=False),
        Column("r", Kind.REAL, X.bounds, nullable=False),
    ]
    name = table("x int, r float8", "1, 'NaN'", "NULL, 2", "3, NULL")
    told = problems(near, name, complete, live=True)
    assert told == "column x: has no value in 1 rows; column r: has no value in 2 rows"
    assert "fewer than two rows" in problems(near, table("x int", "1"), [X], live=True)


CHANGES = ["INSERT INTO {} VALUES (5)", "DELETE FROM {} WHERE x = 1", "TRUNCATE {}"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "asked",
    [
        [ColumnSums("x", codes_for(X, (mpq(0), mpq(1 + i)))) for i in range(3)],
        [CellSums((), (Between("x", Kind.INTEGER, 0, 0, i),)) for i in range(3)],
        [BinCounts("x", bins_by_number(X, 2 + i, None)) for i in range(3)],
    ],
)
def test_questions_together_count_the_rows_too(
    near: Tables, warehouse: str, table: Any, asked: list[Needs], change: str, monkeypatch: Any
) -> None:
    file_id = taken(near, table("x int", "1", "2", "3"), [X], live=True).file_id
    engine, statements = near._sources.of("warehouse"), []
    plain = engine._rows  # type: ignore[attr-defined]
    monkeypatch.setattr(engine, "_rows", lambda *query: statements.append(query) or plain(*query))
    near.all_sums(file_id, asked)
    assert len(statements) == 1
    run(warehouse, change.format('"Odd name"."t;"'))
    with pytest.raises(StaleTable):
        near.all_sums(file_id, asked)
    assert len(statements) == 2


@pytest.mark.parametrize("change", CHANGES)
def test_another_number_of_rows_is_noticed_at_once(near: Tables, warehouse: str, table: Any, change: str) -> None:
    file_id = taken(near, table("x int", "1", "2", "3"), [X], live=True).file_id
    assert near.sums(file_id, SUM_OF_X) == Moments(3, 6, 14)
    assert not is_stale(near, file_id)
    run(warehouse, change.format('"Odd name"."t;"'))
    with pytest.raises(StaleTable) as caught:
        near.sums(file_id, SUM_OF_X)
    assert not any(character.isdigit() for character in str(caught.value))
    assert is_stale(near, file_id)


VALUES = ["1", "1e30", "'Infinity'", "'NaN'", "1e-320", "0.5", "NULL"]
WRAPPER = "CREATE SERVER IF NOT EXISTS elsewhere FOREIGN DATA WRAPPER nothing"
OTHER_TABLES = {
    "numeric": ["ALTER TABLE {} ALTER x TYPE numeric USING {}"],
    "text": ["ALTER TABLE {} ALTER x TYPE text USING ({})::text"],
    "double": ["ALTER TABLE {} ALTER x TYPE double precision USING {}"],
    "domain": ["CREATE DOMAIN whole AS numeric", "ALTER TABLE {} ALTER x TYPE whole USING {}"],
    "renamed": ["ALTER TABLE {} RENAME x TO y", "ALTER TABLE {} ADD z numeric DEFAULT {}"],
    "view": [
        'CREATE TABLE "Odd name".base AS SELECT {1}::numeric AS v FROM generate_series(1, 2)',
        "DROP TABLE {0}",
        'CREATE VIEW {0} AS SELECT (1 / (v - 1))::int AS x FROM "Odd name".base',
    ],
    "foreign table": [WRAPPER, "DROP TABLE {}", "CREATE FOREIGN TABLE {} (x int) SERVER elsewhere"],
    "foreign part": [WRAPPER, 'CREATE FOREIGN TABLE "Odd name".part () INHERITS ({}) SERVER elsewhere'],
}


@pytest.mark.parametrize("change", OTHER_TABLES)
@pytest.mark.parametrize("value", ["1", "1e30"])
def test_another_type_makes_it_stale_whatever_the_values_are(
    near: Tables, warehouse: str, table: Any, change: str, value: str
) -> None:
    """No status depends on a value: a scan of columns of other types is not begun."""
    file_id = taken(near, table("x int", "1", "2"), [X], live=True).file_id
    run(
        warehouse,
        "DROP DOMAIN IF EXISTS whole CASCADE",
        "DROP FOREIGN DATA WRAPPER IF EXISTS nothing CASCADE",
        "CREATE FOREIGN DATA WRAPPER nothing",
        *(each.format('"Odd name"."t;"', value) for each in OTHER_TABLES[change]),
    )
    for asked in ([SUM_OF_X], [ColumnSums("x", codes_for(X, (mpq(0), mpq(1 + i)))) for i in range(3)]):
        with pytest.raises(StaleTable):
            near.all_sums(file_id, asked)
    assert is_stale(near, file_id)


def test_a_cast_that_somebody_defined_may_not_stay_live(near: Tables, warehouse: str, table: Any) -> None:
    category = Column("t", Kind.CATEGORY, categories=("a",))
    run(warehouse, "DROP TYPE IF EXISTS public.moody CASCADE", "CREATE TYPE public.moody AS ENUM ('a', 'b')")
    name = table("t public.moody", "'a'", "'b'")
    counts = BinCounts("t", CategoryBins(("a",), missing=False))
    file_id = taken(near, name, [category], live=True).file_id
    assert near.sums(file_id, counts) == (1, 1)
    run(
        warehouse,
        "CREATE FUNCTION public.fails(public.moody) RETURNS text LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN CASE WHEN $1 = 'b'::public.moody THEN (1 / 0)::text ELSE 'a' END; END $$",
        "CREATE CAST (public.moody AS text) WITH FUNCTION public.fails(public.moody)",
    )
    with pytest.raises(StaleTable):
        near.sums(file_id, counts)
    assert "is computed" in problems(near, name, [category], live=True)
    run(warehouse, "DROP TYPE public.moody CASCADE")


def test_functions_of_other_schemas_are_never_called(near: Tables, warehouse: str, table: Any) -> None:
    """Whatever the search path of the role or the database is."""
    name = table("x int", "1", "2")
    run(
        warehouse,
        "DROP SCHEMA IF EXISTS shadows CASCADE",
        "CREATE SCHEMA shadows",
        "CREATE FUNCTION shadows.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / ($1 - $1)'",
        "ALTER DATABASE warehouse SET search_path = shadows, pg_catalog",
    )
    try:
        real = Column("x", Kind.REAL, X.bounds)
        answer = near.sums(taken(near, name, [real], live=True).file_id, ColumnSums("x", codes_for(real, None)))
        assert isinstance(answer, Moments)
    finally:
        run(warehouse, "ALTER DATABASE warehouse RESET search_path", "DROP SCHEMA shadows CASCADE")


def test_the_type_cannot_change_between_the_comparison_and_the_scan(
    near: Tables, warehouse: str, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id = taken(near, table("x int", "1", "2"), [X], live=True).file_id
    compare, locked = postgres_engine.require_types, []

    def compare_and_alter(connection: Any, live: Any) -> None:
        compare(connection, live)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            run(warehouse, "SET lock_timeout = '50ms'", 'ALTER TABLE "Odd name"."t;" ALTER x TYPE numeric')
        locked.append(live)

    monkeypatch.setattr(postgres_engine, "require_types", compare_and_alter)
    assert near.sums(file_id, SUM_OF_X) == Moments(2, 3, 5)
    assert len(locked) == 1


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "column",
    [
        Column("x", Kind.INTEGER, (mpq(0), mpq(100))),
        Column("x", Kind.DECIMAL, (mpq(0), mpq(100)), scale=2),
        Column("x", Kind.REAL, (mpq(0), mpq(100))),
    ],
)
def test_no_cast_fails_even_of_values_that_the_type_should_not_hold(
    warehouse: str, near: Tables, column: Column, value: str
) -> None:
    live = postgres_engine.PostgresEngine._normal(LiveColumn("x", column.kind, column.scale, "numeric"))
    query = f"SELECT {live.sql('postgres')} FROM (VALUES ({value}::numeric)) AS v (x)"  # noqa: S608
    with psycopg.connect(warehouse) as connection:
        assert connection.execute(query.encode()).fetchone() is not None


def test_a_right_to_one_column_is_enough_to_lock_and_read_it(warehouse: str, table: Any, tmp_path: Path) -> None:
    name = table("x int, secret int", "1, 2", "2, 3")
    role = "of_one_column"
    run(
        warehouse,
        f"DROP ROLE IF EXISTS {role}",
        f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'",
        f'GRANT USAGE ON SCHEMA "Odd name" TO {role}',
        f'GRANT SELECT (x) ON "Odd name"."t;" TO {role}',
    )
    url = make_url(warehouse).set(username=role, password=PASSWORD).render_as_string(hide_password=False)
    tables = Tables(tmp_path, connections={"warehouse": url})
    try:
        file_id = taken(tables, name, [X], live=True).file_id
        assert tables.sums(file_id, SUM_OF_X) == Moments(2, 3, 5)
        revoked = f'REVOKE SELECT (x) ON "Odd name"."t;" FROM {role}'  # noqa: S608
        run(warehouse, revoked)
        with pytest.raises(EngineFailure):
            tables.sums(file_id, SUM_OF_X)
    finally:
        tables.close()
        run(warehouse, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {} SET x = NULL WHERE x = 1",
        "UPDATE {} SET who = 'a'",
        "UPDATE {} SET who = NULL WHERE x = 1",
        "ALTER TABLE {} RENAME who TO whose",
        "ALTER TABLE {} ALTER x TYPE numeric",
    ],
)
def test_revalidation_looks_at_all_that_registration_looks_at(
    near: Tables, warehouse: str, table: Any, change: str
) -> None:
    complete, units = Column("x", Kind.INTEGER, (mpq(0), mpq(100)), nullable=False), Units("who", 1)
    name = table("x int, who text", "1, 'a'", "2, 'b'")
    file_id = taken(near, name, [complete], live=True, units=units).file_id
    origin = TableOrigin("warehouse", name, live=True)
    assert not near.is_stale(file_id, origin, [complete], units)
    run(warehouse, change.format('"Odd name"."t;"'))
    assert near.is_stale(file_id, origin, [complete], units)


def test_a_snapshot_stays_as_it_was(near: Tables, warehouse: str, table: Any) -> None:
    file_id = taken(near, table("x int", "1", "2", "3"), [X], live=False).file_id
    run(warehouse, 'DROP TABLE "Odd name"."t;"')
    assert near.sums(file_id, SUM_OF_X) == Moments(3, 6, 14)


@pytest.mark.parametrize("statement", ['DROP TABLE "Odd name"."t;"', 'ALTER SCHEMA "Odd name" RENAME TO other'])
def test_a_table_that_is_gone_is_a_constant_failure(
    near: Tables, warehouse: str, table: Any, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    file_id = taken(near, table("x int", "1", "2"), [X], live=True).file_id
    run(warehouse, statement)
    with pytest.raises(EngineFailure) as caught:
        near.sums(file_id, SUM_OF_X)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert "Odd name" not in caplog.text


def test_a_policy_that_hides_rows_is_a_failure(near: Tables, warehouse: str, table: Any, tmp_path: Path) -> None:
    name = table("x int", "1", "2", "3")
    run(
        warehouse,
        'ALTER TABLE "Odd name"."t;" ENABLE ROW LEVEL SECURITY',
        'CREATE POLICY few ON "Odd name"."t;" USING (x > 1)',
        "DROP ROLE IF EXISTS reader",
        f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'",
        'GRANT USAGE ON SCHEMA "Odd name" TO reader',
    )
    url = make_url(warehouse).set(username="reader", password=PASSWORD).render_as_string(hide_password=False)
    opened = Tables(tmp_path, connections={"warehouse": url})
    assert "may not read" in problems(opened, name, [X], live=True)
    run(warehouse, 'GRANT SELECT ON "Odd name"."t;" TO reader')
    for live in (False, True):
        assert "row security policy" in problems(opened, name, [X], live=live)
    assert not [path for path in tmp_path.iterdir() if path != opened._engine.scratch]
    opened.close()
    run(warehouse, 'DROP SCHEMA "Odd name" CASCADE', "DROP ROLE reader")


def test_statements_end_in_time(warehouse: str, table: Any, tmp_path: Path) -> None:
    name = table("x int", "1", "2")
    patient = Tables(tmp_path, connections={"warehouse": warehouse})
    hasty = Tables(tmp_path, connections={"warehouse": warehouse}, statement_seconds=1)
    file_id = taken(patient, name, [X], live=True).file_id
    with psycopg.connect(warehouse) as other:
        other.execute('LOCK TABLE "Odd name"."t;" IN ACCESS EXCLUSIVE MODE')
        with pytest.raises(EngineFailure):
            hasty.sums(file_id, SUM_OF_X)
    assert patient.sums(file_id, SUM_OF_X) == Moments(2, 3, 5)
    hasty.close()
    patient.close()


def test_a_database_that_is_away_tells_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = f"postgresql://somebody:{PASSWORD}@127.0.0.1:1/nothing"
    opened = Tables(tmp_path, connections={"warehouse": url})
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineFailure):
        opened.intake.ingest_from(TableOrigin("warehouse", "t", live=True), [X])
    with pytest.raises(EngineFailure):
        opened.intake.ingest_from(TableOrigin("elsewhere", "t", live=True), [X])
    assert PASSWORD not in caplog.text
    assert "somebody" not in caplog.text
    opened.close()


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("unit_type", ["int8", "text", "uuid"])
def test_units_are_counted_where_they_are(near: Tables, table: Any, live, unit_type: str) -> None:
    unit = {"int8": "{}", "text": "'{}'", "uuid": "'00000000-0000-0000-0000-00000000000{}'"}[unit_type].format
    name = table(f"u {unit_type}, x int", *(f"{unit(u)}, {x}" for x, u in enumerate("1112")))
    assert taken(near, name, [X], live=live, units=Units("u", 3)).n == 4
    told = problems(near, name, [X], live=live, units=Units("u", 2))
    assert told.startswith("column u: 1 unit has more than 2 rows (`rows_per_unit`), and the largest has 3: ")
    missing = table(f"u {unit_type}, x int", f"{unit(1)}, 1", "NULL, 2")
    assert "column u" in problems(near, missing, [X], live=live, units=Units("u", 1))


def test_texts_are_compared_byte_by_byte(near: Tables, table: Any, monkeypatch: Any) -> None:
    # Whatever the column's collation; one for which different texts are equal needs a server that has ICU.
    category = Column("t", Kind.CATEGORY, categories=("a",))
    file_id = taken(near, table("t text", "'a'", "'A'"), [category], live=True).file_id
    engine, statements = near._sources.of("warehouse"), []
    plain = engine._rows  # type: ignore[attr-defined]
    monkeypatch.setattr(engine, "_rows", lambda *query: statements.append(query[1]) or plain(*query))
    assert near.sums(file_id, BinCounts("t", CategoryBins(("a",), missing=False))) == (1, 1)
    assert 'CAST("t" AS TEXT) COLLATE "C"' in statements[0]


def test_the_number_of_rows_is_of_the_same_statement(near: Tables, table: Any, monkeypatch: Any) -> None:
    file_id = taken(near, table("x int", "1", "2"), [X], live=True).file_id
    engine, statements = near._sources.of("warehouse"), []
    plain = engine._rows  # type: ignore[attr-defined]
    monkeypatch.setattr(engine, "_rows", lambda *query: statements.append(query) or plain(*query))
    near.sums(file_id, SUM_OF_X)
    assert len(statements) == 1


def prepare(tables: Tables, name: str, columns: Sequence[Column]) -> str:
    ingested = tables.intake.ingest_from(TableOrigin("warehouse", name, live=True, prepare=True), columns)
    tables.mark_registered(ingested.file_id)
    return ingested.file_id


def test_a_prepared_live_table_has_the_sums_of_a_copy(near: Tables, warehouse: str, everywhere: dict[str, str]) -> None:
    day = Column("day", Kind.DATE, (mpq(18_000), mpq(19_000)))
    run(
        warehouse,
        "CREATE TABLE prepared AS SELECT *, DATE '2020-01-01' + (row_number() OVER ())::int % 999 AS day FROM worst",
    )
    columns = [*COLUMNS, day]
    file_id = prepare(near, "prepared", columns)
    copy = near.intake.ingest_from(TableOrigin("warehouse", "prepared", live=False), columns).file_id
    live, stored = (near._prepared.find(near._path(each)) for each in (file_id, copy))
    assert live is not None
    assert stored is not None
    assert (live.has_codes, stored.has_codes) == (False, True)
    for name, column in stored.columns.items():
        other = live.columns[name]
        assert (other.total, other.squares, other.missing) == (column.total, column.squares, column.missing), name
        assert [*other.counts] == [*column.counts]
    run(warehouse, "DROP TABLE prepared")


def test_a_prepared_answer_counts_the_rows_and_compares_the_types(
    near: Tables, warehouse: str, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id = prepare(near, table("x int", "1", "2", "101"), [X])
    engine = near._sources.of("warehouse")
    monkeypatch.setattr(engine, "compute", None)
    assert near.sums(file_id, SUM_OF_X) == Moments(3, 103, 10005)
    assert near.sums(file_id, CellSums((), (Between("x", Kind.INTEGER, 0, 1, 1),))) == (1, 2)
    assert not near.are_known(file_id, SUM_OF_X)
    run(warehouse, 'INSERT INTO "Odd name"."t;" VALUES (5)')
    with pytest.raises(StaleTable):
        near.sums(file_id, SUM_OF_X)
    run(warehouse, 'DELETE FROM "Odd name"."t;" WHERE x = 5', 'ALTER TABLE "Odd name"."t;" ALTER x TYPE numeric')
    with pytest.raises(StaleTable):
        near.sums(file_id, SUM_OF_X)


def test_revalidation_prepares_again(near: Tables, warehouse: str, table: Any) -> None:
    name = table("x int", "1", "2", "3")
    file_id = prepare(near, name, [X])
    run(warehouse, 'UPDATE "Odd name"."t;" SET x = 4 WHERE x = 3')
    assert near.sums(file_id, SUM_OF_X) == Moments(3, 6, 14)  # as it was: a change of values is not noticed
    origin = TableOrigin("warehouse", name, live=True, prepare=True)
    assert not near.is_stale(file_id, origin, [X], None)
    assert near.sums(file_id, SUM_OF_X) == Moments(3, 7, 21)
    run(warehouse, 'DELETE FROM "Odd name"."t;" WHERE x = 4')
    assert near.is_stale(file_id, origin, [X], None)
    near.drop(file_id)
    assert not [path for path in near._directory.iterdir() if path.stem == file_id]


def test_a_preparation_that_fails_leaves_nothing(near: Tables, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StaleTable

    monkeypatch.setattr(near._sources.of("warehouse"), "compute", fail)
    before = sorted(near._directory.rglob("*"))
    with pytest.raises(InvalidFile, match="changed while it was read"):
        near.intake.ingest_from(TableOrigin("warehouse", table("x int", "1", "2"), live=True, prepare=True), [X])
    assert sorted(near._directory.rglob("*")) == before
