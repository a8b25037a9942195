"""The schema of the figures' database: its tables, whose copy they are, and what dashboards may read.

    snapledger          the one ledger whose copy this is; not for readers
    figures             one row for each published figure
    figure_rows         its numbers
    figures_of_…        a view of the numbers of one dataset
    collections         one row for each collection
    collection_figures  a view of the published figures of each collection, in their order
    collection_members  the same with withdrawn ones; not for readers
    state               the last change that each figure was written for, withdrawn ones included, and the hash of what
                        was written; not for readers
    collection_state    the same of each collection

Everything here is a copy: all or a part of it may be dropped, and is written again.
"""

import hashlib
from typing import Any, NamedTuple

from psycopg import Connection, sql

MAX_NAME_BYTES = 63
_DIGEST_DIGITS = 20  # fewer could be found by trying names
_LOCK = 0x5E_1F_16  # of whoever prepares the schema

COLUMNS = {
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
    "interval_lower_as_date": "text",
    "interval_upper_as_date": "text",
    "conditions": "text NOT NULL DEFAULT ''",
}
_TABLES = """
CREATE TABLE IF NOT EXISTS {schema}.snapledger (ledger text PRIMARY KEY);
CREATE TABLE IF NOT EXISTS {schema}.state (
    dataset text NOT NULL, figure text NOT NULL, change bigint NOT NULL, PRIMARY KEY (dataset, figure));
CREATE TABLE IF NOT EXISTS {schema}.figures (
    dataset text NOT NULL, figure text NOT NULL, version integer NOT NULL, title text NOT NULL, note text,
    published_at timestamptz NOT NULL, PRIMARY KEY (dataset, figure));
CREATE TABLE IF NOT EXISTS {schema}.figure_rows (
    dataset text NOT NULL, figure text NOT NULL, position integer NOT NULL, {columns},
    PRIMARY KEY (dataset, figure, position));
CREATE TABLE IF NOT EXISTS {schema}.collection_state (collection text PRIMARY KEY, change bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {schema}.collections (
    collection text PRIMARY KEY, title text NOT NULL, note text, changed_at timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS {schema}.collection_members (
    collection text NOT NULL, position integer NOT NULL, dataset text NOT NULL, figure text NOT NULL,
    PRIMARY KEY (collection, position))
"""
_COLLECTION_VIEW = """
CREATE VIEW {schema}.collection_figures AS
    SELECT collection, position, dataset, figure
    FROM {schema}.collection_members JOIN {schema}.figures USING (dataset, figure)
"""
_FOR_READERS = ("figures", "figure_rows", "collections", "collection_figures")
_NAMES = [*_FOR_READERS, "state", "collection_state", "collection_members"]

_COLUMN_NAMES = "SELECT column_name FROM information_schema.columns WHERE (table_schema, table_name) = (%s, %s)"
_RELATIONS = "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relname = ANY(%s)"
_UNREADABLE = r"""
SELECT relname FROM pg_class
WHERE relnamespace = to_regnamespace(%s) AND relkind IN ('r', 'v')
    AND (relname = ANY(%s) OR relname LIKE 'figures\_of\_%%') AND NOT has_table_privilege(%s, oid, 'SELECT')
"""
_CLAIM = "INSERT INTO {schema}.snapledger SELECT %s WHERE NOT EXISTS (SELECT FROM {schema}.snapledger)"


class ForeignSchemaError(Exception):
    """The schema has the figures of another ledger, or tables of something else under the same names."""


class Schema(NamedTuple):
    """The names of the schema and of the role that may read it, which are configured, and need no quotes."""

    name: str
    role: str

    def format(self, text: str, **more: sql.Composable) -> sql.Composed:
        """Return a statement with these names."""
        return sql.SQL(text).format(schema=sql.Identifier(self.name), role=sql.Identifier(self.role), **more)


def prepare(connection: Connection[Any], schema: Schema, ledger: str) -> None:
    """Create what is missing, in a transaction, for the copy of the ledger with this id.

    Raises:
        ForeignSchemaError: the schema is not for this copy. Nothing is changed then.
        psycopg.Error: the user may not create the schema, or something in it.
    """
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    if connection.execute("SELECT to_regnamespace(%s)", (schema.name,)).fetchone() == (None,):
        connection.execute(schema.format("CREATE SCHEMA {schema}"))  # not for a user to whom an empty one was given
    _require_own(connection, schema)
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in COLUMNS.items()
    )
    connection.execute(schema.format(_TABLES, columns=columns))
    connection.execute(schema.format(_CLAIM), (ledger,))
    if connection.execute(schema.format("SELECT ledger FROM {schema}.snapledger")).fetchall() != [(ledger,)]:
        raise ForeignSchemaError
    _adapt_tables(connection, schema)
    if not _find_relations(connection, schema, ["collection_figures"]):
        connection.execute(schema.format(_COLLECTION_VIEW))
    for (dataset,) in connection.execute(schema.format("SELECT DISTINCT dataset FROM {schema}.figures")).fetchall():
        _add_view(connection, schema, dataset)


