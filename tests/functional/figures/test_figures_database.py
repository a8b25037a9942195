"""The figures' database has what is published, whatever fails on the way, and nothing twice."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from lengths import ON_POSTGRES_SLOWLY
from prometheus_client import REGISTRY
from psycopg import sql
from pydantic import SecretStr
from service_world import Service, Table, becomes, serving
from sqlalchemy import make_url, update

from app.config import Settings
from app.db import tables
from app.db.figure_writers import CollectionWriter, FigureWriter
from app.db.figures_database import FiguresDatabase
from app.db.figures_schema import ForeignSchemaError, view_name
from app.ledger.outboxes import Outbox
from app.services.context import Services
from app.services.operations import startup
from app.services.operations.figure_copies import prepare, write_pending
from app.services.operations.figure_mirror import FigureMirror

SCHEMA, ROLE = "published", "figures_reader"
COLUMNS = {"mass": {"kind": "integer", "bounds": [0, 100], "unit": "g"}, "kind": {"kind": "boolean"}}
CONTENT = b"mass,kind\n" + b"".join(b"%d,%d\n" % (i % 101, i % 2) for i in range(200))
_numbers = itertools.count()


@pytest.fixture
def target_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database for figures."""
    name = f"figures_{next(_numbers)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def target(target_url: str) -> Iterator[FiguresDatabase]:
    opened = FiguresDatabase(target_url, SCHEMA, ROLE)
    yield opened
    opened.close()


@pytest.fixture
def alone(database_url: str, tmp_path: Path) -> Iterator[Service]:
    """A service whose figures nobody else publishes."""
    with serving(tmp_path, database_url) as service:
        yield service


@pytest.fixture
def services(alone: Service) -> Iterator[Services]:
    """The same ledger in this process."""
    opened = startup.open_services(Settings(database_url=alone.database_url, data_dir=alone.data))
    yield opened
    startup.close_services(opened)


@pytest.fixture
def table(alone: Service) -> Table:
    return alone.table(COLUMNS, CONTENT, limit="10", allowance="9")


def publish(table: Table, name: str, release: str, **more: Any) -> None:
    answer = table.owner.put(f"{table.path}/figures/{name}", json={"title": name, "release": release, **more})
    assert answer.status_code in {200, 201}, answer.text


def connect(url: str) -> "psycopg.Connection[Any]":
    """A connection that finds the figures' schema, as a dashboard's does."""
    return psycopg.connect(url, autocommit=True, options=f"-c search_path={SCHEMA}")


def copied(url: str) -> dict[str, Any]:
    """What a reader finds: each figure by its name, with its version and values; nothing before there are tables."""
    with connect(url) as connection, suppress(psycopg.errors.UndefinedTable):
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.autocommit = False  # both tables in one snapshot
        found: dict[str, Any] = {
            f"{dataset}/{figure}": (version, [])
            for dataset, figure, version in connection.execute("SELECT dataset, figure, version FROM figures")
        }
        rows = connection.execute("SELECT dataset, figure, value FROM figure_rows ORDER BY dataset, figure, position")
        for dataset, figure, value in rows:
            found[f"{dataset}/{figure}"][1].append(value)
        return found
    return {}


def copied_board(url: str) -> list[tuple[Any, ...]]:
    """What a reader finds of collections."""
    with connect(url) as connection:
        connection.execute(f"SET ROLE {ROLE}")
        return connection.execute("SELECT * FROM collection_figures ORDER BY collection, position").fetchall()


def published(service: Service) -> dict[str, Any]:
    """The same as the service answers it."""
    listed = service.admin.get("/v1/figures", params={"limit": 1000}).json()["figures"]
    return {
        f"{each['dataset']}/{each['figure']}": (
            each["version"],
            [
                row["value"]
                for row in service.admin.get(f"/v1/datasets/{each['dataset']}/figures/{each['figure']}").json()["rows"]
            ],
        )
        for each in listed
    }


