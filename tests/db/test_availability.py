"""A database that is busy, full or away is an UnavailableError; a defect of ours is not."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from service_world import becomes
from sqlalchemy import Connection, event, make_url, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.pool import Pool

from app.db.connection_limits import Limits
from app.db.database import Database, WriteSession
from app.db.dialects import sqlite, sqlite_library
from app.db.repositories import principals
from app.errors import UnavailableError

# For waits that cannot end well: a call that finds what it needs waits for nothing, however slow the machine is.
SHORT = Limits(connections=2, queue_seconds=0.1, lock_seconds=0.1)
SECRET = "told-nobody"  # noqa: S105 - a name to look for in messages


def insert(transaction: WriteSession, name: str = SECRET, digest: bytes = b"s" * 32) -> None:
    principals.insert_principal(transaction, name, "analyst", digest, "2026-01-01T00:00:00.000000Z")


def write(database: Database) -> None:
    with database.write() as transaction:
        insert(transaction)
        transaction.commit()


def read(database: Database) -> principals.Principal | None:
    with database.read() as session:
        return principals.find_by_name(session, SECRET)


@pytest.fixture
def impatient(database_url: str) -> Iterator[Database]:
    database = Database(database_url, SHORT)
    yield database
    database.close()


@pytest.fixture
def impatient_sqlite(tmp_path: Path, sqlite_template: Path) -> Iterator[Database]:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(sqlite_template.read_bytes())
    database = Database(f"sqlite:///{path}", SHORT)
    yield database
    database.close()


on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


def unavailable(call: Callable[[], object]) -> UnavailableError:
    with pytest.raises(UnavailableError) as raised:
        call()
    assert SECRET not in str(raised.value)
    assert SECRET not in str(raised.value.__cause__)
    return raised.value


def test_another_process_has_the_write_lock(tmp_path: Path, impatient_sqlite: Database) -> None:
    other = sqlite_library.load_library().connect(tmp_path / "ledger.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    unavailable(lambda: write(impatient_sqlite))
    assert read(impatient_sqlite) is None  # readers wait for no writer
    other.execute("ROLLBACK")
    other.close()
    write(impatient_sqlite)
    assert read(impatient_sqlite) is not None


def test_a_writer_waits_while_another_process_has_the_write_lock(
    tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses its `BEGIN` again and again; the caller gets a transaction once the lock is free."""
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(sqlite_template.read_bytes())
    other = sqlite_library.load_library().connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = wal")
    other.execute("BEGIN IMMEDIATE")
    refusals = []
    begin = sqlite.execute_text

    def count_refusals(connection: Connection, statement: str) -> None:
        try:
            begin(connection, statement)
        except OperationalError:
            refusals.append(statement)
            if len(refusals) == 2:
                other.execute("ROLLBACK")
            raise

    monkeypatch.setattr(sqlite, "execute_text", count_refusals)
    patient = Database(f"sqlite:///{path}")
    write(patient)
    assert refusals == ["BEGIN IMMEDIATE"] * 2
    patient.close()
    other.close()


def test_the_queue_before_the_one_writer_is_too_long(impatient_sqlite: Database) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with impatient_sqlite.write():
            entered.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(60)
    unavailable(lambda: write(impatient_sqlite))
    leave.set()
    holder.join()
    write(impatient_sqlite)


def test_no_reader_comes_free(impatient: Database) -> None:
    with impatient.read(), impatient.read():
        unavailable(lambda: read(impatient))
    assert read(impatient) is None


def test_the_disk_is_full(impatient_sqlite: Database) -> None:
    def fill() -> None:
        with impatient_sqlite.write() as transaction:
            connection = transaction.connection
            pages = connection.execute(text("PRAGMA page_count")).scalar_one()
            connection.execute(text(f"PRAGMA max_page_count = {pages}"))
            for number in range(10_000):
                insert(transaction, f"{SECRET}-{number}", number.to_bytes(32))
            transaction.commit()

    unavailable(fill)
    assert read(impatient_sqlite) is None


def test_the_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").write_bytes(b"no database at all" * 1000)
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3", SHORT)
    unavailable(lambda: read(database))
    unavailable(lambda: write(database))


@on_postgres
def test_another_transaction_has_the_row(impatient: Database) -> None:
    write(impatient)
    with impatient.write() as first:
        first.connection.execute(text("SELECT 1 FROM principals FOR UPDATE"))

        def second() -> None:
            with impatient.write() as transaction:
                transaction.connection.execute(text("SELECT 1 FROM principals FOR UPDATE"))

        unavailable(second)


