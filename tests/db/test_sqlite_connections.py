"""What SQLite promises of each connection, with the library in use and with one that may not keep a write-ahead log."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DatabaseError, OperationalError

from app.db.connection_limits import Limits
from app.db.database import Database, Session
from app.db.dialects import sqlite_connections, sqlite_library
from app.db.dialects.sqlite import Sqlite
from app.db.schema_migration import is_current, migrate
from app.errors import UnavailableError

FULL, EXTRA = 2, 3
DENY, OF_TRANSACTIONS = 1, 22  # of SQLite's authorizer


def pragmas(session: Session) -> dict[str, object]:
    names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "query_only")
    return {name: session.connection.execute(text(f"PRAGMA {name}")).scalar_one() for name in names}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3", Limits(lock_seconds=0.25))
    migrate(database)
    yield database
    database.close()


def test_every_pooled_connection_has_its_pragmas(opened: Database) -> None:
    promised = {"journal_mode": "wal", "synchronous": FULL, "foreign_keys": 1, "busy_timeout": 250}
    for _ in range(2):  # fresh ones, then the same from the pool
        with ExitStack() as sessions:
            readers = [sessions.enter_context(opened.read()) for _ in range(Limits().connections)]
            assert [pragmas(reader) for reader in readers] == [promised | {"query_only": 1}] * len(readers)
        with opened.write() as writer:
            # Its begin is tried again and again until the limit; in a log nothing else of it waits.
            assert pragmas(writer) == promised | {"query_only": 0, "busy_timeout": 5}


def test_a_connection_whose_transaction_cannot_end_is_not_used_again(opened: Database) -> None:
    session = ExitStack()
    driver: Any = session.enter_context(opened.read()).connection.connection.driver_connection
    driver.set_authorizer(lambda action, *_: DENY if action == OF_TRANSACTIONS else 0)
    with pytest.raises(DatabaseError, match="not authorized"):
        session.close()
    for open_session in (opened.read, opened.read_without_transaction):
        with open_session() as reader:
            assert pragmas(reader)["query_only"] == 1
            assert reader.connection.connection.driver_connection is not driver


def test_an_old_library_keeps_a_rollback_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_library, "has_safe_wal", lambda _: False)
    monkeypatch.setattr(sqlite_library, "load_library", lambda: sqlite3)
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3", Limits(lock_seconds=0.25))
    migrate(database)
    promised = {"journal_mode": "delete", "synchronous": EXTRA, "foreign_keys": 1, "busy_timeout": 250}
    with database.write() as writer:
        assert pragmas(writer) == promised | {"query_only": 0}
    with database.read() as reader:
        assert pragmas(reader) == promised | {"query_only": 1}
        assert reader.connection.execute(text("SELECT sqlite_version()")).scalar_one() == sqlite3.sqlite_version
    assert is_current(database)
    database.close()


def test_under_a_rollback_journal_a_reader_may_hold_a_commit_up_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_library, "has_safe_wal", lambda _: False)
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3", Limits(lock_seconds=0.1))
    with database.write() as transaction:
        transaction.connection.execute(text("CREATE TABLE t (x INTEGER)"))
        transaction.commit()

    def commit_beside_a_reader() -> None:
        with database.read() as reader, database.write() as transaction:
            reader.connection.execute(text("SELECT * FROM t"))
            transaction.connection.execute(text("INSERT INTO t VALUES (1)"))
            transaction.commit()

    with pytest.raises(UnavailableError):
        commit_beside_a_reader()
    with database.read() as reader:
        assert reader.connection.execute(text("SELECT count(*) FROM t")).scalar_one() == 0
    with database.write() as transaction:  # and the writer is as good as before
        transaction.connection.execute(text("INSERT INTO t VALUES (1)"))
        transaction.commit()
    database.close()


def test_who_opens_the_file_waits_while_another_process_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another journal is refused while anybody writes, and SQLite itself does not wait."""
    path = tmp_path / "ledger.sqlite3"
    other = sqlite_library.load_library().connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            other.execute("ROLLBACK")

    monkeypatch.setattr(sqlite_connections.time, "sleep", wait)
    opened = sqlite_connections.connect(path, 60)
    assert opened.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert len(waits) == 2
    opened.close()
    other.close()


class FailingConnection:
    """Fails at everything but a PRAGMA that sets something, and not because of a lock."""

    def __init__(self) -> None:
        self.dialect = create_engine("sqlite://", module=sqlite_library.load_library()).dialect
        self.connection = SimpleNamespace(cursor=lambda: self, dbapi_connection=None)

    def execute(self, *_: object) -> None:
        raise sqlite_library.load_library().OperationalError("disk I/O error")


def test_what_is_no_lock_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    home = Sqlite(make_url(f"sqlite:///{tmp_path}/ledger.sqlite3"), Limits(lock_seconds=60))
    with pytest.raises(OperationalError):
        home._begin(FailingConnection())  # type: ignore[arg-type]
    with pytest.raises(sqlite_library.load_library().OperationalError):
        sqlite_connections._set_journal(FailingConnection(), "wal", 60)
    assert waits == []


def test_the_newer_library_is_used() -> None:
    assert sqlite_library.load_library().sqlite_version_info >= sqlite3.sqlite_version_info


@pytest.mark.parametrize(
    ("version", "trusted"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 0), False),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)
def test_only_corrected_versions_are_trusted_with_a_log(version: tuple[int, int, int], *, trusted: bool) -> None:
    assert sqlite_library.has_safe_wal(version) is trusted
