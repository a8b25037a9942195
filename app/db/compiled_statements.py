"""Statements of SQLAlchemy Core, compiled once for a dialect and from then on run by the driver alone.

Executing a Core statement costs some fifty microseconds beyond the driver's work, compiled or not, and a release runs a
dozen of them while others wait for its transaction. What is kept of Core is its language: both dialects' spelling, the
types' conversions, and its errors.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from sqlalchemy import Connection, Delete, Insert, LargeBinary, Select, Update
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

Query: TypeAlias = Select[*tuple[Any, ...]]
Statement: TypeAlias = Query | Insert | Update | Delete


class CompiledStatement:
    """One statement in one dialect: its text, the order of its parameters, and what their types do to values."""

    __slots__ = ("_binds", "_constants", "_fetch", "_make", "_names", "_results", "_text")

    def __init__(self, statement: Statement, dialect: Dialect, parameters: Mapping[str, object]) -> None:
        # As in Core itself, the names that are given decide which columns an INSERT without values() has.
        compiled: Any = statement.compile(dialect=dialect, column_keys=list(parameters))
        self._text: str = compiled.string
        self._names: tuple[str, ...] | None = tuple(compiled.positiontup) if compiled.positional else None
        self._constants = {name: value for name, value in compiled.params.items() if name not in parameters}
        binds = {name: _build_binder(bound.type, dialect) for bound, name in compiled.bind_names.items()}
        keys: Iterable[Any] = binds if self._names is None else range(len(self._names))  # as the driver wants them
        named = zip(keys, self._names or binds, strict=True)
        self._binds = [(key, process) for key, name in named if (process := binds[name]) is not None]
        columns = list(getattr(statement, "exported_columns", ()))
        results = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        self._fetch = bool(columns)  # to ask the driver costs more
        self._results = [(index, process) for index, process in enumerate(results) if process is not None]
        names = [column.key for column in columns]
        row_type: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - one a statement
        self._make = row_type._make

    def run(self, connection: Connection, cursor: Any, parameters: Mapping[str, object]) -> list[Any]:  # noqa: ANN401
        """Run it on a driver's cursor of the connection; the rows that it gives, as its columns name and type them.

        All of them are fetched: SQLite would keep the statement and its snapshot open until its end is reached.

        Raises:
            DBAPIError: the driver's error, as Core would raise it; a connection that broke is invalidated.
        """
        values = {**self._constants, **parameters} if self._constants else parameters
        bound: Any = {**values} if self._names is None else [values[name] for name in self._names]
        for key, process in self._binds:
            bound[key] = process(bound[key])
        fetched = _execute(connection, cursor, self._text, bound, fetch=self._fetch)
        return [self._make(self._converted(row) if self._results else row) for row in fetched]

    def _converted(self, fetched: tuple[Any, ...]) -> list[Any]:
        row = list(fetched)
        for index, process in self._results:
            row[index] = process(row[index])
        return row


def _build_binder(type_: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What turns a value of the type into one that the driver binds."""
    if dialect.name == "sqlite" and isinstance(type_, LargeBinary):
        return _to_byte_array
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _to_byte_array(value: bytes | None) -> bytearray | None:
    """SQLite's driver looks for an adapter of bytes, which takes as long as five values; of these it does not."""
    return None if value is None else bytearray(value)


def execute_text(connection: Connection, text: str) -> None:
    """Run a text that gives no rows by the driver alone: Core's way takes ten times as long.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    _execute(connection, connection.connection.cursor(), text, (), fetch=False)


def run_script(connection: Connection, text: str) -> None:
    """As `execute_text`, of several statements in one round trip, which Postgres cannot prepare.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    _execute(connection, connection.connection.cursor(), text, None, fetch=False, prepare=False)


def _execute(
    connection: Connection,
    cursor: Any,  # noqa: ANN401 - either driver's
    text: str,
    bound: Any,  # noqa: ANN401
    *,
    fetch: bool,
    **options: bool,
) -> list[tuple[Any, ...]]:
    """Run a text on a driver's cursor of the connection; its rows as the driver gives them, if it has any to fetch.

    Raises:
        DBAPIError: the driver's error, as Core would raise it; a connection that broke is invalidated.
    """
    driver_error = connection.dialect.loaded_dbapi.Error
    try:
        cursor.execute(text, bound, **options)
        return cursor.fetchall() if fetch else []
    except driver_error as error:
        broken = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
        if broken:
            connection.invalidate(error)
        raise DBAPIError.instance(
            text,
            None,  # a value would be shown with it
            error,
            driver_error,
            hide_parameters=True,
            connection_invalidated=broken,
            dialect=connection.dialect,
        ) from error


_prepared: dict[tuple[str, Statement], CompiledStatement] = {}


def compile_statement(statement: Statement, dialect: Dialect, parameters: Mapping[str, object]) -> CompiledStatement:
    """A statement as it was prepared when it first ran. Its parameters have the same names every time."""
    # Statements are few, made when their modules are imported, and equal only to themselves.
    key = (dialect.name, statement)
    found = _prepared.get(key)
    if found is None:
        found = _prepared[key] = CompiledStatement(statement, dialect, parameters)
    return found
