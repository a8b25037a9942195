"""Sessions: one transaction each, on a Core connection. Code with a `ReadSession` cannot write.

`app.db.database` opens them, and repeats a transaction after a serialization failure.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import Connection, Delete, Insert, Update
from sqlalchemy.exc import ResourceClosedError

from app.db.clock import NOW_IN
from app.db.compiled_statements import Query, Statement, compile_statement, reading_ahead
from app.db.deferred_changes import UNLOCKED
from app.db.row_changes import Row, RowChange, RowKey, write_rows

Change: TypeAlias = Insert | Update | Delete


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
    def cursor(self) -> Any:  # noqa: ANN401 - the driver's
        """The driver's cursor of the connection."""
        return self._cursor

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`, to choose between two forms of a statement."""
        return self._connection.dialect.name

    def time(self) -> str:
        """Return the time of the database's clock, which all processes share. Later calls return the same time.

        If the time must not be earlier than the moment of getting a lock, call this after getting the lock.
        """
        if self._time is None:
            self._time = self.row_apart(NOW_IN[self.dialect]).time
        return self._time

    def row(self, query: Query, **parameters: object) -> Any:  # noqa: ANN401 - a named tuple, or None
        """The first row that the query finds, or None."""
        return next(iter(self._run(query, parameters)), None)

    def rows(self, query: Query, **parameters: object) -> list[Any]:
        """All rows that the query finds."""
        return self._run(query, parameters)

    def row_apart(self, query: Query, **parameters: object) -> Any:  # noqa: ANN401 - as row
        """As `row`, of rows that this transaction and its group have not changed."""
        return next(iter(self.rows_apart(query, **parameters)), None)

    def rows_apart(self, query: Query, **parameters: object) -> list[Any]:
        """As `rows`, of rows that this transaction and its group have not changed."""
        self._require_open()
        return self._execute(query, parameters)

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
        return self._execute(statement, parameters)

    def _execute(self, statement: Statement, parameters: Mapping[str, object]) -> list[Any]:
        return compile_statement(statement, self._connection.dialect, parameters).run(
            self._connection, self._cursor, parameters
        )


class ReadSession(Session):
    """Reads from one snapshot. Later commits are not visible, and the database rejects every write."""

    __slots__ = ()


class WriteSession(Session):
    """Reads and writes in one transaction, which is rolled back unless `commit()` returns.

    Attributes:
        held: what the transaction knows of rows that it has locked, as they will be after its changes. It is empty
            after any statement that may change such a row.
    """

    __slots__ = ("_unlocked", "held")

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.held: dict[Hashable, Any] = {}
        self._unlocked = False

    def locks(self, dataset_id: int) -> bool:  # noqa: ARG002 - that of a group does
        """Return whether the transaction has locked a dataset's account when it began."""
        return False

    def put(self, change: RowChange, row: Row) -> None:
        """Write a row, in a group together with the rows of the group's other transactions.

        A row that could not be written without its lock is a defect, which `require_changes` reports.
        """
        (written,) = write_rows(self._connection, self._cursor, {change: [row]})
        self._unlocked |= written != 1 and not change.on_conflict

    def claim(self, change: RowChange, row: Row) -> bool:
        """Write a row that another transaction may have written, and return whether this one did.

        In a group the answer may come too early: if it was wrong, all transactions of the group are repeated.
        """
        (written,) = write_rows(self._connection, self._cursor, {change: [row]})
        return written == 1

    def find_pending(self, change: RowChange, key: RowKey) -> Row | None:  # noqa: ARG002 - that of a group does
        """Return the row with this key that is not written yet; None if there is none."""
        return None

    def list_pending_keys(self, change: RowChange) -> Iterator[RowKey]:  # noqa: ARG002 - as above
        """Return the keys of the rows that are not written yet."""
        return iter(())

    def change(self, statement: Change, **parameters: object) -> int:
        """Run a statement and return the number of rows that it changed."""
        self.held.clear()
        self._run(statement, parameters)
        return int(self._cursor.rowcount)

    def change_one(self, statement: Change, **parameters: object) -> None:
        """Run a statement that must change exactly one row, as `require_changes` checks later."""
        self._unlocked |= self.change(statement, **parameters) != 1

    def change_returning(self, statement: Change, **parameters: object) -> Any:  # noqa: ANN401 - as row
        """Run a statement with RETURNING for one row, and return that row, or None if it changed none."""
        self.held.clear()
        return next(iter(self._run(statement, parameters)), None)

    def require_changes(self) -> None:
        """Check that every row that must be written was written.

        Raises:
            AssertionError: a row was not.
        """
        if self._unlocked:
            raise AssertionError(UNLOCKED)

    def commit(self) -> None:
        """Commit and end the session. Do not show the result to anybody before this has returned."""
        self.require_changes()
        try:
            self._connection.commit()
        except BaseException:
            self._connection.invalidate()  # otherwise on SQLite the transaction would keep its lock in the pool
            raise
        self.end()
