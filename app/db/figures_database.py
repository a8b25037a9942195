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

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection, sql

MAX_NAME_BYTES = 63
_DIGEST_DIGITS = 20  # fewer could be found by trying names
_CONNECT_SECONDS, _STATEMENT_MILLISECONDS = 5, 30_000
_LOCK = 0x5E_1F_16  # of whoever prepares the schema

_COLUMNS = {
    "measure": "text NOT NULL",
    "columns": "text NOT NULL",
    "group": "text",
    "label": "text NOT NULL",
    "lower_edge": "text",
    "upper_edge": "text",
    "value": "double precision",
    "value_as_date": "text",
    "interval_lower": "double precision",
    "interval_upper": "double precision",
    "alpha": "double precision NOT NULL",
    "unit": "text",
    "epsilon": "numeric(16, 9) NOT NULL",
    "released_at": "timestamptz NOT NULL",
}
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


class Target(NamedTuple):
    """The names of a figure."""

    dataset: str
    figure: str


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
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in _COLUMNS.items()
        )
        with self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute(self._format("CREATE SCHEMA IF NOT EXISTS {schema}"))
            connection.execute(self._format(_TABLES, columns=columns))
            if connection.execute(_NAMES_PUBLISHERS, (self._schema,)).fetchone():
                connection.execute(self._format("ALTER TABLE {schema}.figures DROP COLUMN published_by"))
            if not _exists(connection, self._schema, "collection_figures"):
                connection.execute(self._format(_COLLECTION_VIEW))
        return self._let_role_read()

    def _let_role_read(self) -> bool:
        try:
            with self._transaction() as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
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

    def list_changes(self) -> dict[Target, int]:
        """Return the change that each figure was written for."""
        with self._transaction() as connection:
            found = connection.execute(self._format("SELECT dataset, figure, change FROM {schema}.state"))
            return {Target(dataset, figure): change for dataset, figure, change in found}

    def list_collection_changes(self) -> dict[str, int]:
        """Return the change that each collection was written for."""
        with self._transaction() as connection:
            found = connection.execute(self._format("SELECT collection, change FROM {schema}.collection_state"))
            return dict(found.fetchall())

    @contextmanager
    def writing(self, target: Target) -> Iterator["FigureWriter"]:
        """Lock one figure, and commit what is written of it when the block ends.

        Read the figure inside the block: of two writers the later one then writes the later state.
        """
        with self._transaction() as connection:
            connection.execute(
                self._format("INSERT INTO {schema}.state VALUES (%s, %s, 0) ON CONFLICT DO NOTHING"), target
            )
            locked = "SELECT 1 FROM {schema}.state WHERE (dataset, figure) = (%s, %s) FOR UPDATE"
            connection.execute(self._format(locked), target)
            yield FigureWriter(connection, self._schema, self._role, target)

    @contextmanager
    def writing_collection(self, name: str) -> Iterator["CollectionWriter"]:
        """Lock one collection, as `writing` does for a figure."""
        with self._transaction() as connection:
            for text in (
                "INSERT INTO {schema}.collection_state VALUES (%s, 0) ON CONFLICT DO NOTHING",
                "SELECT 1 FROM {schema}.collection_state WHERE collection = %s FOR UPDATE",
            ):
                connection.execute(self._format(text), (name,))
            yield CollectionWriter(connection, self._schema, name)

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
        return _format(text, self._schema, self._role, **more)


