"""Postgres where the data lives: tables are copied from it, or answer from where they are."""

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
from app.engines.backends.postgres_catalogue import locate_columns, require_types
from app.engines.backends.table_names import parse_table_name
from app.engines.errors import EngineFailure, translate_engine_errors
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql.bin_expressions import Cuts
from app.engines.sql.expressions import Node, case, column, is_nan
from app.engines.sql.live_queries import table_node
from app.engines.sql.numeric_precision import MOST_DIGITS, MOST_DIGITS_OF_A_DOUBLE
from app.engines.sql.queries import render

logger = logging.getLogger(__name__)

_CONNECTIONS = 8
_COPY_SECONDS = 6 * 3600
_LOCK_SECONDS = 10
_NUMERIC = "DECIMAL"
_MOST_UNITS = 10**MOST_DIGITS


class PostgresEngine(ExternalEngine):
    """Exact sums over tables of one Postgres database, which it only ever reads.

    Each statement has a connection to itself, so any number of threads may ask; more than a few at a time wait.
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
            InvalidFile: the table or a column is not there, or cannot be what is declared.
            EngineFailure: the database is busy, away or failed.
        """
        path = parse_table_name(table, "public", 2)

        def find() -> LiveTable:
            with self._connected(self._statement_seconds) as session:
                return LiveTable(connection, path, 0, locate_columns(session, path, columns, live=live))

        return translate_engine_errors(self.logger, self.name, find)

    @contextmanager
    def copied(self, table: LiveTable) -> Iterator[Rows]:
        """A snapshot of a table's columns, streamed; whatever goes wrong in the block ends it."""
        null = secrets.token_hex(16)  # a text that no value is
        columns = [exp.alias_(_text(column), column.name, quoted=True) for column in table.columns]
        query = render(exp.select(*columns).from_(table_node(table.path)), self.dialect)
        statement = f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER true, NULL '{null}', ENCODING 'UTF8')"
        with (
            self._connected(_COPY_SECONDS) as session,
            session.cursor() as cursor,
            cursor.copy(statement.encode()) as copy,
        ):
            yield Rows(io.BufferedReader(_Chunks(copy), 2**20), null, session.cancel)

    def close(self) -> None:
        """Nothing is held between statements."""

    @staticmethod
    def _normal(live: LiveColumn) -> Node:
        return _stored_value(live)

    def _rows(self, table: LiveTable, query: str, cuts: Cuts | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement over a table that is, and until its end stays, what was registered."""
        parameters = None if cuts is None else [list(cuts.thresholds)]
        with self._connected(self._statement_seconds) as session, psycopg.RawCursor(session) as cursor:
            session.isolation_level = psycopg.IsolationLevel.READ_COMMITTED  # types as they are once we have the lock
            with session.transaction():
                # It locks the table, and neither plans nor reads; LOCK TABLE would need a right to all of its columns.
                lock = f"PREPARE lock_table AS SELECT FROM {table_node(table.path).sql(self.dialect)}"
                session.execute(f"{lock}; DEALLOCATE lock_table".encode())
                require_types(session, table)
                return cursor.execute(query.encode(), parameters).fetchall()

    @contextmanager
    def _connected(self, statement_seconds: int) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """A connection that reads, and whose every statement ends in time."""
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
                "row_security": "off",  # a policy that would hide rows is an error, and never another table
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


class _Chunks(io.RawIOBase):
    """What a COPY sends, as a file."""

    def __init__(self, copy: psycopg.Copy) -> None:
        self._copy = copy
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer
        if not self._left:
            self._left = memoryview(self._copy.read())
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _stored_value(live: LiveColumn) -> Node:
    """A column's values as they would be stored.

    No cast can fail: the catalogue has seen to the types, and numbers that these types do not hold are not cast.
    """
    value = column(live.name)
    if live.kind is Kind.BOOLEAN:
        return value
    if live.kind is Kind.CATEGORY:
        # Byte by byte: a column may have a collation for which different texts are equal.
        return exp.Collate(this=exp.cast(value, "TEXT"), expression=exp.to_identifier("C", quoted=True))
    if live.kind is Kind.REAL:
        return _numeric_as_double(value) if live.type == "numeric" else exp.cast(value, "DOUBLE")
    if live.kind is Kind.DECIMAL and live.scale:
        units = exp.Mul(this=exp.cast(value, _NUMERIC), expression=_numeric(10**live.scale))
        return _as_whole(live, exp.Paren(this=units), _MOST_UNITS // 10**live.scale)
    return _as_whole(live, value, _MOST_UNITS)


def _as_whole(live: LiveColumn, units: Node, most: int) -> Node:
    """A whole number of units as 64 bits; of a `numeric` column NaN, and what is above `most`, is a missing value."""
    whole = exp.cast(units, "BIGINT")
    if live.type != "numeric":
        return whole
    value = column(live.name)
    return case([(_is_between(value, _numeric(-most), _numeric(most)), whole)], exp.null())


def _numeric_as_double(value: Node) -> Node:
    """A `numeric` as a double, without an overflow or an underflow; NaN, and what is too large, is a missing value."""
    least, most = f"1e-{MOST_DIGITS_OF_A_DOUBLE}", f"1e{MOST_DIGITS_OF_A_DOUBLE}"
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
    """A column's values as a CSV has them."""
    text = exp.cast(column(live.name), "TEXT")
    return text if live.kind in {Kind.REAL, Kind.CATEGORY, Kind.BOOLEAN} else _without_nan(live, text)


def _without_nan(live: LiveColumn, otherwise: Node) -> Node:
    """Of columns whose values are exact NaN is a missing one, as it is in files."""
    value = column(live.name)
    if live.type in {"float4", "float8"}:
        return case([(is_nan(value), exp.null())], otherwise)
    if live.type == "numeric":
        nan = exp.EQ(this=value, expression=exp.cast(exp.Literal.string("NaN"), _NUMERIC))
        return case([(nan, exp.null())], otherwise)
    return otherwise
