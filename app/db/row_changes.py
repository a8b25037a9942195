"""How rows of a table are written together: one statement for any number of rows, and on Postgres for all tables.

On Postgres the rows of a table are one parameter, a JSON array. So the text of a statement does not depend on how many
there are, the server plans it once, and all of them take one round trip.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect

from app.db.compiled_statements import run_compiled, run_for_each

Row: TypeAlias = Mapping[str, Any]
RowKey: TypeAlias = tuple[Any, ...]

BEFORE = "before_"
"""Begins the name of the value that a column must still have when its row is updated."""

_POSTGRES: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]


def take_latest(before: Row, after: Row) -> Row:
    """Return the later values of a row, on the condition of the earlier ones."""
    return {**after, **{name: value for name, value in before.items() if name.startswith(BEFORE)}}


@dataclass(frozen=True, slots=True, eq=False)
class RowChange:
    """How rows of a table are inserted, or updated if `conditions` is given.

    Attributes:
        table: the table.
        columns: the columns that are written.
        on_conflict: in SQL, what happens to an inserted row whose key exists; if empty, such a row is a defect.
        conditions: of an update: the columns that must still have the values that the row has under `before_…`.
        is_claim: whether another transaction may insert the same key, so that only one of the two may commit.
        merge: returns what is left of two rows with the same key.
        place: the place of the table in an order in which each table follows those that it refers to.
        text: the statement for SQLite, for one row.
        part: the statement for Postgres, for the rows in the parameter that stands for `{rows}`.
    """

    table: Table
    columns: Sequence[str]
    on_conflict: str = ""
    conditions: Sequence[str] = ()
    is_claim: bool = False
    merge: Callable[[Row, Row], Row] = take_latest
    place: int = field(init=False)
    text: str = field(init=False)
    part: str = field(init=False)
    _keys: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        keys = [column.name for column in self.table.primary_key]
        object.__setattr__(self, "_keys", keys)
        object.__setattr__(self, "place", self.table.metadata.sorted_tables.index(self.table))
        make = self._make_update if self.conditions else self._make_insert
        object.__setattr__(self, "text", make(""))
        types = {name: self.table.c[name].type for name in dict.fromkeys((*keys, *self.columns))}
        types |= {BEFORE + name: self.table.c[name].type for name in self.conditions}
        named = ", ".join(f"{name} {type_.compile(_POSTGRES)}" for name, type_ in types.items())
        object.__setattr__(self, "part", make(f"json_to_recordset(%({{rows}})s::json) AS v({named})"))

    def find_key(self, row: Row) -> RowKey:
        """Return the primary key of a row."""
        return tuple([row[name] for name in self._keys])

    def _make_insert(self, vector: str) -> str:
        names = ", ".join(self.columns)
        values = f"VALUES ({', '.join(f':{name}' for name in self.columns)})"
        if vector:
            values = f"SELECT {names} FROM {vector}"  # noqa: S608 - all of it is our own text
        conflict = f" ON CONFLICT ({', '.join(self._keys)}) {self.on_conflict}" if self.on_conflict else ""
        return f"INSERT INTO {self.table.name} ({names}) {values}{conflict}"

    def _make_update(self, vector: str) -> str:
        name, new = self.table.name, "v." if vector else ":"
        values = ", ".join(f"{column} = {new}{column}" for column in self.columns)
        found = [f"{name}.{key} = {new}{key}" for key in self._keys]
        found += [f"{name}.{column} = {new}{BEFORE}{column}" for column in self.conditions]
        source = f" FROM {vector}" if vector else ""
        return f"UPDATE {name} SET {values}{source} WHERE {' AND '.join(found)}"  # noqa: S608 - as above


def write_rows(connection: Connection, cursor: Any, changes: Mapping[RowChange, Sequence[Row]]) -> list[int]:  # noqa: ANN401 - the driver's
    """Write the rows of each change, and return how many of them were written.

    Raises:
        DBAPIError: as `CompiledStatement.run`.
    """
    if connection.dialect.name == "sqlite":
        return [
            run_for_each(connection, cursor, change.text, map(_to_sqlite, rows)) for change, rows in changes.items()
        ]
    bound = {f"rows_{place}": _encode(rows) for place, rows in enumerate(changes.values())}
    (counts,) = run_compiled(connection, cursor, _combine(tuple(changes)), bound)
    return list(counts)


def _to_sqlite(row: Row) -> Row:
    """Convert bytes to bytearrays: for `bytes`, SQLite's driver searches for an adapter, which takes longer."""
    return {name: bytearray(value) if type(value) is bytes else value for name, value in row.items()}


def _encode_bytes(value: object) -> str:
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    raise TypeError


_encode = json.JSONEncoder(default=_encode_bytes, allow_nan=False, separators=(",", ":")).encode
_combinations: dict[tuple[RowChange, ...], str] = {}


def _combine(changes: tuple[RowChange, ...]) -> str:
    """Return one statement for the changes from the cache; there are few, since their order is fixed."""
    found = _combinations.get(changes)
    if found is None:
        parts = (
            f"c{place} AS ({each.part.format(rows=f'rows_{place}')} RETURNING 1)" for place, each in enumerate(changes)
        )
        counts = (f"(SELECT count(*) FROM c{place})" for place in range(len(changes)))  # noqa: S608 - as above
        found = _combinations[changes] = f"WITH {', '.join(parts)} SELECT {', '.join(counts)}"
    return found