def test_a_service_keeps_it_equal_to_what_is_published(tmp_path: Path, target_url: str) -> None:
    url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, url, FIGURES_DATABASE_URL=target_url) as service:
        table = service.table(COLUMNS, CONTENT)
        mean = table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")
        counts = table.fresh({"kind": "histogram", "column": "kind"}, epsilon="1")
        publish(table, "mass", mean["id"], note="All of them.")
        publish(table, "kinds", counts["id"])
        board = {"title": "Board", "figures": [{"dataset": table.name, "figure": each} for each in ("kinds", "mass")]}
        for name in ("board", "gone"):
            assert table.owner.put(f"/v1/collections/{name}", json=board).status_code == 201
        assert becomes(lambda: copied(target_url) == published(service))
        expected = [("board", 1, table.name, "kinds"), ("board", 2, table.name, "mass")]
        assert becomes(lambda: copied_board(target_url) == [*expected, *(("gone", *row[1:]) for row in expected)])
        with connect(target_url) as reader:
            reader.execute(f"SET ROLE {ROLE}")
            view = sql.SQL("SELECT * FROM {} WHERE figure = 'mass'").format(sql.Identifier(view_name(table.name)))
            (row,) = reader.execute(view)
            assert row[:2] == (table.name, "mass")
            assert "1.000000000" in map(str, row)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute("SELECT * FROM state")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute("DELETE FROM figures")
        assert table.owner.delete(f"{table.path}/figures/mass").status_code == 204
        assert table.owner.delete("/v1/collections/gone").status_code == 204
        assert becomes(lambda: copied(target_url) == published(service))
        assert list(copied(target_url)) == [f"{table.name}/kinds"]
        assert becomes(lambda: copied_board(target_url) == expected[:1])


