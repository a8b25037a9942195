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
    """One statement in one dialect: its text, the order of its parameters, and the conversions of their types.

    Attributes:
        text: the SQL.
        returns: the number of columns of its rows; 0 if it has none.
    """

    __slots__ = ("_binds", "_constants", "_make", "_pick", "_results", "returns", "text")

    def __init__(self, statement: Statement, dialect: Dialect, parameters: Mapping[str, object]) -> None:
        # As in Core, the names of the parameters decide which columns an INSERT without values() has.
        compiled: Any = statement.compile(dialect=dialect, column_keys=list(parameters))
        self.text: str = compiled.string
        names: tuple[str, ...] | None = tuple(compiled.positiontup) if compiled.positional else None
        self._pick = None if names is None else _build_picker(names)
        self._constants = {name: value for name, value in compiled.params.items() if name not in parameters}
        binds = {name: _build_binder(bound.type, dialect) for bound, name in compiled.bind_names.items()}
        keys: Iterable[Any] = binds if names is None else range(len(names))  # as the driver expects
        named = zip(keys, names or binds, strict=True)
        self._binds = [(key, process) for key, name in named if (process := binds[name]) is not None]
        columns = list(getattr(statement, "exported_columns", ()))
        results = [_build_reader(column.type, dialect) for column in columns]
        self.returns = len(columns)
        self._results = [(index, process) for index, process in enumerate(results) if process is not None]
        row_type: Any = namedtuple("Row", [column.key for column in columns], rename=True)  # type: ignore[misc]  # noqa: PYI024 - one a statement
        self._make = row_type._make

    def run(self, connection: Connection, cursor: Any, parameters: Mapping[str, object]) -> list[Any]:  # noqa: ANN401
        """Run the statement on a driver's cursor of the connection and return the rows as named tuples.

        All rows are fetched, because SQLite keeps the statement and its snapshot open until the last row is read.

        Raises:
            DBAPIError: the driver's error, as Core would raise it; a connection that broke is invalidated.
        """
        fetched = _execute(connection, cursor, self.text, self.bind(parameters), fetch=self.returns > 0)
        return [self.make(row) for row in fetched]

    def bind(self, parameters: Mapping[str, object]) -> Any:  # noqa: ANN401 - as the driver expects
        """Return the parameters as the driver takes them, with the statement's constants."""
        values = {**self._constants, **parameters} if self._constants else parameters
        bound: Any = {**values} if self._pick is None else list(self._pick(values))
        for key, process in self._binds:
            bound[key] = process(bound[key])
        return bound

    def make(self, fetched: Iterable[Any]) -> Any:  # noqa: ANN401 - a named tuple
        """Return a row of the driver as a named tuple, with its values converted."""
        if not self._results:
            return self._make(fetched)
        row = list(fetched)
        for index, process in self._results:
            row[index] = process(row[index])
        return self._make(row)


def _build_binder(type_: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return the function that converts a value of the type for the driver, or None if no conversion is needed."""
    if dialect.name == "sqlite" and isinstance(type_, LargeBinary):
        return _to_byte_array
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _build_reader(type_: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Return the function that converts the driver's value, or None if no conversion is needed."""
    if isinstance(type_, LargeBinary):
        return None  # both drivers return bytes, and what else SQLite holds in such a column matches no hash
    return type_.dialect_impl(dialect).result_processor(dialect, None)


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


def run_compiled(connection: Connection, cursor: Any, text: str, bound: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    """Run an SQL text with parameters as the driver takes them, and return the driver's rows.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    return _execute(connection, cursor, text, bound, fetch=True)


def run_for_each(connection: Connection, cursor: Any, text: str, rows: Iterable[Mapping[str, object]]) -> int:  # noqa: ANN401
    """Run an SQL text once for each row of parameters, and return how many rows it changed in all.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    _execute(connection, cursor, text, rows, fetch=False, many=True)
    changed: int = cursor.rowcount
    return changed


# A page is found by an index. Without statistics, Postgres might read and sort all remaining rows for each page.
_BY_INDEX = "; ".join(f"SET LOCAL enable_{way} = off" for way in ("hashjoin", "bitmapscan", "seqscan", "sort"))


@contextmanager
def reading_ahead(connection: Connection) -> Iterator[Callable[..., Callable[[], list[Any]]]]:
    """Let Postgres find the rows of the next query while the caller works on those before.

    Yields a function that takes a query and its parameters, and returns at once: a function that waits for the rows.

    Raises:
        DBAPIError: as `CompiledStatement.run`, also where a function waits.
    """
    driver: Any = connection.connection.driver_connection
    run_script(connection, _BY_INDEX)

    def start(query: Query, **parameters: object) -> Callable[[], list[Any]]:
        compiled = compile_statement(query, connection.dialect, parameters)
        cursor: Any = connection.connection.cursor(binary=True)  # hashes as they are, not in hexadecimal
        # If psycopg prepared a query only after some uses, and one before it failed, the server would not know it.
        _execute(connection, cursor, compiled.text, compiled.bind(parameters), fetch=False, prepare=True)

        def wait() -> list[Any]:
            with _translating(connection):
                return [compiled.make(row) for row in cursor.fetchall()]

        return wait

    with _translating(connection), driver.pipeline():
        yield start


@contextmanager
def _translating(connection: Connection) -> Iterator[None]:
    """Raise the driver's errors as Core would."""
    try:
        yield
    except connection.dialect.loaded_dbapi.Error as error:
        raise _translate(connection, error) from error


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


def _execute(  # noqa: PLR0913 - each option by its name
    connection: Connection,
    cursor: Any,  # noqa: ANN401 - either driver's
    text: str,
    bound: Any,  # noqa: ANN401
    *,
    fetch: bool,
    many: bool = False,
    **options: bool,
) -> list[tuple[Any, ...]]:
    """Run an SQL text on a driver's cursor of the connection; return the driver's rows if `fetch`, or else no rows.

    If `many`, it is run once for each of several `bound`.

    Raises:
        DBAPIError: the driver's error, as Core would raise it; a connection that broke is invalidated.
    """
    try:
        if many:
            cursor.executemany(text, bound)
        else:
            cursor.execute(text, bound, **options)
        return cursor.fetchall() if fetch else []
    except connection.dialect.loaded_dbapi.Error as error:
        raise _translate(connection, error, text) from error


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
