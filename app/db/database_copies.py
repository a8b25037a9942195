"""Copies the whole database, SQLite or Postgres, into one SQLite file, and restores it from such a file.

The file has the same tables, so all code that reads a ledger can read the copy.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from app.db import tables
from app.db.database import Database
from app.db.dialects import sqlite_library
from app.db.repositories import relocation_state
from app.db.schema_migration import migrate
from app.db.session import ReadSession, WriteSession
from app.db.tables import metadata

_BATCH = 1_000


def sqlite_url(path: Path) -> str:
    """The URL of the SQLite database in a file."""
    return f"sqlite:///{path.absolute()}"


def copy_database_to(session: ReadSession, path: Path) -> None:
    """Copy the session's snapshot into one new file without a separate journal."""
    if session.dialect == "sqlite":
        copy = sqlite_library.load_library().connect(str(path), isolation_level=None)
        try:
            session.connection.connection.driver_connection.backup(copy)  # type: ignore[union-attr]
        finally:
            copy.close()
    else:
        database = Database(sqlite_url(path))
        try:
            migrate(database)
            with database.migrating() as connection:
                copy_rows(session.connection, connection)
                _insert_batches(connection, tables.relocations, _read_batches(session.connection, tables.relocations))
        finally:
            database.close()
    _merge_write_ahead_log(path)


def _merge_write_ahead_log(path: Path) -> None:
    """Merge the write-ahead log into the copy's file, because a separate log could get lost."""
    copy = sqlite_library.load_library().connect(str(path), isolation_level=None)
    try:
        mode = copy.execute("PRAGMA journal_mode = delete").fetchone()
        checked = copy.execute("PRAGMA quick_check").fetchone()
    finally:
        copy.close()
    if mode != ("delete",) or checked != ("ok",):
        raise ValueError("the copy of the database failed its integrity check")


def restore_database_from(path: Path, database: Database, then: Callable[[WriteSession], None]) -> None:
    """Migrate a copy and restore it into an empty database, in one transaction.

    Args:
        path: the copy's file.
        database: the empty database.
        then: a function that is called at the end of the same transaction.

    Raises:
        ValueError: the database has rows, or the copy was made of a retired or incomplete database.
        UnavailableError: the database is busy or does not answer.
    """
    copy = Database(sqlite_url(path))
    try:
        migrate(copy)
        migrate(database)
        with copy.read() as session, database.migrating() as connection:
            relocation_state.require_not_relocated(session)
            if has_rows(connection):
                raise ValueError("the database has rows already: restore a backup into an empty one")
            copy_rows(session.connection, connection)
            then(WriteSession(connection))
    finally:
        copy.close()


def has_rows(connection: Connection) -> bool:
    """Whether any table has rows."""
    return any(connection.execute(select(table).limit(1)).first() for table in metadata.sorted_tables)


def copy_rows(source: Connection, target: Connection) -> None:
    """Copy all rows into an empty database, in that database's transaction.

    The table `relocations` is not copied: it describes only the database that it is in.
    """
    for table in tables_to_copy():
        _insert_batches(target, table, _read_batches(source, table))


def tables_to_copy() -> list[Table]:
    """The tables to copy: all except `relocations`. Each table comes after the tables that it refers to."""
    return [table for table in metadata.sorted_tables if table is not tables.relocations]


def table_fingerprint(connection: Connection, table: Table) -> tuple[int, int]:
    """Return the number of rows of a table and a hash of them, which is the same on both databases."""
    count = total = 0
    for rows in _read_batches(connection, table):
        for row in rows:
            digest = hashlib.sha256(repr([row[column.key] for column in table.c]).encode()).digest()
            count, total = count + 1, (total + int.from_bytes(digest)) % 2**256  # a sum, independent of the order
    return count, total


def _read_batches(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    """Yield all rows of a table in batches, without holding all of them in memory."""
    # The options are for this statement only: on the connection they would stay, and block every other statement.
    rows = connection.execute(select(table), execution_options={"stream_results": True, "yield_per": _BATCH})
    for batch in rows.mappings().partitions():
        yield [dict(row) for row in batch]


def _insert_batches(connection: Connection, table: Table, batches: Iterable[list[dict[str, Any]]]) -> None:
    if connection.dialect.name == "sqlite":
        for rows in batches:
            connection.execute(insert(table), rows)
        return
    # Postgres accepts values for an identity column from COPY, but not from a plain INSERT.
    columns = ", ".join(connection.dialect.identifier_preparer.format_column(column) for column in table.c)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
        for rows in batches:
            for row in rows:
                copy.write_row([row[column.key] for column in table.c])
    for column in table.c:
        if column.identity is not None and (highest := connection.scalar(select(func.max(column)))) is not None:
            # Let Postgres continue numbering after the highest id.
            sequence = func.pg_get_serial_sequence(table.name, column.name)
            connection.execute(select(func.setval(sequence, highest)))