@pytest.mark.slow
def test_collections_catch_up_after_either_side_was_away(
    services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
    publish(table, "mass", release)
    publish(table, "other", release)

    def put(*names: str) -> list[tuple[Any, ...]]:
        members = [{"dataset": table.name, "figure": each} for each in names]
        assert table.owner.put("/v1/collections/board", json={"title": "Board", "figures": members}).is_success
        return [("board", position, table.name, each) for position, each in enumerate(names, 1)]

    expected = put("mass", "other")
    prepare(services, target)
    assert (write_pending(services, target), write_pending(services, target)) == (3, 0)
    assert copied_board(target_url) == expected
    with connect(target_url) as other:  # as if it had been restored, and changed
        other.execute("UPDATE collection_state SET change = 7")
        other.execute("DELETE FROM collection_members")
        other.execute("INSERT INTO collection_state VALUES ('gone', 7)")
        other.execute("INSERT INTO collections VALUES ('gone', '', '', now())")
    prepare(services, target)
    assert write_pending(services, target) == 1
    assert copied_board(target_url) == expected
    with connect(target_url) as other:
        assert other.execute("SELECT collection FROM collections").fetchall() == [("board",)]
    put("other")
    with services.database.write() as transaction:
        transaction.change(update(tables.collections).values(title="lie"))
        transaction.commit()
    assert write_pending(services, target) == 0  # what does not match its seal is not copied
    assert copied_board(target_url) == expected


@ON_POSTGRES_SLOWLY
def test_it_catches_up_after_either_side_was_away(
    alone: Service, services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    releases = [table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"] for _ in range(2)]
    away = FiguresDatabase("postgresql://127.0.0.1:1/nobody", SCHEMA, ROLE)
    publish(table, "mass", releases[0])
    with pytest.raises(psycopg.OperationalError):
        prepare(services, away)
    prepare(services, target)
    assert write_pending(services, target) == 1
    assert write_pending(services, target) == 0
    publish(table, "mass", releases[1])
    publish(table, "other", releases[1])
    assert write_pending(services, target) == 2
    assert copied(target_url) == published(alone)
    with connect(target_url) as other:  # as if it had been restored, made by a version before, and changed
        other.execute("ALTER TABLE figures ADD COLUMN published_by text NOT NULL DEFAULT 'ada'")
        other.execute("UPDATE state SET change = 1 WHERE figure = 'mass'")
        other.execute("UPDATE figures SET version = 1 WHERE figure = 'mass'")
        other.execute("INSERT INTO state VALUES ('gone', 'gone', 7)")
        other.execute("INSERT INTO figures VALUES ('gone', 'gone', 1, '', '', now())")
    prepare(services, target)
    write_pending(services, target)
    assert copied(target_url) == published(alone)
    with connect(target_url) as other:
        other.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    prepare(services, target)
    assert write_pending(services, target) == 2
    assert copied(target_url) == published(alone)


class _Crash(BaseException):
    """The end of the process at some step."""


def changes_of(kind: str, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    """Change a figure, or a collection of two, with each step; yields what a reader is to find of collections."""
    releases = [table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"] for _ in range(2)]
    for name in ("mass", "other"):
        publish(table, name, releases[0])
    for number in itertools.count(1):
        if kind == "figure":
            publish(table, "mass", releases[number % 2])
            yield []
        elif number % 3 == 0:
            assert table.owner.delete("/v1/collections/board").status_code == 204
            yield []
        else:
            names = ("mass", "other") if number % 2 else ("other", "mass")
            figures = [{"dataset": table.name, "figure": each} for each in names]
            body = {"title": f"Board {number}", "figures": figures}
            assert table.owner.put("/v1/collections/board", json=body).is_success
            yield [("board", place, table.name, each) for place, each in enumerate(names, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["figure", "collection"])
def test_a_crash_at_any_step_loses_nothing_and_writes_nothing_twice(
    kind: str,
    alone: Service,
    services: Services,
    table: Table,
    target: FiguresDatabase,
    target_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare(services, target)
    execute, set_written = psycopg.Connection.execute, Outbox.set_written
    changes = changes_of(kind, table)
    next(changes)
    write_pending(services, target)
    left = 0

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise _Crash

    def counted_execute(*asked: Any, **more: Any) -> Any:
        step()
        return execute(*asked, **more)

    def counted_set(*asked: Any) -> None:
        step()
        set_written(*asked)
        step()

    for crash_at, boards in enumerate(changes, 1):
        left = crash_at
        with monkeypatch.context() as patched:
            patched.setattr(psycopg.Connection, "execute", counted_execute)
            patched.setattr(Outbox, "set_written", counted_set)
            try:
                write_pending(services, target)
                break
            except _Crash:
                target.close()
        write_pending(services, target)
        assert write_pending(services, target) == 0
        assert (copied(target_url), copied_board(target_url)) == (published(alone), boards), crash_at
    assert crash_at > 6
    assert (copied(target_url), copied_board(target_url)) == (published(alone), boards)


@pytest.mark.slow
def test_several_processes_write_at_once(
    alone: Service, services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    prepare(services, target)
    releases = [table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"] for _ in range(2)]
    done, faults = threading.Event(), []

    def write() -> None:
        own = FiguresDatabase(target_url, SCHEMA, ROLE)
        try:
            while not done.is_set():
                write_pending(services, own)
        except Exception as error:  # noqa: BLE001 - told by the test
            faults.append(error)
        finally:
            own.close()

    writers = [threading.Thread(target=write) for _ in range(2)]
    for each in writers:
        each.start()
    for version in range(12):
        publish(table, f"mass-{version % 3}", releases[version // 3 % 2])
    table.owner.delete(f"{table.path}/figures/mass-1")
    done.set()
    for each in writers:
        each.join()
    write_pending(services, target)
    assert faults == []
    assert copied(target_url) == published(alone)


@ON_POSTGRES_SLOWLY
def test_a_changed_figure_is_not_copied_and_others_are(
    alone: Service, services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    prepare(services, target)
    release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
    publish(table, "first", release)
    publish(table, "second", release)
    with services.database.write() as transaction:
        named = tables.figure_versions.c.title == "first"
        transaction.change(update(tables.figure_versions).where(named).values(title="lie"))
        transaction.commit()
    assert write_pending(services, target) == 1
    assert list(copied(target_url)) == [f"{table.name}/second"]
    assert alone.admin.get(f"{table.path}/figures/first").status_code == 503


@ON_POSTGRES_SLOWLY
def test_a_figure_that_the_database_cannot_hold_stops_no_other(
    services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    prepare(services, target)
    with connect(target_url) as connection:  # as in a database whose encoding lacks a letter
        connection.execute("CREATE DOMAIN narrow AS text CHECK (VALUE ~ '^[ -~]*$')")
        connection.execute("ALTER TABLE figures ALTER title TYPE narrow")
    release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
    publish(table, "first", release, title="Größe")
    publish(table, "second", release)
    assert write_pending(services, target) == 1
    assert list(copied(target_url)) == [f"{table.name}/second"]


@ON_POSTGRES_SLOWLY
def test_a_reader_of_one_view_gets_no_row_of_another_dataset(
    alone: Service, services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    prepare(services, target)
    for each, name in ((table, "mine"), (alone.table(COLUMNS, CONTENT, limit="10", allowance="9"), "theirs")):
        publish(each, name, each.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"])
    write_pending(services, target)
    seen: list[str | None] = []
    with connect(target_url) as reader:  # a cheap function is called before the view's own condition, if it may be
        reader.add_notice_handler(lambda told: seen.append(told.message_primary))
        body = "BEGIN RAISE NOTICE '%', $1; RETURN true; END"
        reader.execute(
            f"CREATE FUNCTION tell(text) RETURNS boolean COST 0.0001 LANGUAGE plpgsql AS $${body}$$;"
            "SET enable_indexscan = off; SET enable_bitmapscan = off"
        )
        asked = sql.SQL("SELECT figure FROM {} WHERE tell(figure)").format(sql.Identifier(view_name(table.name)))
        assert reader.execute(asked).fetchall() == [("mine",)]
    assert seen == ["mine"]


@pytest.mark.slow
def test_a_copy_from_before_gets_the_columns_that_were_added(
    services: Services, alone: Service, target: FiguresDatabase, target_url: str
) -> None:
    columns = {"day": {"kind": "date", "bounds": ["2024-01-01", "2024-12-31"], "nullable": False}}
    table = alone.table(columns, "day\n" + "2024-07-03\n" * 200, limit="10", allowance="9")
    publish(table, "day", table.fresh({"kind": "mean", "column": "day"}, epsilon="1")["id"])
    prepare(services, target)
    write_pending(services, target)
    view = view_name(table.name)
    added = ["interval_lower_as_date", "interval_upper_as_date", "conditions"]
    with connect(target_url) as other:
        other.execute(sql.SQL("DROP VIEW {}").format(sql.Identifier(view)))
        for name in added:
            other.execute(sql.SQL("ALTER TABLE figure_rows DROP COLUMN {}").format(sql.Identifier(name)))
        text = "CREATE VIEW {} WITH (security_barrier) AS SELECT * FROM figure_rows WHERE dataset = {}"
        other.execute(sql.SQL(text).format(sql.Identifier(view), sql.Literal(table.name)))
        other.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(sql.Identifier(view), sql.Identifier(ROLE)))
        text = "CREATE VIEW of_a_dashboard AS SELECT value, value_as_date FROM {}"
        other.execute(sql.SQL(text).format(sql.Identifier(view)))
    prepare(services, target)
    assert write_pending(services, target) == 1
    assert write_pending(services, target) == 0
    (row,) = alone.admin.get(f"{table.path}/figures/day").json()["rows"]
    with connect(target_url) as reader:
        assert reader.execute("SELECT * FROM of_a_dashboard").fetchall() == [(row["value"], row["value_as_date"])]
        reader.execute(f"SET ROLE {ROLE}")
        asked = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, added)), sql.Identifier(view)
        )
        assert reader.execute(asked).fetchall() == [tuple(row[name] for name in added)]


def test_names_of_views_are_short_and_different() -> None:
    names = [view_name("penguins"), view_name("a" * 63), view_name("a" * 62 + "b")]
    assert names[0] == "figures_of_penguins"
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 63


def test_nobody_can_choose_a_name_whose_view_is_another_datasets() -> None:
    cut = view_name("a" * 63)
    assert view_name(cut.removeprefix("figures_of_")) != cut
    assert len(cut.rpartition("_")[2]) >= 20  # hexadecimal digits: fewer could be found by trying


DAMAGES = [
    ["DROP TABLE figures CASCADE"],
    ["DROP TABLE figure_rows CASCADE"],
    ["DROP TABLE state"],
    ["DROP TABLE collections CASCADE"],
    ["DROP TABLE collection_members CASCADE"],
    ["DROP TABLE snapledger"],
    ["TRUNCATE figures CASCADE"],
    ["DELETE FROM figure_rows WHERE position = 2"],
    ["UPDATE figure_rows SET value = 7"],
    ["UPDATE figures SET title = 'lie'"],
    ["UPDATE collections SET title = 'lie'"],
    ["UPDATE collection_members SET position = position + 10"],
    ["DROP VIEW {view}"],
    ["REVOKE ALL ON {view} FROM figures_reader"],
    ["REASSIGN OWNED BY figures_reader TO CURRENT_USER", "DROP OWNED BY figures_reader"],
    ["ALTER TABLE state DROP COLUMN content", "ALTER TABLE collection_state DROP COLUMN content"],  # an earlier version
]


@pytest.mark.slow
def test_a_copy_that_was_damaged_is_put_right(
    services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    view = sql.Identifier(view_name(table.name))

    def read() -> list[Any]:
        """All that a reader finds."""
        with connect(target_url) as reader:
            reader.execute(f"SET ROLE {ROLE}")
            names = [*map(sql.Identifier, ("figures", "figure_rows", "collections", "collection_figures")), view]
            return [sorted(reader.execute(sql.SQL("SELECT * FROM {}").format(name)).fetchall()) for name in names]

    def write() -> int:
        prepare(services, target)
        return write_pending(services, target)

    publish(table, "kinds", table.fresh({"kind": "histogram", "column": "kind"}, epsilon="1")["id"], note="All.")
    members = [{"dataset": table.name, "figure": "kinds"}]
    assert table.owner.put("/v1/collections/board", json={"title": "Board", "figures": members}).is_success
    assert write() == 2
    expected = read()
    assert [len(rows) for rows in expected] == [1, 3, 1, 1, 3]
    assert write() == 0
    for statements in DAMAGES:
        with connect(target_url) as other:
            for each in statements:
                other.execute(sql.SQL(each).format(view=view))
        write()
        assert read() == expected, statements
        assert write() == 0, statements


@ON_POSTGRES_SLOWLY
def test_a_copy_is_of_one_ledger_and_others_leave_it_alone(
    services: Services, table: Table, target: FiguresDatabase, target_url: str, tmp_path: Path
) -> None:
    publish(table, "mass", table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"])
    prepare(services, target)
    assert write_pending(services, target) == 1
    before = copied(target_url)
    other = startup.open_services(
        Settings(database_url=f"sqlite:///{tmp_path}/other.sqlite3", data_dir=tmp_path / "other")
    )
    try:
        with pytest.raises(ForeignSchemaError):
            prepare(other, target)
        assert copied(target_url) == before
        for occupied in (
            "CREATE TABLE {schema}.figures (published_by text)",
            "CREATE TABLE {schema}.state (name text)",
            "CREATE VIEW {schema}.collections AS SELECT 1 AS one",
        ):
            with connect(target_url) as connection:
                for each in ("DROP SCHEMA {schema} CASCADE", "CREATE SCHEMA {schema}", occupied):
                    connection.execute(sql.SQL(each).format(schema=sql.Identifier(SCHEMA)))
                columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s"
                found = connection.execute(columns, (SCHEMA,)).fetchall()
                with pytest.raises(ForeignSchemaError):
                    prepare(other, target)
                assert connection.execute(columns, (SCHEMA,)).fetchall() == found
    finally:
        startup.close_services(other)


@ON_POSTGRES_SLOWLY
def test_it_may_be_a_schema_that_was_given_to_a_user_who_may_create_no_other(
    services: Services, table: Table, target_url: str
) -> None:
    user = f"writer_{next(_numbers)}"
    with connect(target_url) as connection:
        connection.execute(f"CREATE USER {user}")
        connection.execute(f"CREATE SCHEMA {SCHEMA} AUTHORIZATION {user}")
    given = FiguresDatabase(make_url(target_url).set(username=user).render_as_string(), SCHEMA, f"{user}_reader")
    try:
        publish(table, "mass", table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"])
        prepare(services, given)  # it may create no role either, so that one is missing
        assert write_pending(services, given) == 1
        with connect(target_url) as connection:
            connection.execute(f"CREATE ROLE {user}_reader")
        prepare(services, given)
        with connect(target_url) as reader:
            reader.execute(f"SET ROLE {user}_reader")
            query = sql.SQL("SELECT figure FROM {}").format(sql.Identifier(view_name(table.name)))
            assert reader.execute(query).fetchall() == [("mass",)]
    finally:
        given.close()
        with connect(target_url) as connection:
            connection.execute(f"DROP OWNED BY {user}, {user}_reader")
            connection.execute(f"DROP ROLE {user}, {user}_reader")


@pytest.mark.slow
def test_a_database_with_few_letters_gets_all_figures_but_those_with_others(
    services: Services, table: Table, postgres_server: str
) -> None:
    name = f"figures_{next(_numbers)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        text = "CREATE DATABASE {} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        connection.execute(sql.SQL(text).format(sql.Identifier(name)))
    url = make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    narrow = FiguresDatabase(url, SCHEMA, ROLE)
    try:
        prepare(services, narrow)
        release = table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"]
        publish(table, "first", release, title="Σ")
        publish(table, "second", release, title="Größe")
        assert write_pending(services, narrow) == 1
        assert list(copied(url)) == [f"{table.name}/second"]
    finally:
        narrow.close()
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.slow
def test_what_was_written_of_another_history_is_written_again(
    alone: Service, services: Services, table: Table, target: FiguresDatabase, target_url: str
) -> None:
    """A ledger is restored from its backup, and a figure changes as often as it had before, while the copy is away."""
    publish(table, "mass", table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"])
    members = [{"dataset": table.name, "figure": "mass"}]
    assert table.owner.put("/v1/collections/board", json={"title": "Board", "figures": members}).is_success
    prepare(services, target)
    assert write_pending(services, target) == 2
    facts = {"version": 2, "title": "lost", "note": None, "published_at": "2026-01-31", "changed_at": "2026-01-31"}
    for kind, names in ((FigureWriter, (table.name, "mass")), (CollectionWriter, ("board",))):
        with target.writing(kind, names) as writer:
            writer.replace(2, facts, ())
    publish(table, "mass", table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"])
    assert table.owner.put("/v1/collections/board", json={"title": "New", "figures": members}).is_success
    prepare(services, target)
    assert write_pending(services, target) == 2
    assert copied(target_url) == published(alone)
    assert copied_board(target_url) == [("board", 1, table.name, "mass")]


@ON_POSTGRES_SLOWLY
def test_operators_see_what_is_pending_while_it_is_away(alone: Service, table: Table) -> None:
    publish(table, "mass", table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")["id"])
    away = SecretStr("postgresql://127.0.0.1:1/nobody")
    opened = startup.open_services(
        Settings(database_url=alone.database_url, data_dir=alone.data, figures_database_url=away)
    )
    mirror = FigureMirror(opened)
    try:
        mirror.begin()
        assert becomes(lambda: REGISTRY.get_sample_value("snapledger_figures_pending") == 1)
    finally:
        mirror.end()
        assert becomes(lambda: all(each.name != "figures" for each in threading.enumerate()))
        startup.close_services(opened)
