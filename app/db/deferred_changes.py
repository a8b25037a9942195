"""Rows that transactions have yet to write: those of a group are written together, before its commit."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection

from app.db.row_changes import Row, RowChange, RowKey, write_rows

UNLOCKED = "a row of the ledger was changed without its lock"


class RowsTakenError(Exception):
    """Another transaction has inserted a row with the same key first."""


class DeferredChanges:
    """Rows that wait to be written. Rows with the same key become one."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[RowChange, dict[RowKey, Row]] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, change: RowChange, row: Row) -> None:
        """Add a row."""
        rows, key = self._rows.setdefault(change, {}), change.find_key(row)
        rows[key] = change.merge(rows[key], row) if key in rows else row

    def extend(self, later: "DeferredChanges") -> None:
        """Add the rows that follow these."""
        for change, rows in later._rows.items():  # noqa: SLF001 - of the same class
            for row in rows.values():
                self.add(change, row)

    def find(self, change: RowChange, key: RowKey) -> Row | None:
        """Return the row with this key, or None."""
        return self._rows.get(change, {}).get(key)

    def list_keys(self, change: RowChange) -> Iterator[RowKey]:
        """Return the keys of the rows of one change."""
        return iter(self._rows.get(change, ()))

    def write(self, connection: Connection, cursor: Any) -> None:  # noqa: ANN401 - the driver's
        """Write all rows, in the order of the tables' references and of each table's keys.

        So a row follows those that it refers to, whichever was added first, and no two groups wait for each other.

        Raises:
            RowsTakenError: a key that others may insert exists already.
            AssertionError: another row was not written.
            DBAPIError: as `write_rows`.
        """
        pending, self._rows = self._rows, {}
        if not pending:
            return
        changes = sorted(pending, key=attrgetter("place"))
        rows = {change: [each for _, each in sorted(pending[change].items())] for change in changes}
        for (change, expected), written in zip(rows.items(), write_rows(connection, cursor, rows), strict=True):
            if written == len(expected):
                continue
            if change.is_claim:
                raise RowsTakenError
            if not change.on_conflict:
                raise AssertionError(UNLOCKED)
