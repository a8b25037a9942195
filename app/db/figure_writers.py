"""Writes one figure or one collection to the figures' database, in a transaction that holds its lock."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psycopg import Connection, sql

from app.db.figures_schema import COLUMNS, Schema, add_view

_CONTENT = """(
SELECT md5(t::text || coalesce((
    SELECT string_agg(d::text, '' ORDER BY position) FROM {schema}.{details} AS d WHERE ({d_key}) = ({t_key})), ''))
FROM {schema}.{table} AS t WHERE ({t_key}) = ({state_key}))"""


class Writer(ABC):
    """Writes one figure or collection in a transaction that holds its lock.

    Attributes:
        key: the columns that have its names.
        table: has a row for each that is published.
        details: has its numbers or its figures, by their position.
        state: has the last change that each was written for, and the hash of what was written.
    """

    key: ClassVar[Sequence[str]]
    table: ClassVar[str]
    details: ClassVar[str]
    state: ClassVar[str]

    def __init__(self, connection: Connection[Any], schema: Schema, names: Sequence[str]) -> None:
        self._connection, self._schema, self._names = connection, schema, tuple(names)

    @classmethod
    def identifiers(cls) -> dict[str, sql.Composable]:
        """Return its names in a statement; `names` is a parameter for each column of the key."""
        return {
            "key": _list_columns(cls.key),
            "names": sql.SQL(", ").join([sql.Placeholder()] * len(cls.key)),
            "table": sql.Identifier(cls.table),
            "details": sql.Identifier(cls.details),
            "state": sql.Identifier(cls.state),
        }

    @classmethod
    def content(cls, schema: Schema) -> sql.Composed:
        """Return an expression for the hash of what is there of a row of `state`; it is null if there is nothing."""
        keys = {f"{of}_key": _list_columns(cls.key, of) for of in ("d", "t")}
        return schema.format(_CONTENT, **cls.identifiers(), **keys, state_key=_list_columns(cls.key, cls.state))

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
        text = "UPDATE {schema}.{state} SET change = %s, content = {content} WHERE ({key}) = ({names})"
        self._execute(text, change, *self._names)

    def forget(self) -> None:
        """Remove what the ledger does not have."""
        self._delete()
        self._execute("DELETE FROM {schema}.{state} WHERE ({key}) = ({names})", *self._names)

    def _delete(self) -> None:
        self._execute("DELETE FROM {schema}.{details} WHERE ({key}) = ({names})", *self._names)
        self._execute("DELETE FROM {schema}.{table} WHERE ({key}) = ({names})", *self._names)

    @abstractmethod
    def _insert(self, facts: Mapping[str, Any], rows: Sequence[Any]) -> None:
        """Insert what is published."""

    def _execute(self, text: str, *values: object) -> None:
        named = self.identifiers() | {"content": self.content(self._schema)}
        self._connection.execute(self._schema.format(text, **named), values)


class FigureWriter(Writer):
    """Writes a figure, with its rows."""

    key, table, details, state = ("dataset", "figure"), "figures", "figure_rows", "state"

    def _insert(self, facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        told = (facts["version"], facts["title"], facts["note"], facts["published_at"])
        self._execute(
            "INSERT INTO {schema}.figures ({key}, version, title, note, published_at) VALUES ({names}, %s, %s, %s, %s)",
            *(*self._names, *told),
        )
        columns = sql.SQL(", ").join(map(sql.Identifier, (*self.key, "position", *COLUMNS)))
        copy = self._schema.format("COPY {schema}.figure_rows ({columns}) FROM STDIN", columns=columns)
        with self._connection.cursor().copy(copy) as copied:
            for position, row in enumerate(rows, 1):
                copied.write_row((*self._names, position, *(row[name] for name in COLUMNS)))
        add_view(self._connection, self._schema, self._names[0])


class CollectionWriter(Writer):
    """Writes a collection, with the names of its figures in their order."""

    key, table, details, state = ("collection",), "collections", "collection_members", "collection_state"

    def _insert(self, facts: Mapping[str, Any], rows: Sequence[tuple[str, str]]) -> None:
        told = (facts["title"], facts["note"], facts["changed_at"])
        self._execute("INSERT INTO {schema}.collections VALUES ({names}, %s, %s, %s)", *self._names, *told)
        for position, figure in enumerate(rows, 1):
            values = (*self._names, position, *figure)
            self._execute("INSERT INTO {schema}.collection_members VALUES ({names}, %s, %s, %s)", *values)


def _list_columns(names: Sequence[str], *of: str) -> sql.Composed:
    """Return columns, perhaps those of a table."""
    return sql.SQL(", ").join(sql.Identifier(*of, name) for name in names)
