"""The Postgres engine: it copies external tables, or queries them live."""

import io
import logging
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlglot import exp

from app.dp.table.columns import Column, Kind
from app.engines.backends.engine import ExternalEngine, Rows
from app.engines.backends.postgres_catalogue import choose_columns, locate_columns, require_types
from app.engines.backends.table_draft import TypedColumns
from app.engines.backends.table_names import parse_table_name
from app.engines.errors import EngineFailure, InvalidFile, Problem, translate_engine_errors
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.piece_streams import PieceStream
from app.engines.sql.bin_expressions import Cuts
from app.engines.sql.date_units import days_as_units, instants_as_units, seconds_as_units
from app.engines.sql.expressions import Node, case, column, is_nan
from app.engines.sql.live_queries import table_node
from app.engines.sql.numeric_precision import MAX_DIGITS, MAX_DIGITS_OF_A_DOUBLE
from app.engines.sql.queries import render

logger = logging.getLogger(__name__)

_CONNECTIONS = 8
_COPY_SECONDS = 6 * 3600
_DRAFT_SECONDS = 60
_LOCK_SECONDS = 10
_TRANSIENT = {"08", "40", "53", "54", "57", "58", "XX"}
"""The classes of SQLSTATE for a database that is busy, unavailable or out of resources."""
_NUMERIC = "DECIMAL"
_MAX_UNITS = 10**MAX_DIGITS


