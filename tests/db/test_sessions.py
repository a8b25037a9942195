from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import DBAPIError, ResourceClosedError

from app.db import tables
from app.db.connection_limits import REQUEST_THREADS, Limits
from app.db.database import Database, ReadSession, WriteSession
from app.db.repositories import principals
from app.db.session import Session
from app.errors import UnavailableError

DIGEST = b"a" * 32


def insert(transaction: WriteSession, name: str = "ada", digest: bytes = DIGEST) -> None:
    principals.insert_principal(transaction, name, "analyst", digest, "2026-01-01T00:00:00.000000Z")


def exists(database: Database, name: str = "ada") -> bool:
    with database.read() as session:
        return principals.find_by_name(session, name) is not None


def test_what_is_not_committed_is_rolled_back(database: Database) -> None:
    with database.write() as transaction:
        insert(transaction)
    assert not exists(database)


def test_what_raises_is_rolled_back(database: Database) -> None:
    def fail() -> None:
        with database.write() as transaction:
            insert(transaction)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert not exists(database)


def test_what_is_committed_stays_though_the_block_raises_later(database: Database) -> None:
    def fail_late() -> None:
        with database.write() as transaction:
            insert(transaction)
            transaction.commit()
            raise LookupError

    with pytest.raises(LookupError):
        fail_late()
    assert exists(database)


def test_nothing_can_follow_the_commit(database: Database) -> None:
    with database.write() as transaction:
        insert(transaction)
        transaction.commit()
        with pytest.raises(ResourceClosedError):
            insert(transaction, "bob", b"b" * 32)
    assert not exists(database, "bob")


def test_a_read_session_has_nothing_to_write_with(database: Database) -> None:
    with database.read() as session, database.write() as transaction:
        assert isinstance(session, ReadSession)
        assert isinstance(transaction, WriteSession)
        assert not isinstance(transaction, ReadSession)
    assert set(vars(ReadSession)) - set(vars(Session)) <= {"__firstlineno__", "__static_attributes__"}


def test_the_database_refuses_to_write_in_a_read_session(database: Database) -> None:
    def write() -> None:
        with database.read() as session:
            session.connection.execute(update(tables.principals).values(role="admin"))

    with pytest.raises((DBAPIError, UnavailableError)) as refused:
        write()
    cause = refused.value.__cause__ if isinstance(refused.value, UnavailableError) else refused.value
    assert "read" in str(cause)


def test_a_read_session_is_one_snapshot(database: Database) -> None:
    with database.read() as session:
        assert principals.find_by_name(session, "ada") is None
        with database.write() as transaction:
            insert(transaction)
            transaction.commit()
        assert principals.find_by_name(session, "ada") is None
    assert exists(database)


def test_a_connection_that_was_read_from_is_written_with_as_ever(database_url: str) -> None:
    database = Database(database_url, Limits(connections=1))
    for name, digest in (("ada", DIGEST), ("bob", b"b" * 32)):
        assert not exists(database, name)
        with database.write() as transaction:
            if database.dialect == "postgresql":
                isolation = transaction.connection.execute(text("SHOW transaction_isolation")).scalar_one()
                assert isolation == "read committed"
            insert(transaction, name, digest)
            transaction.commit()
        assert exists(database, name)
    database.close()


def test_the_directory_of_a_sqlite_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = Database("sqlite:///var/deep/ledger.sqlite3")
    monkeypatch.chdir("/")  # the path was taken from where the service was started
    with database.read() as session:
        session.connection.execute(text("SELECT 1"))
    database.close()
    assert (tmp_path / "var" / "deep" / "ledger.sqlite3").exists()


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:ledger?mode=memory&cache=shared&uri=true",
        "sqlite:///ledger.sqlite3?mode=ro",
        "mysql://root:secret@localhost/ledger",
        "postgresql+asyncpg://root:secret@localhost/ledger",
        "postgresql://root:secret@localhost:port/ledger",
        "secret",
        "",
    ],
)
def test_other_urls_are_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(ValueError, match=r"sqlite|URL") as refused:
        Database(url)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_each_spelling_of_a_postgres_url_works(postgres_server: str, scheme: str) -> None:
    database = Database(postgres_server.replace("postgresql", scheme, 1))
    with database.read() as session:
        assert session.dialect == "postgresql"
        assert session.connection.connection.driver_connection.info.server_version > 0
    database.close()


def test_postgres_is_told_every_limit(postgres_server: str) -> None:
    limits = Limits(lock_seconds=1.5, statement_seconds=2.5, idle_seconds=3.5)
    database = Database(f"{postgres_server}&options=-c%20lock_timeout%3D7s&application_name=other", limits)
    with database.read() as session:
        shown = {
            name: session.connection.execute(text(f"SHOW {name}")).scalar_one()
            for name in (
                "statement_timeout",
                "idle_in_transaction_session_timeout",
                "lock_timeout",
                "application_name",
                "transaction_isolation",
                "transaction_read_only",
            )
        }
    database.close()
    assert shown == {
        "statement_timeout": "2500ms",
        "idle_in_transaction_session_timeout": "3500ms",
        "lock_timeout": "7s",  # the operator's URL wins
        "application_name": "other",
        "transaction_isolation": "repeatable read",
        "transaction_read_only": "on",
    }


def test_every_thread_that_serves_has_a_connection_and_no_more_are_made(database_url: str) -> None:
    limits = Limits(queue_seconds=0.1)
    assert limits.connections > REQUEST_THREADS
    database = Database(database_url, limits)
    with ExitStack() as sessions:
        for _ in range(limits.connections):
            sessions.enter_context(database.read()).connection.execute(text("SELECT 1"))
        with pytest.raises(UnavailableError):
            sessions.enter_context(database.read())
    database.close()


def test_a_database_that_is_read_as_it_is(database: Database, database_url: str) -> None:
    as_it_is = Database(database_url, as_it_is=True)
    with as_it_is.read() as session:
        assert not principals.has_principals(session)
        with pytest.raises(DBAPIError):
            session.connection.execute(text("DELETE FROM principals"))
    for changing in (as_it_is.write, as_it_is.migrating):
        with pytest.raises(AssertionError, match="for reading only"), changing():
            pass
    as_it_is.close()
