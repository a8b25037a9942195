"""Sessions: one transaction each, on a Core connection. Code with a `ReadSession` cannot write."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import ResourceClosedError

from app.db.clock import NOW_IN
from app.db.combined_changes import Change, CombinedChanges
from app.db.compiled_statements import Query, Statement, compile_statement, reading_ahead


class Session:
    """The common part of both kinds of session: reads in one transaction.

    Values are passed by the names of the statement's parameters. A statement is built once, when its module is
    imported, and compiled once for each dialect. Rows are named tuples.
    """

    __slots__ = ("_connection", "_cursor", "_ended", "_time")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        if not connection.in_transaction():
            connection.begin()  # Core does so before its first statement; otherwise it commits nothing
        self._cursor = connection.connection.cursor()
        self._time: str | None = None
        self._ended = False

    def end(self) -> None:
        """End the session. Later statements raise an error: they would run in another transaction or in none."""
        self._ended = True

    @property
    def connection(self) -> Connection:
        """The underlying connection, for code that inspects the schema."""
        return self._connection

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`, to choose between two forms of a statement."""
        return self._connection.dialect.name

    def time(self) -> str:
        """Return the time of the database's clock, which all processes share. Later calls return the same time.

        If the time must not be earlier than the moment of getting a lock, call this after getting the lock.
        """
        if self._time is None:
            self._time = self.row(NOW_IN[self.dialect]).time
        return self._time

    def row(self, query: Query, **parameters: object) -> Any:  # noqa: ANN401 - a named tuple, or None
        """The first row that the query finds, or None."""
        return next(iter(self._run(query, parameters)), None)

    def rows(self, query: Query, **parameters: object) -> list[Any]:
        """All rows that the query finds."""
        return self._run(query, parameters)

    @contextmanager
    def reading_ahead(self) -> Iterator[Callable[..., Callable[[], list[Any]]]]:
        """Let Postgres find rows while the caller works on others. SQLite finds them when they are waited for.

        Yields a function like `rows` that returns at once: a function that waits for the rows.
        """
        if self.dialect == "sqlite":
            yield lambda query, **parameters: partial(self.rows, query, **parameters)
            return
        with reading_ahead(self._connection) as start:
            yield start

    def _require_open(self) -> None:
        if self._ended:
            raise ResourceClosedError("the session has ended")

    def _run(self, statement: Statement, parameters: Mapping[str, object]) -> list[Any]:
        self._require_open()
        return compile_statement(statement, self._connection.dialect, parameters).run(
            self._connection, self._cursor, parameters
        )


class ReadSession(Session):
    """Reads from one snapshot. Later commits are not visible, and the database rejects every write."""

    __slots__ = ()


class WriteSession(Session):
    """Reads and writes in one transaction, which is rolled back unless `commit()` returns."""

    __slots__ = ("_combined", "_sent")

    def __init__(self, connection: Connection, *, combines: bool = False) -> None:
        super().__init__(connection)
        self._combined = CombinedChanges(connection, self._cursor) if combines else None
        self._sent: list[Callable[[], int]] = []

    def _run(self, statement: Statement, parameters: Mapping[str, object]) -> list[Any]:
        if self._combined is not None:
            self._combined.send()  # the statement may depend on them
        return super()._run(statement, parameters)

    def send(self, statement: Change, **parameters: object) -> Callable[[], int]:
        """Run a statement; if the session combines changes, only when its result or a later statement needs it.

        Returns:
            A function that returns the number of rows that the statement changed.
        """
        if self._combined is not None:
            self._require_open()
            return self._combined.add(statement, parameters).count
        self._run(statement, parameters)
        return partial(int, self._cursor.rowcount)

    def send_returning(self, statement: Change, **parameters: object) -> Callable[[], Any]:
        """Run a statement with RETURNING for one row, as `send`; the function returns the row, or None."""
        if self._combined is not None:
            self._require_open()
            return self._combined.add(statement, parameters).row
        row = next(iter(self._run(statement, parameters)), None)
        return lambda: row

    def change(self, statement: Change, **parameters: object) -> int:
        """Run a statement and return the number of rows that it changed."""
        return self.send(statement, **parameters)()

    def change_one(self, statement: Change, **parameters: object) -> None:
        """Send a statement that must change exactly one row, as `require_changes` checks later."""
        self._sent.append(self.send(statement, **parameters))

    def require_changes(self) -> None:
        """Wait until everything sent has run.

        Raises:
            AssertionError: a statement of `change_one` changed no row, or several.
        """
        if self._combined is not None:
            self._combined.send()
        sent, self._sent = self._sent, []
        if any(changed() != 1 for changed in sent):
            raise AssertionError("a row of the ledger was changed without its lock")

    def change_returning(self, statement: Change, **parameters: object) -> Any:  # noqa: ANN401 - as row
        """Run a statement with RETURNING for one row, and return that row, or None if it changed none."""
        return self.send_returning(statement, **parameters)()

    def commit(self) -> None:
        """Commit and end the session. Do not show the result to anybody before this has returned."""
        self.require_changes()
        try:
            self._connection.commit()
        except BaseException:
            self._connection.invalidate()  # otherwise on SQLite the transaction would keep its lock in the pool
            raise
        self.end()