class PostgresEngine(ExternalEngine):
    """Exact sums over the tables of one Postgres database, which it only reads.

    Each statement has its own connection, so any number of threads may call; the number of connections is limited.
    """

    name = "Postgres"
    dialect = "postgres"
    logger = logger

    def __init__(self, url: str, statement_seconds: int) -> None:
        super().__init__(url, statement_seconds)
        self._turns = threading.BoundedSemaphore(_CONNECTIONS)

    def locate(self, connection: str, table: str, columns: Sequence[Column], *, live: bool) -> LiveTable:
        """Find a table and its declared columns in the catalogue; its rows are not counted.

        Raises:
            InvalidFile: the table or a column does not exist, or does not fit its declaration.
            EngineFailure: the database is busy, unavailable or failed.
        """
        path = parse_table_name(table, "public", 2)

        def find() -> LiveTable:
            with self._connect(self._statement_seconds) as session:
                return LiveTable(connection, path, 0, locate_columns(session, path, columns, live=live))

        return translate_engine_errors(self.logger, self.name, find)

    def find_columns(self, connection: str, table: str, *, live: bool) -> TypedColumns:
        """Find a table and those of its columns whose types can be declared.

        Raises:
            InvalidFile: the table does not exist, or could not be registered so.
            EngineFailure: the database is busy, unavailable or failed.
        """
        path = parse_table_name(table, "public", 2)

        def find() -> TypedColumns:
            with self._connect(self._statement_seconds) as session:
                columns, left_out = choose_columns(session, path, live=live)
                return TypedColumns(LiveTable(connection, path, 0, columns), left_out)

        return translate_engine_errors(self.logger, self.name, find)

    @contextmanager
    def stream_copy(self, table: LiveTable) -> Iterator[Rows]:
        """Stream a snapshot of a table's columns; any error in the block ends the stream.

        Raises:
            InvalidFile: the database will not read the table, or cannot compute a row of it.
        """
        null = secrets.token_hex(16)  # a random text that no value is equal to
        columns = [exp.alias_(_text(column), column.name, quoted=True) for column in table.columns]
        query = render(exp.select(*columns).from_(table_node(table.path)), self.dialect)
        statement = f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER true, NULL '{null}', ENCODING 'UTF8')"
        with (
            self._connect(_COPY_SECONDS) as session,
            session.cursor() as cursor,
            _describe_failures(),
            cursor.copy(statement.encode()) as copy,
        ):
            yield Rows(io.BufferedReader(PieceStream(iter(copy.read, b"")), 2**20), null, session.cancel)

    def close(self) -> None:
        """Do nothing: the engine holds no resources between statements."""

    @staticmethod
    def _normal(live: LiveColumn) -> Node:
        return _to_stored_value(live)

    def _rows(self, table: LiveTable, query: str, cuts: Cuts | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; the columns' types match the registration until the statement ends."""
        parameters = None if cuts is None else [list(cuts.thresholds)]
        with self._connect(self._statement_seconds) as session, psycopg.RawCursor(session) as cursor:
            session.isolation_level = psycopg.IsolationLevel.READ_COMMITTED  # types as they are once we have the lock
            with session.transaction():
                # PREPARE locks the table without planning or reading. LOCK TABLE would need a right to all columns.
                lock = f"PREPARE lock_table AS SELECT FROM {table_node(table.path).sql(self.dialect)}"
                session.execute(f"{lock}; DEALLOCATE lock_table".encode())
                require_types(session, table)
                return cursor.execute(query.encode(), parameters).fetchall()

    def _rows_of_draft(self, table: LiveTable, query: str) -> list[tuple[Any, ...]]:  # noqa: ARG002 - as of Spark
        """Return the rows of a statement over a table that need not be fit to stay live, such as a view.

        Nothing cancels the statement when the client has left, so that it has little time.

        Raises:
            InvalidFile: the first rows of the table take too long, or cannot be computed.
        """
        seconds = min(_DRAFT_SECONDS, self._statement_seconds)
        with self._connect(seconds) as session, _describe_failures(), psycopg.RawCursor(session) as cursor:
            try:
                return cursor.execute(query.encode()).fetchall()
            except psycopg.errors.QueryCanceled:
                pass
        what = f"takes more than {seconds} seconds to read its first rows: draft a table, or a view that takes less"
        raise InvalidFile([Problem("source.table", what)])

    @contextmanager
    def _connect(self, statement_seconds: int) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """Yield a read-only connection whose statements all have a timeout."""
        if not self._turns.acquire(timeout=self._statement_seconds):
            raise EngineFailure
        try:
            settings = {
                "statement_timeout": statement_seconds * 1000,
                "lock_timeout": _LOCK_SECONDS * 1000,
                "default_transaction_read_only": "on",
                "extra_float_digits": 1,  # doubles are written so that they read back as themselves
                "standard_conforming_strings": "on",
                "search_path": "pg_catalog",  # functions, operators and types are the server's own
                "row_security": "off",  # a policy that would hide rows raises an error
            }
            with psycopg.connect(
                self._url,
                autocommit=True,
                connect_timeout=10,
                options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
                application_name="snapledger",
                client_encoding="utf-8",
                keepalives_idle=10,
                keepalives_interval=5,
                keepalives_count=3,
                tcp_user_timeout=30_000,
            ) as connection:
                yield connection
        finally:
            self._turns.release()


@contextmanager
def _describe_failures() -> Iterator[None]:
    """Describe an error that a table's owner can mend; retrying would not help. The database's text may have values.

    Raises:
        InvalidFile: the block raised such an error.
    """
    state = None
    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate
        if state is None or state[:2] in _TRANSIENT:
            raise
    if state is not None:
        what = (
            f"could not be copied: the database refused to read it, or could not compute a row (SQLSTATE {state}): "
            "correct the view or table, or ask the operator for the rights of the connection"
        )
        raise InvalidFile([Problem("source.table", what)])


def _to_stored_value(live: LiveColumn) -> Node:
    """Return a node for a column's values in their stored type.

    No cast can fail: the catalogue check allows only suitable types, and a number beyond the target type is not cast.
    """
    value = column(live.name)
    if live.kind is Kind.BOOLEAN:
        return value
    if live.kind is Kind.CATEGORY:
        # Compare byte by byte, because some collations treat different texts as equal.
        return exp.Collate(this=_as_text(live), expression=exp.to_identifier("C", quoted=True))
    if live.kind is Kind.REAL:
        return _numeric_as_double(value) if live.type == "numeric" else exp.cast(value, "DOUBLE")
    if live.kind.temporal:
        return _date_units(live, value)
    if live.kind is Kind.DECIMAL and live.scale:
        units = exp.Mul(this=exp.cast(value, _NUMERIC), expression=_numeric(10**live.scale))
        return _as_whole(live, exp.Paren(this=units), _MAX_UNITS // 10**live.scale)
    return _as_whole(live, value, _MAX_UNITS)


def _date_units(live: LiveColumn, value: Node) -> Node:
    if live.type == "date":
        epoch = exp.cast(exp.Literal.string("1970-01-01"), "DATE")
        return days_as_units(lambda: exp.Sub(this=value.copy(), expression=epoch), value, live.kind)
    if live.type == "timestamp":
        return seconds_as_units(_whole_seconds, value, live.kind)
    zone = exp.Literal.string(live.time_zone)
    return instants_as_units(lambda at: _whole_seconds(exp.AtTimeZone(this=at, zone=zone)), value, live.kind)


def _whole_seconds(time: Node) -> Node:
    """Return the seconds since 1970-01-01 of a time without a zone, rounded down."""
    return exp.Floor(this=exp.Extract(this=exp.var("EPOCH"), expression=time))


def _as_whole(live: LiveColumn, units: Node, most: int) -> Node:
    """Return units as a 64-bit number; in a `numeric` column NaN and magnitudes above `most` become missing values."""
    whole = exp.cast(units, "BIGINT")
    if live.type != "numeric":
        return whole
    value = column(live.name)
    return case([(_is_between(value, _numeric(-most), _numeric(most)), whole)], exp.null())


def _numeric_as_double(value: Node) -> Node:
    """Return a `numeric` as a double, without overflow or underflow; NaN and too large numbers become missing."""
    least, most = f"1e-{MAX_DIGITS_OF_A_DOUBLE}", f"1e{MAX_DIGITS_OF_A_DOUBLE}"
    double = exp.cast(value, "DOUBLE")
    return case(
        [
            (_is_between(value, _numeric(least), _numeric(most)), double),
            (_is_between(value, _numeric(f"-{most}"), _numeric(f"-{least}")), double.copy()),
            (_is_between(value, _numeric(f"-{least}"), _numeric(least)), exp.cast("0", "DOUBLE")),
        ],
        exp.null(),
    )


def _numeric(value: int | str) -> Node:
    return exp.cast(exp.Literal.string(str(value)), _NUMERIC)


def _is_between(value: Node, least: Node, most: Node) -> Node:
    above, below = exp.GTE(this=value.copy(), expression=least), exp.LTE(this=value.copy(), expression=most)
    return exp.And(this=above, expression=below)


def _text(live: LiveColumn) -> Node:
    """Return a node for a column's values as CSV texts; dates are numbers already."""
    if live.kind.temporal:
        return exp.cast(_to_stored_value(live), "TEXT")
    text = _as_text(live)
    return text if live.kind in {Kind.REAL, Kind.CATEGORY, Kind.BOOLEAN} else _without_nan(live, text)


def _as_text(live: LiveColumn) -> Node:
    """Return a node for a column's values as texts; equal numbers that identify units have equal texts."""
    value = column(live.name)
    if live.type == "numeric" and live.kind is Kind.CATEGORY:
        value = exp.Anonymous(this="TRIM_SCALE", expressions=[value])
    return exp.cast(value, "TEXT")


def _without_nan(live: LiveColumn, otherwise: Node) -> Node:
    """Return a node that replaces NaN by a missing value, as in files; for columns that are declared exact."""
    value = column(live.name)
    if live.type in {"float4", "float8"}:
        return case([(is_nan(value), exp.null())], otherwise)
    if live.type == "numeric":
        nan = exp.EQ(this=value, expression=exp.cast(exp.Literal.string("NaN"), _NUMERIC))
        return case([(nan, exp.null())], otherwise)
    return otherwise
