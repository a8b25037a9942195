"""Sessions: one transaction each, over a Core connection. Who gets a `ReadSession` cannot write."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Update
from sqlalchemy.exc import ResourceClosedError

from app.db.clock import NOW_IN
from app.db.compiled_statements import Query, Statement, compile_statement


class Session:
    """What both kinds of session can do: read, and all of it as of one transaction.

    Values go by the name of the statement's parameter. A statement is built once, when its module is imported, and
    compiled once for each dialect. Rows are named tuples.
    """

    __slots__ = ("_connection", "_cursor", "_ended", "_time")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        if not connection.in_transaction():
            connection.begin()  # Core does so before its own first statement, and else has nothing to commit
        self._cursor = connection.connection.cursor()
        self._time: str | None = None
        self._ended = False

    def end(self) -> None:
        """Refuse every further statement: it would belong to no transaction, or to another's."""
        self._ended = True

    @property
    def connection(self) -> Connection:
        """The connection below, for what looks at the schema itself."""
        return self._connection

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`: which of two spellings of a statement to run."""
        return self._connection.dialect.name

    def time(self) -> str:
        """The time by the database's clock, the same for all processes, when the session first asked for it.

        Who must not be told a time before it had a lock asks after it has it.
        """
        if self._time is None:
            self._time = self.row(NOW_IN[self.dialect]).time
        return self._time

    def row(self, query: Query, **parameters: object) -> Any:  # noqa: ANN401 - a named tuple, or None
        """The first row that the query finds, or None."""
        return next(iter(self._run(query, parameters)), None)

    def rows(self, query: Query, **parameters: object) -> list[Any]:
        """Every row that the query finds."""
        return self._run(query, parameters)

    def _run(self, statement: Statement, parameters: Mapping[str, object]) -> list[Any]:
        if self._ended:
            raise ResourceClosedError("the session has ended")
        return compile_statement(statement, self._connection.dialect, parameters).run(
            self._connection, self._cursor, parameters
        )


class ReadSession(Session):
    """Reads of one snapshot: what commits meanwhile is not seen, and the database refuses every write."""

    __slots__ = ()


class WriteSession(Session):
    """Reads and writes of one transaction, which is lost unless `commit()` returns."""

    __slots__ = ()

    def change(self, statement: Insert | Update | Delete, **parameters: object) -> int:
        """Run a statement; the number of rows that it changed."""
        self._run(statement, parameters)
        changed: int = self._cursor.rowcount
        return changed

    def change_returning(self, statement: Insert | Update | Delete, **parameters: object) -> Any:  # noqa: ANN401 - as row
        """Run a statement with RETURNING that concerns one row; that row, or None where it changed none."""
        return next(iter(self._run(statement, parameters)), None)

    def commit(self) -> None:
        """Make it durable, and end the session. Until this has returned, nothing of it may be shown to anybody."""
        try:
            self._connection.commit()
        except BaseException:
            self._connection.invalidate()  # on SQLite the transaction would go on, and keep the lock, in the pool
            raise
        self.end()
