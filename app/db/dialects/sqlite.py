"""The ledger in SQLite: one writer at a time, and readers that never wait when there is a write-ahead log.

The threads of a process share one writer connection in turn. Processes share the file's lock, which a write transaction
takes when it begins.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, LifoQueue
from threading import Semaphore
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError

from app import private_files
from app.db.compiled_statements import execute_text
from app.db.connection_limits import Limits
from app.db.dialects import sqlite_library
from app.db.dialects.sqlite_connections import connect, connect_as_it_is, is_busy
from app.db.fifo_lock import FifoLock
from app.errors import UnavailableError


class Sqlite:
    """Connections to one file, with one transaction each.

    Args:
        url: the database's URL.
        limits: limits on connections and waits.
        as_it_is: read only, and create or change nothing, not even a directory or the journal mode.

    Raises:
        ValueError: the URL does not name a file. A database in memory would lose every debit, and each connection would
            have its own ledger.
    """

    dialect = "sqlite"

    def __init__(self, url: URL, limits: Limits, *, as_it_is: bool = False) -> None:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:") or url.query:
            raise ValueError(
                "a SQLite ledger is a file: sqlite:///relative/path or sqlite:////absolute/path, no options"
            )
        path = Path(url.database).absolute()
        reader = partial(connect, path, limits.lock_seconds, read_only=True)
        if as_it_is:
            if not path.exists():
                hint = "run this in the directory from which the service starts, or set SNAPLEDGER_DATABASE_URL"
                raise ValueError(f"there is no ledger at {path}: {hint}")
            reader = partial(connect_as_it_is, path, limits.lock_seconds)
        else:
            _make_private(path)
        self._limits = limits
        self._write_lock = FifoLock()
        self.spare_sessions = Semaphore(1)  # there is only one writer
        self._writer = _engine(partial(connect, path, limits.lock_seconds, polls=True))
        self._reader = _engine(reader)
        # Open connections, or None for one that is not open yet. SQLAlchemy's pool would take as long as two reads.
        self._kept_writer: Connection | None = None
        self._readers: LifoQueue[Connection | None] = LifoQueue()
        for _ in range(limits.connections):
            self._readers.put(None)
        self._migrator = _engine(partial(connect, path, limits.migration_seconds, foreign_keys=False))

    def take_reader(self) -> Connection:
        """Return a connection for reading, without a transaction: each statement has its own snapshot.

        Raises:
            UnavailableError: none became free in time.
        """
        try:
            kept = self._readers.get(timeout=self._limits.queue_seconds)
        except Empty:
            raise UnavailableError("no database connection became free in time") from None
        try:
            return kept or self._reader.connect()
        except BaseException:
            self._readers.put(None)
            raise

    def return_reader(self, connection: Connection) -> None:
        """Let others use a connection of `take_reader`, unless it is broken or its transaction could not be ended."""
        kept = None
        try:
            if not (connection.closed or connection.invalidated) and not _is_in_transaction(connection):
                kept = connection
            else:
                connection.close()
        finally:
            self._readers.put(kept)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open one snapshot, which begins with the first statement."""
        connection = self.take_reader()
        try:
            execute_text(connection, "BEGIN")
            try:
                yield connection
            finally:
                if not (connection.closed or connection.invalidated):
                    execute_text(connection, "ROLLBACK")
        finally:
            self.return_reader(connection)

    @contextmanager
    def writing(self, dataset_id: int | None = None) -> Iterator[Connection]:
        """Open the write transaction; only one can be open in all threads and processes.

        If `dataset_id` is given, the transaction has begun its first part, as `begin_part`.
        """
        if not self._write_lock.acquire(self._limits.queue_seconds):
            raise UnavailableError("too many transactions wait to write")
        try:
            connection = self._kept_writer or self._writer.connect()
            self._kept_writer = None
            try:
                connection.begin()  # so that the rollback is one, whatever fails
                self._begin(connection)
                if dataset_id is not None:
                    self.begin_part(connection, dataset_id)
                yield connection
            finally:
                self._kept_writer = _was_rolled_back(connection)
        finally:
            self._write_lock.release()

    @staticmethod
    def begin_part(connection: Connection, dataset_id: int) -> bool:  # noqa: ARG004 - Postgres's
        """Begin a part of a write transaction that can be rolled back alone. The transaction locks every account."""
        execute_text(connection, "SAVEPOINT part")
        return True

    @staticmethod
    def is_intact(connection: Connection) -> bool:
        """Return whether a transaction is open: SQLite rolls one back when a disk is full."""
        return _is_in_transaction(connection)

    def _begin(self, connection: Connection) -> None:
        """Begin the transaction when no other process writes.

        SQLite polls for a lock at growing intervals, soon only ten times a second. If another process writes almost
        without pauses, a poll hardly ever hits a pause. So SQLite's own timeout is short, and this loop tries again.
        """
        deadline = time.monotonic() + self._limits.lock_seconds
        while True:
            try:
                return execute_text(connection, "BEGIN IMMEDIATE")
            except OperationalError as error:
                if not is_busy(error.orig) or time.monotonic() > deadline:
                    raise

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a write transaction that may rebuild tables; all foreign keys are checked before its commit."""
        with self._migrator.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise RuntimeError(f"the migration would leave a row of {broken[0]} that refers to nothing")
            connection.commit()

    def close(self) -> None:
        """Close the unused connections."""
        idle = [self._readers.get() for _ in range(self._readers.qsize())]
        for connection in idle:
            if connection is not None:
                connection.close()
            self._readers.put(None)
        if self._kept_writer is not None:
            self._kept_writer.close()
            self._kept_writer = None


def _make_private(path: Path) -> None:
    """Create the file and make it private. SQLite gives its journals the same file mode."""
    private_files.make_private_directory(path.parent)
    private_files.make_private_file(path)
    for suffix in ("", "-wal", "-shm", "-journal"):
        private_files.narrow(path.with_name(path.name + suffix))


def _is_in_transaction(connection: Connection) -> bool:
    driver: Any = connection.connection.driver_connection
    return bool(driver.in_transaction)


def _was_rolled_back(connection: Connection) -> Connection | None:
    """Roll back and return the connection, or close it and return None if it is broken."""
    if not (connection.closed or connection.invalidated):
        try:
            connection.rollback()  # does nothing after a commit
        except DBAPIError:
            connection.invalidate()
        else:
            return connection
    connection.close()
    return None


def _engine(creator: Any) -> Engine:  # noqa: ANN401 - a maker of either driver's connections
    return create_engine(
        "sqlite://",
        module=sqlite_library.load_library(),
        creator=creator,
        poolclass=NullPool,
        hide_parameters=True,
        use_insertmanyvalues=False,
        query_cache_size=500,
    )
