"""The outboxes: which figures and collections the figures' database does not have yet as they are now.

Their rows are changed in the transaction that changes a figure or a collection, so no change is lost, whatever fails
later.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, FromClause, Table, bindparam, func, select, update

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import collection_outbox, datasets, figure_outbox, figures


class Change(NamedTuple):
    """The latest change of a figure or collection, and the last one that the figures' database is known to have.

    Attributes:
        key: the figure's id, or the collection's name.
        names: the names of the dataset and the figure, or of the collection.
    """

    key: Any
    change: int
    written: int
    names: tuple[str, ...]


class Outbox:
    """One outbox: of figures, or of collections, deleted ones included.

    Args:
        table: its first column is the key.
        names: the columns that have the names.
        source: the table, joined with others that the names are in.
    """

    def __init__(self, table: Table, names: Sequence[Column[str]], source: FromClause) -> None:
        key, changes = table.c[0], table.c.change
        keyed = key == bindparam("of_key")
        self._add = upsert(
            table,
            lambda insert: (
                insert.values({key: bindparam("of_key"), changes: 1, table.c.written: 0})
                .on_conflict_do_update(index_elements=[key], set_={"change": changes + 1})
                .inline()
            ),
        )
        self._all = select(*table.c, *(name.label(f"name_{place}") for place, name in enumerate(names))).select_from(
            source
        )
        self._pending = (
            self._all.where(table.c.written != changes, key > bindparam("after")).order_by(key).limit(bindparam("most"))
        )
        self._count = select(func.count().label("found")).select_from(table).where(table.c.written != changes)
        self._one = self._all.where(keyed)
        self._set_written = update(table).where(keyed).values(written=bindparam("known"))

    def add_change(self, transaction: WriteSession, key: int | str) -> None:
        """Note a change, in its transaction."""
        transaction.change(self._add[transaction.dialect], of_key=key)

    def list_pending(self, session: Session, after: int | str, limit: int) -> list[Change]:
        """Return at most `limit` that are not written as they are now, by their keys, from the one after `after` on."""
        return [_change_of(row) for row in session.rows(self._pending, after=after, most=limit)]

    def count_pending(self, session: Session) -> int:
        """Return how many are not written as they are now."""
        found: int = session.row(self._count).found
        return found

    def list_changes(self, session: Session) -> list[Change]:
        """Return the latest change of each."""
        return [_change_of(row) for row in session.rows(self._all)]

    def find_change(self, session: Session, key: int | str) -> Change:
        """Return the latest change of one."""
        return _change_of(session.row(self._one, of_key=key))

    def set_written(self, transaction: WriteSession, key: int | str, change: int) -> None:
        """Note the change that the figures' database has; 0 if it has none."""
        transaction.change(self._set_written, of_key=key, known=change)


def _change_of(row: tuple[Any, ...]) -> Change:
    key, change, written, *names = row
    return Change(key, change, written, tuple(names))


OF_FIGURES = Outbox(
    figure_outbox,
    (datasets.c.name, figures.c.name),
    figure_outbox.join(figures, figures.c.id == figure_outbox.c.figure_id).join(
        datasets, datasets.c.id == figures.c.dataset_id
    ),
)
OF_COLLECTIONS = Outbox(collection_outbox, (collection_outbox.c.name,), collection_outbox)