@on_postgres
def test_a_statement_takes_too_long(database_url: str) -> None:
    hasty = Database(database_url, Limits(statement_seconds=0.3))

    def sleep() -> None:
        with hasty.read() as session:
            session.connection.execute(text("SELECT pg_sleep(60)"))

    unavailable(sleep)
    hasty.close()


@on_postgres
def test_a_transaction_idles_too_long(database: Database, database_url: str) -> None:
    hasty = Database(database_url, Limits(idle_seconds=0.1))

    def is_ended() -> bool:
        """Whether the server has ended the one connection of `hasty`."""
        asked = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND datname = :name"
        with database.read() as session:
            return session.connection.execute(text(asked), {"name": make_url(database_url).database}).scalar_one() == 0

    def idle() -> None:
        with hasty.write() as transaction:
            insert(transaction)
            assert becomes(is_ended)
            transaction.commit()

    def idle_and_go_on() -> None:
        with hasty.write() as transaction:
            insert(transaction)
            assert becomes(is_ended)
            insert(transaction, "another", b"t" * 32)

    unavailable(idle)
    unavailable(idle_and_go_on)
    assert read(database) is None
    hasty.close()


@on_postgres
def test_the_server_became_a_standby(database: Database) -> None:
    def write_there() -> None:
        with database.write() as transaction:
            transaction.connection.execute(text("SET TRANSACTION READ ONLY"))
            insert(transaction)

    unavailable(write_there)


def _end_connections(url: str) -> None:
    """What a restart of the server does to every connection."""
    name = make_url(url).database
    with psycopg.connect(make_url(url).set(database="postgres").render_as_string(hide_password=False)) as connection:
        connection.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [name])


@on_postgres
def test_the_server_goes_away_in_a_transaction(database: Database, database_url: str) -> None:
    def write_meanwhile() -> None:
        with database.write() as transaction:
            insert(transaction)
            _end_connections(database_url)
            insert(transaction, "another", b"t" * 32)

    def commit_meanwhile() -> None:
        with database.write() as transaction:
            insert(transaction)
            _end_connections(database_url)
            transaction.commit()

    unavailable(write_meanwhile)
    unavailable(commit_meanwhile)
    assert read(database) is None


@on_postgres
def test_a_restarted_server_is_no_error_to_the_next_caller(database: Database, database_url: str) -> None:
    with database.read(), database.read() as session:
        session.connection.execute(text("SELECT 1"))
    _end_connections(database_url)
    write(database)
    _end_connections(database_url)
    assert read(database) is not None


@on_postgres
def test_a_server_that_ends_new_connections_too_is_away(database: Database, database_url: str) -> None:
    write(database)
    _end_connections(database_url)

    def end(*_: object) -> None:
        _end_connections(database_url)

    event.listen(Pool, "connect", end)
    try:
        unavailable(lambda: read(database))
    finally:
        event.remove(Pool, "connect", end)
    assert read(database) is not None


@on_postgres
def test_a_connection_that_the_driver_gave_up_is_no_error_to_the_next_caller(database: Database) -> None:
    with database.read() as session:
        driver_s = session.connection.connection.driver_connection
    driver_s.close()
    write(database)
    assert read(database) is not None


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://nobody:told-nobody@127.0.0.1:1/ledger",
        "postgresql://nobody@/ledger?host=/nowhere",
    ],
)
def test_no_server_listens(url: str) -> None:
    database = Database(url)
    unavailable(lambda: read(database))
    unavailable(lambda: write(database))
    database.close()


def test_the_database_does_not_exist(postgres_server: str) -> None:
    database = Database(make_url(postgres_server).set(database="nowhere").render_as_string(hide_password=False))
    unavailable(lambda: read(database))
    database.close()


def test_defects_of_ours_go_up_as_they_are(database: Database) -> None:
    def run(statement: str) -> None:
        with database.write() as transaction:
            transaction.connection.execute(text(statement), {})

    for statement in ("SELECT 1 FROM no_such_table", "SELEC 1", "SELECT no_such_column FROM principals"):
        with pytest.raises(DBAPIError):
            run(statement)
    with pytest.raises(IntegrityError):
        run(
            "INSERT INTO datasets (name, description, owner_id, columns, n, rows_per_unit, created_at, state) "
            "VALUES ('a', '', 99, '{}', 2, 1, '', 'open')"
        )
    write(database)


def test_messages_hold_no_parameters(database: Database) -> None:
    def twice() -> None:
        with database.write() as transaction:
            insert(transaction, "first")
            insert(transaction, SECRET)  # the same digest

    with pytest.raises(IntegrityError) as raised:
        twice()
    assert SECRET not in str(raised.value)