def _require_own(connection: Connection[Any], schema: Schema) -> None:
    """Check that tables under our names are ours: beside the mark of a ledger, or beside the state of each figure."""
    if _find_relations(connection, schema, ["snapledger"]) or not _find_relations(connection, schema, _NAMES):
        return
    if not all(_has_column(connection, schema, "state", name) for name in ("dataset", "figure", "change")):
        raise ForeignSchemaError


def _adapt_tables(connection: Connection[Any], schema: Schema) -> None:
    """Change the tables of earlier versions, which had principals' names for readers, no hashes, and fewer columns."""
    if _has_column(connection, schema, "figures", "published_by"):
        connection.execute(schema.format("ALTER TABLE {schema}.figures DROP COLUMN published_by"))
    for table in ("state", "collection_state"):
        if not _has_column(connection, schema, table, "content"):
            text = "ALTER TABLE {schema}.{table} ADD COLUMN content text"
            connection.execute(schema.format(text, table=sql.Identifier(table)))
    known = _list_columns(connection, schema, "figure_rows")
    for name in COLUMNS.keys() - known:
        text = "ALTER TABLE {schema}.figure_rows ADD COLUMN {name} {kind}"
        connection.execute(schema.format(text, name=sql.Identifier(name), kind=sql.SQL(COLUMNS[name])))


def add_role(connection: Connection[Any], schema: Schema) -> None:
    """Create the role if it is missing.

    Raises:
        psycopg.errors.InsufficientPrivilege: the user may not create roles.
    """
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    if not _has_role(connection, schema):
        connection.execute(schema.format("CREATE ROLE {role} NOLOGIN"))


def let_role_read(connection: Connection[Any], schema: Schema) -> None:
    """Let the role read all that is for readers, also if it is a new one under the name of another."""
    connection.execute(schema.format("GRANT USAGE ON SCHEMA {schema} TO {role}"))
    for (name,) in connection.execute(_UNREADABLE, (schema.name, list(_FOR_READERS), schema.role)).fetchall():
        connection.execute(schema.format("GRANT SELECT ON {schema}.{name} TO {role}", name=sql.Identifier(name)))


def add_view(connection: Connection[Any], schema: Schema, dataset: str) -> None:
    """Create the view of a dataset, unless it is there, and let the role read it."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    if _add_view(connection, schema, dataset) and _has_role(connection, schema):
        name = sql.Identifier(view_name(dataset))
        connection.execute(schema.format("GRANT SELECT ON {schema}.{view} TO {role}", view=name))


def _add_view(connection: Connection[Any], schema: Schema, dataset: str) -> bool:
    """Create the view of a dataset, and return whether it was missing.

    One that is there is replaced only if it lacks a column, since that waits for its readers. It is a barrier: a
    reader's own conditions and functions see no row of another dataset.
    """
    name = view_name(dataset)
    known = _list_columns(connection, schema, name)
    if COLUMNS.keys() <= known:
        return False
    text = (
        "CREATE OR REPLACE VIEW {schema}.{view} WITH (security_barrier) AS"
        " SELECT * FROM {schema}.figure_rows WHERE dataset = {dataset}"
    )
    connection.execute(schema.format(text, view=sql.Identifier(name), dataset=sql.Literal(dataset)))
    return not known


def view_name(dataset: str) -> str:
    """Return the name of a dataset's view; a long name is cut, and made unique by a part of its SHA-256.

    Names that were cut are the longest, and no others are as long. So nobody can name a dataset after another's view.
    """
    name = f"figures_of_{dataset}"
    if len(name.encode()) < MAX_NAME_BYTES:
        return name
    digest = hashlib.sha256(dataset.encode()).hexdigest()[:_DIGEST_DIGITS]
    return f"{name[: MAX_NAME_BYTES - 1 - _DIGEST_DIGITS]}_{digest}"


def _find_relations(connection: Connection[Any], schema: Schema, names: list[str]) -> list[Any]:
    return connection.execute(_RELATIONS, (schema.name, names)).fetchall()


def _has_column(connection: Connection[Any], schema: Schema, table: str, column: str) -> bool:
    return column in _list_columns(connection, schema, table)


def _list_columns(connection: Connection[Any], schema: Schema, table: str) -> set[str]:
    """Return the names of the columns of a table or view; none if it is missing."""
    return {name for (name,) in connection.execute(_COLUMN_NAMES, (schema.name, table)).fetchall()}


def _has_role(connection: Connection[Any], schema: Schema) -> bool:
    return connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (schema.role,)).fetchone() is not None
