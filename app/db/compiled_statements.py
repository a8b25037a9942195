"""SQLAlchemy Core statements that are compiled once per dialect and then run by the driver directly.

Executing a Core statement costs about fifty microseconds more than the driver's own work, even if it is compiled. A
release runs a dozen statements while other requests wait for its transaction. Core still builds the SQL of both
dialects, converts the types and provides the errors.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Connection, Delete, Insert, LargeBinary, Select, Update
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

Query: TypeAlias = Select[*tuple[Any, ...]]
Statement: TypeAlias = Query | Insert | Update | Delete


class CompiledStatement:
    """One statement in one dialect: its text, the order of its parameters, and the conversions of their types."""

    __slots__ = ("_binds", "_constants", "_fetch", "_make", "_names", "_options", "_pick", "_results", "_text")

    def __init__(self, statement: Statement, dialect: Dialect, parameters: Mapping[str, object]) -> None:
        # As in Core, the names of the parameters decide which columns an INSERT without values() has.
        compiled: Any = statement.compile(dialect=dialect, column_keys=list(parameters))
        self._text: str = compiled.string
        self._names: tuple[str, ...] | None = tuple(compiled.positiontup) if compiled.positional else None
        self._pick = None if self._names is None else _build_picker(self._names)
        self._constants = {name: value for name, value in compiled.params.items() if name not in parameters}
        binds = {name: _build_binder(bound.type, dialect) for bound, name in compiled.bind_names.items()}
        keys: Iterable[Any] = binds if self._names is None else range(len(self._names))  # as the driver expects
        named = zip(keys, self._names or binds, strict=True)
        self._binds = [(key, process) for key, name in named if (process := binds[name]) is not None]
        columns = list(getattr(statement, "exported_columns", ()))
        results = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
        self._fetch = bool(columns)  # asking the driver costs more
        self._results = [(index, process) for index, process in enumerate(results) if process is not None]
        names = [column.key for column in columns]
        row_type: Any = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - one a statement
        self._make = row_type._make
        # If psycopg prepared a statement only after some uses, and an earlier one of its pipeline failed, the server
        # would skip the preparation, and psycopg would not know.
        self._options = {"prepare": True} if dialect.name == "postgresql" else {}

    def run(self, connection: Connection, cursor: Any, parameters: Mapping[str, object]) -> list[Any]:  # noqa: ANN401
        """Run the statement on a driver's cursor of the connection and return the rows as named tuples.

        All rows are fetched, because SQLite keeps the statement and its snapshot open until the last row is read.

        Raises:
            DBAPIError: the driver's error, as Core would raise it; a connection that broke is invalidated.
        """
        fetched = _execute(connection, cursor, self._text, self._bind(parameters), fetch=self._fetch, **self._options)
        return [self._make(self._convert(row) if self._results else row) for row in fetched]

    def send(self, connection: Connection, cursor: Any, parameters: Mapping[str, object]) -> None:  # noqa: ANN401
        """Run the statement without reading its rows.

        Raises:
            DBAPIError: as `run`.
        """
        _execute(connection, cursor, self._text, self._bind(parameters), fetch=False, **self._options)

    def read(self, connection: Connection, cursor: Any) -> list[Any]:  # noqa: ANN401
        """Return the rows of a statement that was sent, as named tuples.

        Raises:
            DBAPIError: as `run`, also for an earlier statement of the pipeline.
        """
        with translating(connection):
            fetched = cursor.fetchall()
        return [self._make(self._convert(row) if self._results else row) for row in fetched]

    def _bind(self, parameters: Mapping[str, object]) -> Any:  # noqa: ANN401 - as the driver expects
        values = {**self._constants, **parameters} if self._constants else parameters
        bound: Any = {**values} if self._pick is None else list(self._pick(values))
        for key, process in self._binds:
            bound[key] = process(bound[key])
        return bound

    def _convert(self, fetched: tuple[Any, ...]) -> list[Any]:
        row = list(fetched)
        for index, process in self._results:
            row[index] = process(row[index])
        return row


def _build_binder(type_: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return the function that converts a value of the type for the driver, or None if no conversion is needed."""
    if dialect.name == "sqlite" and isinstance(type_, LargeBinary):
        return _to_byte_array
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _build_picker(names: tuple[str, ...]) -> Callable[[Mapping[str, object]], Iterable[object]]:
    """Return the function that picks the values of these names, in this order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


def _to_byte_array(value: bytes | None) -> bytearray | None:
    """Convert bytes to a bytearray: for `bytes`, SQLite's driver searches for an adapter, which takes longer."""
    return None if value is None else bytearray(value)