class FigureWriter:
    """Writes one figure in a transaction that holds its lock."""

    def __init__(self, connection: Connection[Any], schema: str, role: str, target: Target) -> None:
        self._connection, self._schema, self._role, self._target = connection, schema, role, target

    def replace(self, change: int, facts: Mapping[str, Any] | None, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the figure as it is after this change. `facts` is None if it is withdrawn."""
        self._execute("DELETE FROM {schema}.figures WHERE (dataset, figure) = (%s, %s)", *self._target)
        if facts is not None:
            told = (facts["version"], facts["title"], facts["note"], facts["published_at"])
            self._execute(
                "INSERT INTO {schema}.figures (dataset, figure, version, title, note, published_at)"
                " VALUES (%s, %s, %s, %s, %s, %s)",
                *(*self._target, *told),
            )
            with self._connection.cursor().copy(self._format("COPY {schema}.figure_rows FROM STDIN")) as copied:
                for position, row in enumerate(rows, 1):
                    copied.write_row((*self._target, position, *(row[name] for name in _COLUMNS)))
            self._add_view()
        self._execute("UPDATE {schema}.state SET change = %s WHERE (dataset, figure) = (%s, %s)", change, *self._target)

    def forget(self) -> None:
        """Remove a figure that the ledger does not have."""
        self._execute("DELETE FROM {schema}.figures WHERE (dataset, figure) = (%s, %s)", *self._target)
        self._execute("DELETE FROM {schema}.state WHERE (dataset, figure) = (%s, %s)", *self._target)

    def _add_view(self) -> None:
        """Create the dataset's view, unless it is there: to replace it would wait for whoever reads it.

        It is a barrier: a reader's own conditions and functions see no row of another dataset.
        """
        name = view_name(self._target.dataset)
        self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if _exists(self._connection, self._schema, name):
            return
        names = {"view": sql.Identifier(name), "dataset": sql.Literal(self._target.dataset)}
        text = "SELECT * FROM {schema}.figure_rows WHERE dataset = {dataset}"
        view = "CREATE VIEW {schema}.{view} WITH (security_barrier) AS "
        self._connection.execute(self._format(view + text, **names))
        if self._connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (self._role,)).fetchone():
            self._connection.execute(self._format("GRANT SELECT ON {schema}.{view} TO {role}", **names))

    def _execute(self, text: str, *values: object) -> None:
        self._connection.execute(self._format(text), values)

    def _format(self, text: str, **more: sql.Composable) -> sql.Composed:
        return _format(text, self._schema, self._role, **more)


class CollectionWriter:
    """Writes one collection in a transaction that holds its lock."""

    def __init__(self, connection: Connection[Any], schema: str, name: str) -> None:
        self._connection, self._schema, self._name = connection, schema, name

    def replace(self, change: int, facts: Mapping[str, Any] | None, members: Sequence[Target]) -> None:
        """Write the collection as it is after this change. `facts` is None if it was deleted."""
        self._execute("DELETE FROM {schema}.collections WHERE collection = %s", self._name)
        if facts is not None:
            told = (facts["title"], facts["note"], facts["changed_at"])
            self._execute("INSERT INTO {schema}.collections VALUES (%s, %s, %s, %s)", self._name, *told)
            for position, each in enumerate(members, 1):
                values = (self._name, position, *each)
                self._execute("INSERT INTO {schema}.collection_members VALUES (%s, %s, %s, %s)", *values)
        self._execute("UPDATE {schema}.collection_state SET change = %s WHERE collection = %s", change, self._name)

    def forget(self) -> None:
        """Remove a collection that the ledger does not have."""
        self._execute("DELETE FROM {schema}.collections WHERE collection = %s", self._name)
        self._execute("DELETE FROM {schema}.collection_state WHERE collection = %s", self._name)

    def _execute(self, text: str, *values: object) -> None:
        self._connection.execute(sql.SQL(text).format(schema=sql.Identifier(self._schema)), values)


def _exists(connection: Connection[Any], schema: str, name: str) -> bool:
    found = connection.execute("SELECT to_regclass(%s)", (f'"{schema}"."{name}"',)).fetchone()
    return found is not None and found[0] is not None


def _format(text: str, schema: str, role: str, **more: sql.Composable) -> sql.Composed:
    return sql.SQL(text).format(schema=sql.Identifier(schema), role=sql.Identifier(role), **more)


def view_name(dataset: str) -> str:
    """Return the name of a dataset's view; a long name is cut, and made unique by a part of its SHA-256.

    Names that were cut are the longest, and no others are as long. So nobody can name a dataset after another's view.
    """
    name = f"figures_of_{dataset}"
    if len(name.encode()) < MAX_NAME_BYTES:
        return name
    digest = hashlib.sha256(dataset.encode()).hexdigest()[:_DIGEST_DIGITS]
    return f"{name[: MAX_NAME_BYTES - 1 - _DIGEST_DIGITS]}_{digest}"
