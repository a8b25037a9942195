"""SQLite as the ledger's home: one writer at a time, and readers that wait for nobody under a write-ahead log.

The threads of a process take turns at its single writer connection, and processes at the file's lock, which a write
transaction takes when it begins.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError

from app import private_files
from app.db.compiled_statements import execute_text
from app.db.connection_limits import Limits
from app.db.dialects import sqlite_connections
from app.db.dialects.sqlite_connections import connect, connect_as_it_is, is_busy
from app.db.fifo_lock import FifoLock
from app.errors import UnavailableError


class Sqlite:
    """Connections in a transaction each, to one file.

    Args:
        as_it_is: only read, and make or change nothing, not even a directory or the journal's mode.

    Raises:
        ValueError: the URL names no file. A database in memory would forget every debit, and each connection would have
            a ledger of its own.
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
        self._turns = FifoLock()
        self._writer = _engine(partial(connect, path, limits.lock_seconds, polls=True))
        self._reader = _engine(reader)
        # Kept as they are, or None where there is none yet: a pool's check-in and check-out take as long as two reads.
        self._kept_writer: Connection | None = None
        self._readers: LifoQueue[Connection | None] = LifoQueue()
        for _ in range(limits.connections):
            self._readers.put(None)
        self._migrator = _engine(partial(connect, path, limits.migration_seconds, foreign_keys=False))

    @contextmanager
    def reading(self, *, begun: bool = True) -> Iterator[Connection]:
        """A snapshot, from the first statement on; of each statement by itself where no transaction is begun."""
        try:
            connection = self._readers.get(timeout=self._limits.queue_seconds)
        except Empty:
            raise UnavailableError("no database connection became free in time") from None
        kept = None
        try:
            connection = connection or self._reader.connect()
            if begun:
                execute_text(connection, "BEGIN")
            try:
                yield connection
            finally:
                if not (connection.closed or connection.invalidated):
                    if begun:
                        execute_text(connection, "ROLLBACK")
                    kept = connection
        finally:
            if kept is None and connection is not None:
                connection.close()
            self._readers.put(kept)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The one write transaction of all threads and processes."""
        if not self._turns.take(self._limits.queue_seconds):
            raise UnavailableError("too many transactions wait to write")
        try:
            connection = self._kept_writer or self._writer.connect()
            self._kept_writer = None
            try:
                self._begin(connection)
                yield connection
            finally:
                self._kept_writer = _was_rolled_back(connection)
        finally:
            self._turns.pass_on()

    def _begin(self, connection: Connection) -> None:
        """Begin when no other process writes.

        SQLite waits for a lock by looking ever more seldom, soon only ten times a second; beside a process that hardly
        pauses, its look would hardly ever fall into a pause. So the writer's patience is short, and begins anew.
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
        """A write transaction that may rebuild a table which others refer to; in the end all must refer to rows."""
        with self._migrator.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise RuntimeError(f"the migration would leave a row of {broken[0]} that refers to nothing")
            connection.commit()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        idle = [self._readers.get() for _ in range(self._readers.qsize())]
        for connection in idle:
            if connection is not None:
                connection.close()
            self._readers.put(None)
        if self._kept_writer is not None:
            self._kept_writer.close()
            self._kept_writer = None


def _make_private(path: Path) -> None:
    """Make the file, and see that nobody else may read it; SQLite gives its journals the file's own mode."""
    private_files.make_private_directory(path.parent)
    private_files.make_private_file(path)
    for suffix in ("", "-wal", "-shm", "-journal"):
        private_files.narrow(path.with_name(path.name + suffix))


def _was_rolled_back(connection: Connection) -> Connection | None:
    """The connection without a transaction; None where it is of no use any more."""
    if not (connection.closed or connection.invalidated):
        try:
            connection.rollback()  # nothing, after a commit
        except DBAPIError:
            connection.invalidate()
        else:
            return connection
    connection.close()
    return None


def _engine(creator: Any) -> Engine:  # noqa: ANN401 - a maker of either driver's connections
    return create_engine(
        "sqlite://",
        module=sqlite_connections.load_library(),
        creator=creator,
        poolclass=NullPool,
        hide_parameters=True,
        use_insertmanyvalues=False,
        query_cache_size=500,
    )
