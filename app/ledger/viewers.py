"""Viewers: who may see a dataset's figures, and nothing else of it."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import principals, viewers
from app.errors import SealBrokenError
from app.ledger.chain.keyring import Keyring, Seal

VERSION = "snapledger-viewer-v1"


class Viewer(NamedTuple):
    """A principal that may see a dataset's figures. The fields are the columns, in order, and then its names."""

    dataset_id: int
    principal_id: int
    granted_at: str
    seal: bytes
    principal: str
    display_name: str | None


_OF_DATASET = viewers.c.dataset_id == bindparam("dataset_id")
_SELECT = (
    select(*viewers.c, principals.c.name, principals.c.display_name)
    .join_from(viewers, principals, principals.c.id == viewers.c.principal_id)
    .where(_OF_DATASET)
    .order_by(principals.c.name)
)
_ONE = _SELECT.where(viewers.c.principal_id == bindparam("viewer"))
_PAGE = _SELECT.where(principals.c.name > bindparam("after")).limit(bindparam("most"))
_PUT = upsert(
    viewers, lambda insert: insert.on_conflict_do_nothing(index_elements=["dataset_id", "principal_id"]).inline()
)
_DELETE = delete(viewers).where(_OF_DATASET, viewers.c.principal_id == bindparam("viewer"))


def _is_sealed(keyring: Keyring, found: Viewer) -> bool:
    return keyring.is_sealed(found.seal, VERSION, *found[:3])


def is_viewer(session: Session, keyring: Keyring, dataset_id: int, principal_id: int) -> bool:
    """Whether a principal may see a dataset's figures.

    Raises:
        SealBrokenError: the grant does not match its seal.
    """
    row = session.row(_ONE, dataset_id=dataset_id, viewer=principal_id)
    if row is not None and not _is_sealed(keyring, Viewer(*row)):
        raise SealBrokenError
    return row is not None


def find_viewer(session: Session, dataset_id: int, principal_id: int) -> Viewer | None:
    """Return one viewer of a dataset, or None."""
    row = session.row(_ONE, dataset_id=dataset_id, viewer=principal_id)
    return None if row is None else Viewer(*row)


def page_of_viewers(session: Session, dataset_id: int, after: str | None, limit: int) -> list[Viewer]:
    """Return at most `limit` viewers of a dataset by name, that follow the name `after`."""
    return [Viewer(*row) for row in session.rows(_PAGE, dataset_id=dataset_id, after=after or "", most=limit)]


def grant_viewer(transaction: WriteSession, seal: Seal, dataset_id: int, principal_id: int, at: str) -> bool:
    """Let a principal see a dataset's figures; return False if it may already."""
    sealed = seal.seal_row(VERSION, dataset_id, principal_id, at)
    return (
        transaction.change(
            _PUT[transaction.dialect], dataset_id=dataset_id, principal_id=principal_id, granted_at=at, seal=sealed
        )
        == 1
    )


def revoke_viewer(transaction: WriteSession, dataset_id: int, principal_id: int) -> bool:
    """Revoke what `grant_viewer` granted; return False if there was nothing to revoke."""
    return transaction.change(_DELETE, dataset_id=dataset_id, viewer=principal_id) == 1


def find_unsealed(session: Session, keyring: Keyring, dataset_id: int) -> Iterator[str]:
    """Yield a problem for each viewer of a dataset whose grant does not match its seal."""
    for row in session.rows(_SELECT, dataset_id=dataset_id):
        viewer = Viewer(*row)
        if not _is_sealed(keyring, viewer):
            yield f"the viewer {viewer.principal} was changed after it was sealed"
