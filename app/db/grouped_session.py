"""A session of one of several transactions that are committed together."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from app.db.compiled_statements import Statement, execute_text
from app.db.deferred_changes import DeferredChanges
from app.db.dialects.error_translation import translate_errors
from app.db.row_changes import Row, RowChange, RowKey
from app.db.session import WriteSession


class GroupLostError(Exception):
    """The other transactions of the group are undone too: because of `cause`, or if it is None, of the last error."""

    def __init__(self, cause: BaseException | None) -> None:
        super().__init__()
        self.cause = cause


class GroupedSession(WriteSession):
    """A transaction of a group. Its `commit()` adds it to the group's commit.

    Its rows are held back until a statement may depend on them. Before its first statement the rows of the transactions
    before it are written, and a savepoint is set. A transaction that needs no statement has none to roll back.

    Args:
        group: the session of the whole group.
        earlier: the rows of the transactions before it that are not written yet.
        dataset_id: the dataset whose account it has locked.
        has_savepoint: whether its savepoint is set already.
        learns_at_once: whether `claim` writes its row at once.
    """

    __slots__ = ("_dataset_id", "_earlier", "_group", "_has_savepoint", "_learns_at_once", "_lost", "_rows", "wanted")

    def __init__(
        self,
        group: WriteSession,
        earlier: DeferredChanges,
        dataset_id: int,
        *,
        has_savepoint: bool,
        learns_at_once: bool,
    ) -> None:
        super().__init__(group.connection)
        self._group, self._earlier, self._dataset_id = group, earlier, dataset_id
        self._has_savepoint, self._learns_at_once = has_savepoint, learns_at_once
        self._rows = DeferredChanges()
        self._lost: Exception | None = None
        self.held.update(group.held)
        self.wanted = False

    def locks(self, dataset_id: int) -> bool:
        """Return whether this is the dataset whose account it has locked."""
        return dataset_id == self._dataset_id

    def put(self, change: RowChange, row: Row) -> None:
        """Add a row to those that are written later."""
        self._require_open()
        self._rows.add(change, row)

    def claim(self, change: RowChange, row: Row) -> bool:
        """Return whether the key is free, as far as the group knows; the row is written as in `put`."""
        self._require_open()
        if self.find_pending(change, change.find_key(row)) is not None:
            return False
        if self._learns_at_once:
            self._write_before()
            return super().claim(change, row)
        self._rows.add(change, row)
        return True

    def find_pending(self, change: RowChange, key: RowKey) -> Row | None:
        """Return the row with this key that is not written yet; None if there is none."""
        return self._rows.find(change, key) or self._earlier.find(change, key)

    def list_pending_keys(self, change: RowChange) -> Iterator[RowKey]:
        """Return the keys of the rows that are not written yet."""
        return chain(self._earlier.list_keys(change), self._rows.list_keys(change))

    def _run(self, statement: Statement, parameters: Mapping[str, object]) -> list[Any]:
        self._write_before()
        return super()._run(statement, parameters)

    def _write_before(self) -> None:
        """Write what a statement may depend on."""
        self._require_open()
        if not self._has_savepoint:
            try:
                with translate_errors():
                    self._earlier.write(self._connection, self._cursor)
                    execute_text(self._connection, "SAVEPOINT part")
            except Exception as error:
                self._lost = error
                raise
            self._has_savepoint = True
        self._rows.write(self._connection, self._cursor)

    def keep(self) -> None:
        """Add its rows, and what it holds, to those of the group."""
        self._earlier.extend(self._rows)
        self._group.held.clear()
        self._group.held.update(self.held)

    def undo(self) -> None:
        """Roll it back alone.

        Raises:
            GroupLostError: the whole group is rolled back.
        """
        if self._lost is not None:
            raise GroupLostError(self._lost)
        if self._has_savepoint:
            try:
                execute_text(self._connection, "ROLLBACK TO part")
            except SQLAlchemyError:
                raise GroupLostError(None) from None

    def commit(self) -> None:
        """End the session. The transaction is durable when the group's commit has returned."""
        self.wanted = True
        self.end()
