"""Sessions: one transaction each, over a Core connection. Who gets a `ReadSession` cannot write."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVarTuple

from sqlalchemy import Connection, Delete, Insert, Row, Select, Update
from sqlalchemy.sql.selectable import TypedReturnsRows

Ts = TypeVarTuple("Ts")


class Session:
    """What both kinds of session can do: read, and all of it as of one transaction.

    Values go by the name of the statement's parameter. A statement is built once, when its module is imported, so that
    SQLAlchemy compiles it once.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """The connection below, for what looks at the schema itself."""
        return self._connection

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`: which of two spellings of a statement to run."""
        return self._connection.dialect.name

    def row(self, query: Select[*Ts], **parameters: object) -> Row[*Ts] | None:
        """The first row that the query finds, or None."""
        return self._connection.execute(query, parameters).first()

    def rows(self, query: Select[*Ts], **parameters: object) -> Sequence[Row[*Ts]]:
        """Every row that the query finds."""
        return self._connection.execute(query, parameters).all()


class ReadSession(Session):
    """Reads of one snapshot: what commits meanwhile is not seen, and the database refuses every write."""

    __slots__ = ()


class WriteSession(Session):
    """Reads and writes of one transaction, which is lost unless `commit()` returns."""

    __slots__ = ()

    def change(self, statement: Insert | Update | Delete, **parameters: object) -> int:
        """Run a statement; the number of rows that it changed."""
        return self._connection.execute(statement, parameters).rowcount

    def change_each(self, statement: Insert, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once for each set of parameters."""
        if rows:
            self._connection.execute(statement, rows)

    def change_returning(self, statement: TypedReturnsRows[*Ts], **parameters: object) -> Row[*Ts] | None:
        """Run a statement with RETURNING that concerns one row; that row, or None where it changed none."""
        return self._connection.execute(statement, parameters).first()

    def commit(self) -> None:
        """Make it durable, and end the session. Until this has returned, nothing of it may be shown to anybody."""
        try:
            self._connection.commit()
        except BaseException:
            self._connection.invalidate()  # on SQLite the transaction would go on, and keep the lock, in the pool
            raise
        self._connection.close()  # a statement after the commit would belong to no transaction
