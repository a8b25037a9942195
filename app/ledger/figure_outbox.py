"""The outbox of figures: which of them the figures' database does not have yet, as they are now.

A figure's row is changed in the transaction that publishes or withdraws it, so no change is lost, whatever fails later.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import datasets, figure_outbox, figures


class Change(NamedTuple):
    """A figure's latest change, and the last one that the figures' database is known to have."""

    figure_id: int
    dataset_id: int
    dataset: str
    figure: str
    change: int
    written: int


_ADD = upsert(
    figure_outbox,
    lambda insert: (
        insert.values(figure_id=bindparam("figure"), change=1, written=0)
        .on_conflict_do_update(index_elements=["figure_id"], set_={"change": figure_outbox.c.change + 1})
        .inline()
    ),
)
_ALL = (
    select(
        *(figures.c.id, figures.c.dataset_id, datasets.c.name.label("dataset"), figures.c.name.label("figure")),
        *(figure_outbox.c.change, figure_outbox.c.written),
    )
    .join_from(figure_outbox, figures, figures.c.id == figure_outbox.c.figure_id)
    .join(datasets, datasets.c.id == figures.c.dataset_id)
)
_PENDING = (
    _ALL.where(figure_outbox.c.written != figure_outbox.c.change, figures.c.id > bindparam("after"))
    .order_by(figures.c.id)
    .limit(bindparam("most"))
)
_ONE = _ALL.where(figures.c.id == bindparam("figure"))
_SET_WRITTEN = (
    update(figure_outbox).where(figure_outbox.c.figure_id == bindparam("figure")).values(written=bindparam("known"))
)


def add_change(transaction: WriteSession, figure_id: int) -> None:
    """Note that a figure has changed, in the transaction of the change."""
    transaction.change(_ADD[transaction.dialect], figure=figure_id)


def list_pending(session: Session, after: int, limit: int) -> list[Change]:
    """Return at most `limit` figures, from the one after the id `after` on, that are not written as they are now."""
    return [Change(*row) for row in session.rows(_PENDING, after=after, most=limit)]


def list_changes(session: Session) -> list[Change]:
    """Return the latest change of every figure."""
    return [Change(*row) for row in session.rows(_ALL)]


def find_change(session: Session, figure_id: int) -> Change:
    """Return a figure's latest change."""
    return Change(*session.row(_ONE, figure=figure_id))


def set_written(transaction: WriteSession, figure_id: int, change: int) -> None:
    """Note the change of a figure that the figures' database has; 0 if it has none."""
    transaction.change(_SET_WRITTEN, figure=figure_id, known=change)
