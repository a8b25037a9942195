"""Copies of the whole database as one SQLite file, whichever database it is in, and back.

The file has the same tables, so that whatever reads a ledger reads the copy too.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from app.db import sqlite_connections
from app.db.engine import Database
from app.db.migrate import migrate
from app.db.session import ReadSession
from app.db.tables import metadata

_BATCH = 1_000


def url_of(path: Path) -> str:
    """The database in a file."""
    return f"sqlite:///{path.absolute()}"


def copy_to(session: ReadSession, path: Path) -> None:
    """Copy the session's snapshot into a new file, which needs no other file beside it."""
    if session.dialect == "sqlite":
        copy = sqlite_connections.library().connect(str(path), isolation_level=None)
        try:
            session.connection.connection.driver_connection.backup(copy)  # type: ignore[union-attr]
        finally:
            copy.close()
    else:
        database = Database(url_of(path))
        try:
            migrate(database)
            with database.migrating() as connection:
                for table in metadata.sorted_tables:
                    for rows in _batches(session.connection, table):
                        connection.execute(insert(table), rows)
        finally:
            database.close()
    _settle(path)


def _settle(path: Path) -> None:
    """Bring all of a copy into its one file: a write-ahead log beside it could be left behind."""
    copy = sqlite_connections.library().connect(str(path), isolation_level=None)
    try:
        mode = copy.execute("PRAGMA journal_mode = delete").fetchone()
        checked = copy.execute("PRAGMA quick_check").fetchone()
    finally:
        copy.close()
    if mode != ("delete",) or checked != ("ok",):
        raise ValueError("the copy of the database is not sound")


def restore_from(path: Path, database: Database) -> None:
    """Fill a database that has no rows from a copy, which is migrated first; all of it or nothing.

    Raises:
        ValueError: the database has rows.
        UnavailableError: it is busy or away.
    """
    copy = Database(url_of(path))
    try:
        migrate(copy)
        migrate(database)
        with copy.read() as session, database.migrating() as connection:
            if any(connection.execute(select(table).limit(1)).first() for table in metadata.sorted_tables):
                raise ValueError("the database is in use: a backup is restored into one without rows")
            for table in metadata.sorted_tables:
                _fill(connection, table, _batches(session.connection, table))
    finally:
        copy.close()


def _batches(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    """All rows of a table, without ever holding all of them."""
    rows = connection.execution_options(stream_results=True, yield_per=_BATCH).execute(select(table))
    for batch in rows.mappings().partitions():
        yield [dict(row) for row in batch]


def _fill(connection: Connection, table: Table, batches: Iterable[list[dict[str, Any]]]) -> None:
    if connection.dialect.name == "sqlite":
        for rows in batches:
            connection.execute(insert(table), rows)
        return
    # INSERT may not say what Postgres numbers by itself; COPY may.
    columns = ", ".join(connection.dialect.identifier_preparer.format_column(column) for column in table.c)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
        for rows in batches:
            for row in rows:
                copy.write_row([row[column.key] for column in table.c])
    for column in table.c:
        if column.identity is not None and (highest := connection.scalar(select(func.max(column)))) is not None:
            # Of what it has numbered, Postgres goes on behind the highest.
            sequence = func.pg_get_serial_sequence(table.name, column.name)
            connection.execute(select(func.setval(sequence, highest)))