def execute_text(connection: Connection, text: str) -> None:
    """Run an SQL text that returns no rows with the driver directly, because Core takes ten times as long.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    _execute(connection, connection.connection.cursor(), text, (), fetch=False)


def run_script(connection: Connection, text: str) -> Any:  # noqa: ANN401 - the driver's cursor
    """Run several statements in one round trip, and return the cursor with the result of the last one.

    Postgres cannot prepare such a text.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    cursor: Any = connection.connection.cursor()
    _execute(connection, cursor, text, None, fetch=False, prepare=False)
    while cursor.nextset():
        pass
    return cursor


def _execute(
    connection: Connection,
    cursor: Any,  # noqa: ANN401 - either driver's
    text: str,
    bound: Any,  # noqa: ANN401
    *,
    fetch: bool,
    **options: bool,
) -> list[tuple[Any, ...]]:
    """Run an SQL text on a driver's cursor of the connection; return the driver's rows if `fetch`, or else no rows.

    Raises:
        DBAPIError: the driver's error, as Core would raise it; a connection that broke is invalidated.
    """
    driver_error = connection.dialect.loaded_dbapi.Error
    try:
        cursor.execute(text, bound, **options)
        return cursor.fetchall() if fetch else []
    except driver_error as error:
        raise _translate(connection, error, text) from error


class Pipeline:
    """Sends statements without waiting for their results, until one has rows. At the end it waits for all.

    Only psycopg has pipelines.

    Raises:
        DBAPIError: at the end, as `CompiledStatement.run` for any statement that failed.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver: Any = connection.connection.driver_connection

    @contextmanager
    def sending(self) -> Iterator["Pipeline"]:
        """Send all statements of the block so."""
        with translating(self._connection), self._driver.pipeline() as self._of_driver:
            yield self

    def count_changed(self, cursor: Any) -> int:  # noqa: ANN401 - psycopg's
        """Wait for the results of all statements, and return the number of rows that one of them changed."""
        if cursor.rowcount < 0:
            with translating(self._connection):
                self._of_driver.sync()
        changed: int = cursor.rowcount
        return changed


@contextmanager
def translating(connection: Connection) -> Iterator[None]:
    """Raise the driver's errors as Core would."""
    try:
        yield
    except connection.dialect.loaded_dbapi.Error as error:
        raise _translate(connection, error) from error


def _translate(connection: Connection, error: Exception, text: str | None = None) -> BaseException:
    """Return the driver's error as Core would raise it. A connection that broke is invalidated."""
    dialect: Any = connection.dialect
    broken = dialect.is_disconnect(error, connection.connection.dbapi_connection, None)
    if broken:
        connection.invalidate(error)
    raised: BaseException = DBAPIError.instance(
        text,
        None,  # the message would show the values
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=broken,
        dialect=dialect,
    )
    return raised


_prepared: dict[tuple[str, Statement], CompiledStatement] = {}


def compile_statement(statement: Statement, dialect: Dialect, parameters: Mapping[str, object]) -> CompiledStatement:
    """Compile a statement when it first runs, and then return it from the cache.

    The parameters must have the same names every time.
    """
    # There are few statements. Each is built when its module is imported and is equal only to itself.
    key = (dialect.name, statement)
    found = _prepared.get(key)
    if found is None:
        found = _prepared[key] = CompiledStatement(statement, dialect, parameters)
    return found
