"""Writes one figure or one collection to the figures' database, in a transaction that holds its lock."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psycopg import Connection, sql

MAX_NAME_BYTES = 63
_DIGEST_DIGITS = 20  # fewer could be found by trying names
LOCK = 0x5E_1F_16
"""The advisory lock of whoever changes the schema."""

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
}
"""The columns of a figure's rows that have numbers and what is told of them, with their types."""


class Writer(ABC):
    """Writes one figure or collection in a transaction that holds its lock.

    Attributes:
        key: the columns that have its names.
        table: has a row for each that is published.
        state: has the last change that each was written for.
    """

    key: ClassVar[Sequence[str]]
    table: ClassVar[str]
    state: ClassVar[str]

    def __init__(self, connection: Connection[Any], schema: str, role: str, names: Sequence[str]) -> None:
        self._connection, self._schema, self._role, self._names = connection, schema, role, tuple(names)

    @classmethod
    def identifiers(cls) -> dict[str, sql.Composable]:
        """Return its names in a statement; `names` is a parameter for each column of the key."""
        return {
            "key": sql.SQL(", ").join(map(sql.Identifier, cls.key)),
            "names": sql.SQL(", ").join([sql.Placeholder()] * len(cls.key)),
            "table": sql.Identifier(cls.table),
            "state": sql.Identifier(cls.state),
        }

    def lock(self) -> None:
        """Lock it until the end of the transaction."""
        insertion = "INSERT INTO {schema}.{state} ({key}, change) VALUES ({names}, 0) ON CONFLICT DO NOTHING"
        self._execute(insertion, *self._names)
        self._execute("SELECT 1 FROM {schema}.{state} WHERE ({key}) = ({names}) FOR UPDATE", *self._names)

    def replace(self, change: int, facts: Mapping[str, Any] | None, rows: Sequence[Any]) -> None:
        """Write it as it is after this change. `facts` is None if it is withdrawn or deleted."""
        self._delete()
        if facts is not None:
            self._insert(facts, rows)
        self._execute("UPDATE {schema}.{state} SET change = %s WHERE ({key}) = ({names})", change, *self._names)

    def forget(self) -> None:
        """Remove what the ledger does not have."""
        self._delete()
        self._execute("DELETE FROM {schema}.{state} WHERE ({key}) = ({names})", *self._names)

    def _delete(self) -> None:
        self._execute("DELETE FROM {schema}.{table} WHERE ({key}) = ({names})", *self._names)

    @abstractmethod
    def _insert(self, facts: Mapping[str, Any], rows: Sequence[Any]) -> None:
        """Insert what is published."""

    def _execute(self, text: str, *values: object) -> None:
        self._connection.execute(self._format(text, **self.identifiers()), values)

    def _format(self, text: str, **more: sql.Composable) -> sql.Composed:
        return format_statement(text, self._schema, self._role, **more)


class FigureWriter(Writer):
    """Writes a figure, with its rows."""

    key, table, state = ("dataset", "figure"), "figures", "state"

    def _insert(self, facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        told = (facts["version"], facts["title"], facts["note"], facts["published_at"])
        self._execute(
            "INSERT INTO {schema}.figures ({key}, version, title, note, published_at) VALUES ({names}, %s, %s, %s, %s)",
            *(*self._names, *told),
        )
        with self._connection.cursor().copy(self._format("COPY {schema}.figure_rows FROM STDIN")) as copied:
            for position, row in enumerate(rows, 1):
                copied.write_row((*self._names, position, *(row[name] for name in COLUMNS)))
        self._add_view()

    def _add_view(self) -> None:
        """Create the dataset's view, unless it is there: to replace it would wait for whoever reads it.

        It is a barrier: a reader's own conditions and functions see no row of another dataset.
        """
        dataset = self._names[0]
        name = view_name(dataset)
        self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if exists(self._connection, self._schema, name):
            return
        names = {"view": sql.Identifier(name), "dataset": sql.Literal(dataset)}
        text = "SELECT * FROM {schema}.figure_rows WHERE dataset = {dataset}"
        view = "CREATE VIEW {schema}.{view} WITH (security_barrier) AS "
        self._connection.execute(self._format(view + text, **names))
        if self._connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (self._role,)).fetchone():
            self._connection.execute(self._format("GRANT SELECT ON {schema}.{view} TO {role}", **names))


class CollectionWriter(Writer):
    """Writes a collection, with the names of its figures in their order."""

    key, table, state = ("collection",), "collections", "collection_state"

    def _insert(self, facts: Mapping[str, Any], rows: Sequence[tuple[str, str]]) -> None:
        told = (facts["title"], facts["note"], facts["changed_at"])
        self._execute("INSERT INTO {schema}.collections VALUES ({names}, %s, %s, %s)", *self._names, *told)
        for position, figure in enumerate(rows, 1):
            values = (*self._names, position, *figure)
            self._execute("INSERT INTO {schema}.collection_members VALUES ({names}, %s, %s, %s)", *values)


def exists(connection: Connection[Any], schema: str, name: str) -> bool:
    """Whether a schema has a table or view with this name."""
    found = connection.execute("SELECT to_regclass(%s)", (f'"{schema}"."{name}"',)).fetchone()
    return found is not None and found[0] is not None


def format_statement(text: str, schema: str, role: str, **more: sql.Composable) -> sql.Composed:
    """Return a statement with the names of the schema, of the readers' role, and more in their places."""
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
