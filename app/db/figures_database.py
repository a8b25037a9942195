"""The figures' database: a schema of Postgres that dashboards read with their own connector.

    figures             one row for each published figure
    figure_rows         its numbers
    figures_of_…        a view of the numbers of one dataset
    collections         one row for each collection
    collection_figures  a view of the published figures of each collection, in their order
    collection_members  the same with withdrawn ones; not for readers
    state               the last change that each figure was written for, withdrawn ones included; not for readers
    collection_state    the same of each collection

Everything here is a copy: it may be dropped, and is written again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection, sql

from app.db.figure_writers import COLUMNS, LOCK, Writer, exists, format_statement

_CONNECT_SECONDS, _STATEMENT_MILLISECONDS = 5, 30_000

_TABLES = """
CREATE TABLE IF NOT EXISTS {schema}.state (
    dataset text NOT NULL, figure text NOT NULL, change bigint NOT NULL, PRIMARY KEY (dataset, figure));
CREATE TABLE IF NOT EXISTS {schema}.figures (
    dataset text NOT NULL, figure text NOT NULL, version integer NOT NULL, title text NOT NULL, note text,
    published_at timestamptz NOT NULL, PRIMARY KEY (dataset, figure));
CREATE TABLE IF NOT EXISTS {schema}.figure_rows (
    dataset text NOT NULL, figure text NOT NULL, position integer NOT NULL, {columns},
    PRIMARY KEY (dataset, figure, position),
    FOREIGN KEY (dataset, figure) REFERENCES {schema}.figures ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS {schema}.collection_state (collection text PRIMARY KEY, change bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {schema}.collections (
    collection text PRIMARY KEY, title text NOT NULL, note text, changed_at timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS {schema}.collection_members (
    collection text NOT NULL REFERENCES {schema}.collections ON DELETE CASCADE, position integer NOT NULL,
    dataset text NOT NULL, figure text NOT NULL, PRIMARY KEY (collection, position))
"""
_COLLECTION_VIEW = """
CREATE VIEW {schema}.collection_figures AS
    SELECT collection, position, dataset, figure
    FROM {schema}.collection_members JOIN {schema}.figures USING (dataset, figure)
"""
_FOR_READERS = ("figures", "figure_rows", "collections", "collection_figures")

_NAMES_PUBLISHERS = """
SELECT 1 FROM information_schema.columns
WHERE table_schema = %s AND table_name = 'figures' AND column_name = 'published_by'
"""
"""Whether a version that told readers the names of principals made the table."""


class FiguresDatabase:
    """One connection to the figures' database, for one thread.

    Args:
        url: a libpq URL.
        schema: the schema, which is created if it is missing.
        role: the role that may read, which is created if it is missing and the user may create roles.
    """

    def __init__(self, url: str, schema: str, role: str) -> None:
        self._url, self._schema, self._role = url, schema, role
        self._connection: Connection[Any] | None = None

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def prepare(self) -> bool:
        """Create what is missing, and let the role read; return False if the role could not be created.

        Raises:
            psycopg.Error: the database does not answer, or the user may not create the schema.
        """
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in COLUMNS.items()
        )
        with self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            connection.execute(self._format("CREATE SCHEMA IF NOT EXISTS {schema}"))
            connection.execute(self._format(_TABLES, columns=columns))
            if connection.execute(_NAMES_PUBLISHERS, (self._schema,)).fetchone():
                connection.execute(self._format("ALTER TABLE {schema}.figures DROP COLUMN published_by"))
            if not exists(connection, self._schema, "collection_figures"):
                connection.execute(self._format(_COLLECTION_VIEW))
        return self._let_role_read()

    def _let_role_read(self) -> bool:
        try:
            with self._transaction() as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (self._role,)).fetchone()
                if known is None:
                    connection.execute(self._format("CREATE ROLE {role} NOLOGIN"))
        except psycopg.errors.InsufficientPrivilege:
            return False
        with self._transaction() as connection:
            connection.execute(self._format("GRANT USAGE ON SCHEMA {schema} TO {role}"))
            for name in _FOR_READERS:
                grant = "GRANT SELECT ON {schema}.{name} TO {role}"
                connection.execute(self._format(grant, name=sql.Identifier(name)))
        return True

    def list_changes(self, kind: type[Writer]) -> dict[tuple[str, ...], int]:
        """Return the change that each figure or collection was written for, by its names."""
        with self._transaction() as connection:
            query = self._format("SELECT change, {key} FROM {schema}.{state}", **kind.identifiers())
            return {tuple(names): change for change, *names in connection.execute(query)}

    @contextmanager
    def writing(self, kind: type[Writer], names: Sequence[str]) -> Iterator[Writer]:
        """Lock one figure or collection, and commit what is written of it when the block ends.

        Read it inside the block: of two writers the later one then writes the later state.
        """
        with self._transaction() as connection:
            writer = kind(connection, self._schema, self._role, names)
            writer.lock()
            yield writer

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._url,
                connect_timeout=_CONNECT_SECONDS,
                options=f"-c statement_timeout={_STATEMENT_MILLISECONDS}",
                application_name="snapledger",
                autocommit=True,
                keepalives_idle=30,
            )
        with self._connection.transaction():
            yield self._connection

    def _format(self, text: str, **more: sql.Composable) -> sql.Composed:
        return format_statement(text, self._schema, self._role, **more)
