"""The outbox of collections: which of them the figures' database does not have yet, as they are now.

It is changed in the transaction that changes a collection, as `app.ledger.figure_outbox` for figures.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import collection_outbox


class Change(NamedTuple):
    """A collection's latest change, and the last one that the figures' database is known to have."""

    name: str
    change: int
    written: int


_NAMED = collection_outbox.c.name == bindparam("collection")
_ADD = upsert(
    collection_outbox,
    lambda insert: (
        insert.values(name=bindparam("collection"), change=1, written=0)
        .on_conflict_do_update(index_elements=["name"], set_={"change": collection_outbox.c.change + 1})
        .inline()
    ),
)
_ALL = select(collection_outbox)
_PENDING = (
    _ALL.where(collection_outbox.c.written != collection_outbox.c.change, collection_outbox.c.name > bindparam("after"))
    .order_by(collection_outbox.c.name)
    .limit(bindparam("most"))
)
_ONE = _ALL.where(_NAMED)
_SET_WRITTEN = update(collection_outbox).where(_NAMED).values(written=bindparam("known"))


def add_change(transaction: WriteSession, name: str) -> None:
    """Note that a collection has changed, in the transaction of the change."""
    transaction.change(_ADD[transaction.dialect], collection=name)


def list_pending(session: Session, after: str, limit: int) -> list[Change]:
    """Return at most `limit` collections, that follow the name `after`, that are not written as they are now."""
    return [Change(*row) for row in session.rows(_PENDING, after=after, most=limit)]


def list_changes(session: Session) -> list[Change]:
    """Return the latest change of every collection, deleted ones included."""
    return [Change(*row) for row in session.rows(_ALL)]


def find_change(session: Session, name: str) -> Change:
    """Return a collection's latest change."""
    return Change(*session.row(_ONE, collection=name))


def set_written(transaction: WriteSession, name: str, change: int) -> None:
    """Note the change of a collection that the figures' database has; 0 if it has none."""
    transaction.change(_SET_WRITTEN, collection=name, known=change)
