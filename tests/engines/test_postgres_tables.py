"""Every kind of Postgres table, name and type: the sums of a plain table, or a sentence that says what to do."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from gmpy2 import mpq
from sqlalchemy import make_url

from app.dp.table.bins import CategoryBins
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import BinCounts, ColumnSums, Moments
from app.engines.errors import EngineFailure, InvalidFile
from app.engines.ingest import Units
from app.engines.ingest_process.job import Limits
from app.engines.ingest_process.reader import IngestReader, never
from app.engines.storage.connections import TableOrigin
from app.engines.storage.tables import Tables

each_way = pytest.mark.parametrize("live", [pytest.param(False, marks=pytest.mark.slow), True])
X = Column("x", Kind.INTEGER, (mpq(0), mpq(100)))
SUM_OF_X = ColumnSums("x", codes_for(X, None))
AB = ("a", "b")
ROWS = "SELECT x, CASE WHEN x < 3 THEN 'a' ELSE 'b' END AS t FROM generate_series(1, 3) AS x"
PLAIN = f"CREATE TABLE z.plain AS {ROWS}"
TYPES = [
    "CREATE EXTENSION IF NOT EXISTS plpgsql",
    "CREATE DOMAIN z.layer AS text",
    "CREATE DOMAIN z.layers AS z.layer CHECK (VALUE <> '')",
    "CREATE TYPE z.mood AS ENUM ('a', 'b')",
    "CREATE TYPE z.pair AS (a int, b int)",
    "CREATE TYPE z.citext",  # as the extension makes it, which the server of the tests does not have
    "CREATE FUNCTION z.citextin(cstring) RETURNS z.citext LANGUAGE internal IMMUTABLE STRICT AS 'textin'",
    "CREATE FUNCTION z.citextout(z.citext) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout'",
    "CREATE TYPE z.citext (INPUT = z.citextin, OUTPUT = z.citextout, LIKE = text, CATEGORY = 'S')",
    "CREATE CAST (z.citext AS text) WITHOUT FUNCTION AS IMPLICIT",
    "CREATE CAST (text AS z.citext) WITHOUT FUNCTION AS ASSIGNMENT",
]


@pytest.fixture(scope="module")
def server(postgres_server: str) -> Iterator[str]:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE relations")
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    yield postgres_server
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE relations WITH (FORCE)")
        connection.execute("DROP DATABASE latin WITH (FORCE)")
        connection.execute("DROP ROLE IF EXISTS z_reader")


@pytest.fixture(scope="module")
def near(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    names = {"relations": None, "latin": None, "reader": "z_reader"}
    urls = {
        name: make_url(server).set(database="relations" if user else name, **({"username": user} if user else {}))
        for name, user in names.items()
    }
    folder = tmp_path_factory.mktemp("data")
    opened = Tables(
        folder,
        connections={name: url.render_as_string(hide_password=False) for name, url in urls.items()},
        reader=IngestReader(folder, Limits(2**29, 2**30, 60), 1),
    )
    yield opened
    opened.close()


@pytest.mark.slow
def test_the_draft_of_a_slow_view_is_given_up(server: str, tmp_path: Path) -> None:
    run(server, PLAIN, "CREATE VIEW z.slow AS SELECT x FROM z.plain, pg_sleep(60)")
    url = make_url(server).set(database="relations").render_as_string(hide_password=False)
    hasty = Tables(tmp_path / "hasty", connections={"relations": url}, statement_seconds=5)
    with pytest.raises(InvalidFile, match="takes more than 5 seconds to read its first rows"):
        hasty.drafts.draft_from(TableOrigin("relations", "z.slow", live=False), never)
    hasty.close()
    tables = Tables(tmp_path / "patient", connections={"relations": url})
    with pytest.raises(EngineFailure):
        tables.drafts.draft_from(TableOrigin("relations", "z.plain", live=False), lambda: True)
    drafted = tables.drafts.draft_from(TableOrigin("relations", "z.plain", live=False), never)
    assert [*drafted.described["columns"]] == ["x", "t"]
    tables.close()


def run(server: str, *statements: str, database: str = "relations") -> None:
    url = make_url(server).set(database=database).render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS z CASCADE")
        connection.execute("CREATE SCHEMA z")
        for statement in statements:
            connection.execute(statement.encode())


def take(
    near: Tables, table: str, columns: list[Column], *, live: bool, units: Units | None = None, of: str = "relations"
) -> str | list[object]:
    """The answers, or what the owner is told; anything else is raised."""
    try:
        file_id = near.intake.ingest_from(TableOrigin(of, table, live), columns, units).file_id
    except InvalidFile as refused:
        return str(refused)
    near.mark_registered(file_id)
    texts = [column for column in columns if column.kind is Kind.CATEGORY]
    counts = [BinCounts(column.name, CategoryBins(column.categories, missing=False)) for column in texts]
    return [near.sums(file_id, needs) for needs in (SUM_OF_X, *counts)]


class Case(NamedTuple):
    """A table, and what is told of it when it is copied or live, where it does not give the sums of a plain table."""

    statements: list[str]
    table: str = "z.t"
    copied: str | None = None
    live: str | None = None
    connection: str = "relations"


VIEW, FOREIGN = "is a view, so it cannot stay live", "is a foreign table, so it cannot stay live"
FAILED = "could not be copied: the database refused to read it, or could not compute a row (SQLSTATE {})"
WRAPPER = ["DROP FOREIGN DATA WRAPPER IF EXISTS z_none CASCADE", "CREATE FOREIGN DATA WRAPPER z_none"]
SERVER = [*WRAPPER, "CREATE SERVER z_none FOREIGN DATA WRAPPER z_none"]
READER = [
    "DO $$ BEGIN CREATE ROLE z_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    "GRANT USAGE ON SCHEMA z TO z_reader",
]

RELATIONS = {
    "table": Case([f"CREATE TABLE z.t AS {ROWS}"]),
    "unlogged": Case([f"CREATE UNLOGGED TABLE z.t AS {ROWS}"]),
    "materialized view": Case([f"CREATE MATERIALIZED VIEW z.t AS {ROWS}"]),
    "materialized view without data": Case(
        [f"CREATE MATERIALIZED VIEW z.t AS {ROWS} WITH NO DATA"],
        copied="run REFRESH MATERIALIZED VIEW",
        live="run REFRESH MATERIALIZED VIEW",
    ),
    "view": Case([PLAIN, "CREATE VIEW z.t AS SELECT * FROM z.plain"], live=VIEW),
    "view that fails on a value": Case(
        [PLAIN, "CREATE VIEW z.t AS SELECT x, t, 1 / (x - 2) FROM z.plain WHERE 1 / (x - 2) < 9"],
        copied=FAILED.format("22012"),
        live=VIEW,
    ),
    "view that raises": Case(
        [
            PLAIN,
            "CREATE FUNCTION z.f(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret 31417'; END $$",
            "CREATE VIEW z.t AS SELECT z.f(x) AS x, t FROM z.plain",
        ],
        copied=FAILED.format("P0001"),
        live=VIEW,
    ),
    "partitioned": Case(
        [
            "CREATE TABLE z.t (x int, t text) PARTITION BY LIST (t)",
            "CREATE TABLE z.a PARTITION OF z.t FOR VALUES IN ('a')",
            "CREATE TABLE z.b PARTITION OF z.t FOR VALUES IN ('b')",
            f"INSERT INTO z.t {ROWS}",
        ]
    ),
    "inherited": Case(
        [
            f"CREATE TABLE z.t AS {ROWS} LIMIT 1",
            "CREATE TABLE z.more () INHERITS (z.t)",
            "INSERT INTO z.more VALUES (2, 'a'), (3, 'b')",
        ]
    ),
    "foreign": Case(
        [*SERVER, "CREATE FOREIGN TABLE z.t (x int, t text) SERVER z_none"], copied=FAILED.format("55000"), live=FOREIGN
    ),
    "foreign part": Case(
        [f"CREATE TABLE z.t AS {ROWS}", *SERVER, "CREATE FOREIGN TABLE z.part () INHERITS (z.t) SERVER z_none"],
        copied=FAILED.format("55000"),
        live="has a part that is a foreign table, so it cannot stay live",
    ),
    "stored generated column": Case(
        [
            "CREATE TABLE z.t (y int, x int GENERATED ALWAYS AS (y - 1) STORED, t text)",
            "INSERT INTO z.t (y, t) VALUES (2, 'a'), (3, 'a'), (4, 'b')",
        ]
    ),
    "virtual generated column": Case(
        [
            "CREATE TABLE z.t (y int, x int GENERATED ALWAYS AS (y - 1) VIRTUAL, t text)",
            "INSERT INTO z.t (y, t) VALUES (2, 'a'), (3, 'a'), (4, 'b')",
        ],
        live="column x: is computed when it is read",
    ),
    "identity column": Case(
        [
            "CREATE TABLE z.t (x int GENERATED BY DEFAULT AS IDENTITY, t text)",
            "INSERT INTO z.t (t) VALUES ('a'), ('a'), ('b')",
        ]
    ),
    "dropped column": Case([f"CREATE TABLE z.t AS {ROWS}", "ALTER TABLE z.t ADD y int", "ALTER TABLE z.t DROP y"]),
    "name with dots and capitals": Case([f'CREATE TABLE z."T.1" AS {ROWS}'], 'z."T.1"'),
    "name with quotes": Case([f'CREATE TABLE z."a""b" AS {ROWS}'], 'z."a""b"'),
    "name with spaces": Case([f'CREATE TABLE z." a b " AS {ROWS}'], "z. a b "),
    "name that is not ASCII": Case([f'CREATE TABLE z."Bevölkerung 人口" AS {ROWS}'], "z.Bevölkerung 人口"),
    "name that the database cannot spell": Case([], "z.人口", "does not exist", "does not exist", connection="latin"),
    "sequence": Case(["CREATE SEQUENCE z.t"], copied="does not exist", live="does not exist"),
    "no columns": Case(["CREATE TABLE z.t ()"], copied="does not exist", live="does not exist"),
    "no right to it": Case(
        [f"CREATE TABLE z.t AS {ROWS}", *READER],
        copied="the connection may not read it",
        live="the connection may not read it",
        connection="reader",
    ),
    "view on what may not be read": Case(
        [
            PLAIN,
            "CREATE VIEW z.t WITH (security_invoker) AS SELECT * FROM z.plain",
            *READER,
            "GRANT SELECT ON z.t TO z_reader",
        ],
        copied=FAILED.format("42501"),
        live=VIEW,
        connection="reader",
    ),
    "policy that hides rows": Case(
        [
            f"CREATE TABLE z.t AS {ROWS}",
            "ALTER TABLE z.t ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY few ON z.t USING (x > 1)",
            *READER,
            "GRANT SELECT ON z.t TO z_reader",
        ],
        copied="has a row security policy",
        live="has a row security policy",
        connection="reader",
    ),
}


@each_way
@pytest.mark.parametrize("case", RELATIONS.values(), ids=RELATIONS.keys())
def test_every_kind_of_table(near: Tables, server: str, case: Case, live) -> None:
    if case.connection != "latin":
        run(server, *case.statements)
    found = take(near, case.table, [X, Column("t", Kind.CATEGORY, categories=AB)], live=live, of=case.connection)
    told = case.live if live else case.copied
    if told is None:
        assert found == [Moments(3, 6, 14), (2, 1, 0)]
    else:
        assert told in str(found)
        assert "31417" not in str(found)


def test_a_temporary_table_belongs_to_its_session(near: Tables, server: str) -> None:
    url = make_url(server).set(database="relations").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE passing AS SELECT 1 AS x")
        row = connection.execute("SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'passing'")
        ((schema,),) = row.fetchall()
        for live in (False, True):
            assert "is a temporary table" in str(take(near, f"{schema}.passing", [X], live=live))
            assert "does not exist" in str(take(near, "passing", [X], live=live))


UUIDS = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"
TEXT_TYPES = ["text", "varchar(9)", "bpchar", "char(4)", '"char"', "name", "z.citext", "z.layers", "z.mood"]
NO_TEXTS = ["json", "jsonb", "text[]", "bytea", "tsvector", "int", "date", "z.pair"]


@pytest.mark.parametrize("live", [False, True])
def test_every_type_of_text(near: Tables, server: str, live) -> None:
    columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate([*TEXT_TYPES, *NO_TEXTS]))
    rows = [
        ", ".join([str(x), f"'{UUIDS[text == 'b']}'", *[f"'{text}'"] * len(TEXT_TYPES)])
        for x, text in enumerate("aab", 1)
    ]
    run(
        server,
        *TYPES,
        f"CREATE TABLE z.t (x int, u uuid, {columns})",
        *(f"INSERT INTO z.t VALUES ({row})" for row in rows),  # noqa: S608
    )
    fine, refused = (
        [Column(f"c{i}", Kind.CATEGORY, categories=AB) for i, kind in enumerate([*TEXT_TYPES, *NO_TEXTS]) if kind in of]
        for of in (TEXT_TYPES, NO_TEXTS)
    )
    found = take(near, "z.t", [X, *fine, Column("u", Kind.CATEGORY, categories=UUIDS)], live=live)
    assert found == [Moments(3, 6, 14), *[(2, 1, 0)] * (len(fine) + 1)]
    told = take(near, "z.t", refused, live=live)
    assert told == "; ".join(f"column {column.name}: must be of a text type" for column in refused)


UNIT_TYPES = {
    "smallint": ("1", "2"),
    "numeric": ("1.0", "1.5", "1.00"),  # two texts of one unit
    "numeric(6, 2)": ("1", "1.5", "1.00"),
    "oid": ("1", "2"),
    "boolean": ("true", "false"),
    "uuid": UUIDS,
    "date": ("2020-01-01", "infinity"),
    "time": ("10:00", "11:00"),
    "timestamp": ("2020-01-01 10:00", "-infinity"),
    "timestamptz": ("2020-01-01 10:00+00", "2020-01-01 10:00+01", "2020-01-01 12:00+02"),
    "bytea": (r"\x00", r"\xff"),
    "bit(3)": ("101", "111"),
    "varbit": ("101", "1011"),
    "inet": ("10.0.0.1", "10.0.0.1/8"),
    "cidr": ("10.0.0.0/8", "10.0.0.0/16"),
    "macaddr": ("08:00:2b:01:02:03", "08:00:2b:01:02:04", "08002b:010203"),
    "macaddr8": ("08:00:2b:01:02:03:04:05", "08:00:2b:01:02:03:04:06"),
    "varchar(9)": ("1", "2"),
    "char(4)": ("1", "2", "1  "),
    "z.citext": ("a", "A"),
    "z.layers": ("a", "b"),
    "z.mood": ("a", "b"),
}
NO_UNITS = {
    "float8": "1",
    "money": "1",
    "interval": "1 day",
    "timetz": "10:00+01",
    "json": "1",
    "jsonb": "1",
    "int[]": "{1}",
    "int4range": "[1,2]",
    "point": "(1,2)",
    "tsvector": "a",
    "pg_lsn": "0/1",
    "z.pair": "(1,2)",
}


@pytest.mark.slow
@pytest.mark.parametrize("live", [False, True])
def test_every_type_of_a_unit(near: Tables, server: str, live) -> None:
    columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate({**UNIT_TYPES, **NO_UNITS}))
    rows = []
    for x in (1, 2, 3):
        units = [(of[0], of[-1] if len(of) > 2 else of[0], of[1])[x - 1] for of in UNIT_TYPES.values()]
        rows.append(", ".join([str(x), *(f"'{value}'" for value in [*units, *NO_UNITS.values()])]))
    run(server, *TYPES, f"CREATE TABLE z.t (x int, {columns})", *(f"INSERT INTO z.t VALUES ({row})" for row in rows))  # noqa: S608
    for i, kind in enumerate(UNIT_TYPES):
        assert take(near, "z.t", [X], live=live, units=Units(f"c{i}", 2)) == [Moments(3, 6, 14)], kind
        told = take(near, "z.t", [X], live=live, units=Units(f"c{i}", 1))
        assert str(told).startswith(f"column c{i}: 1 unit has more than 1 rows"), kind
    for i, kind in enumerate(NO_UNITS, len(UNIT_TYPES)):
        told = take(near, "z.t", [X], live=live, units=Units(f"c{i}", 3))
        assert str(told).startswith(f"column c{i}: cannot identify units: use a column of"), kind


def test_texts_of_another_encoding(near: Tables, server: str) -> None:
    run(
        server,
        "CREATE TABLE z.t (x int, t text)",
        "INSERT INTO z.t VALUES (1, 'a'), (2, 'a'), (3, U&'\\00e9')",
        database="latin",
    )
    for categories, counts in ((("a",), (2, 1)), (("a", "é"), (2, 1, 0)), (("a", "人"), (2, 0, 1))):
        column = Column("t", Kind.CATEGORY, categories=categories)
        assert take(near, "z.t", [X, column], live=False, of="latin") == [Moments(3, 6, 14), counts]
        found = take(near, "z.t", [X, column], live=True, of="latin")
        if categories == ("a",):
            assert found == [Moments(3, 6, 14), counts]
        else:
            assert "cannot stay live in a database that is not in UTF-8" in str(found)
    unknown = Column("人口", Kind.INTEGER, X.bounds)
    for live in (False, True):
        told = take(near, "z.t", [X, unknown], live=live, of="latin")
        assert told == "column 人口: does not exist, or the connection may not read it"
