"""On Postgres a commit waits for the disk, whatever the server, the database, the role or the URL say."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pytest
from command_line import run
from psycopg import sql
from sqlalchemy import Connection, make_url, text

from app.db.database import Database
from app.db.dialects import durability
from app.db.dialects.durability import SynchronousCommit


def administer(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


# The connections to SQLite set `synchronous` themselves (test_sqlite_connections).
pytestmark = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@pytest.fixture
def careless_url(database_url: str) -> str:
    """A database on which everything says that commits need not wait."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        name = sql.Identifier(make_url(database_url).database or "")
        connection.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(name))
    return (
        make_url(database_url)
        .update_query_dict({"options": "-c synchronous_commit=off"})
        .render_as_string(hide_password=False)
    )


def in_force(connection: Connection) -> str:
    return str(connection.execute(text("SHOW synchronous_commit")).scalar_one())


@pytest.mark.parametrize("chosen", ["on", "remote_apply"])
def test_every_transaction_that_writes_waits_for_the_disk(careless_url: str, chosen: SynchronousCommit) -> None:
    database = Database(careless_url, synchronous_commit=chosen)
    with database.read() as session:
        assert in_force(session.connection) == "off"  # for those who write nothing it has no meaning
    for _ in range(8):  # the driver prepares what it runs often
        with database.write() as transaction:
            assert in_force(transaction.connection) == chosen
            transaction.commit()
    with database.write() as transaction:
        transaction.connection.execute(text("SET synchronous_commit = off"))  # as another client of a pooler may do
        transaction.commit()
    with database.write() as transaction:
        assert in_force(transaction.connection) == chosen
        transaction.commit()
    with database.migrating() as connection:
        assert in_force(connection) == chosen
    database.close()


@contextmanager
def server_with(url: str, name: str, value: str) -> Iterator[None]:
    """A setting of the whole server, which takes effect for new connections at once."""

    def becomes(expected: str) -> bool:
        with psycopg.connect(url) as connection:
            return connection.execute(f"SHOW {name}".encode()).fetchone() == (expected,)

    administer(url, f"ALTER SYSTEM SET {name} = {value}", "SELECT pg_reload_conf()")
    try:
        assert any(becomes(value) for _ in range(100))
        yield
    finally:
        administer(url, f"ALTER SYSTEM RESET {name}", "SELECT pg_reload_conf()")
        assert any(becomes("on") for _ in range(100))


@contextmanager
def unlogged(url: str, table: str, _: str) -> Iterator[None]:
    administer(url, f"ALTER TABLE {table} SET UNLOGGED")
    yield


Fault = Callable[[str, str, str], AbstractContextManager[None]]

FAULTS = [
    (server_with, "fsync", "off", "fsync = on"),
    (server_with, "full_page_writes", "off", "full_page_writes = on"),
    (unlogged, "audit", "", "ALTER TABLE audit SET LOGGED"),
]


@pytest.mark.parametrize(("fault", "name", "value", "hint"), FAULTS)
def test_a_server_that_could_lose_debits_is_refused(
    database_url: str, tmp_path: Path, fault: Fault, name: str, value: str, hint: str
) -> None:
    """By what writes, in a line that says what to do; to look at the ledger is still possible."""
    settings = {"DATABASE_URL": database_url, "DATA_DIR": f"{tmp_path}/data"}
    with fault(database_url, name, value):
        for command in (["migrate"], ["serve", "--port", "0"], ["create-key", "somebody", "--role", "admin"]):
            done = run(*command, **settings)
            assert (done.status, done.out) == (1, "")
            assert hint in done.err
            assert len(done.err.splitlines()) == 1
        places = {"DATABASE_URL": f"sqlite:///{tmp_path}/l", "DATA_DIR": f"{tmp_path}/data"}
        moved = run("migrate-to", TARGET_URL=database_url, **places)
        assert (moved.status, hint in moved.err) == (1, True)
        database = Database(database_url)
        with database.read() as session:
            assert hint in str(durability.find_fault(session))
        database.close()
        assert "the ledger's secret cannot be read" in run("ledger", "verify", **settings).err
