"""Viewers of collections: who may see the figures that are in a collection, and nothing else of their datasets."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import collection_viewers, collections, principals
from app.errors import SealBrokenError
from app.ledger.chain.keyring import Keyring, Seal

VERSION = "snapledger-collection-viewer-v1"


class CollectionViewer(NamedTuple):
    """A principal that may see a collection. The fields are the columns, in order, and then its names."""

    collection_id: int
    principal_id: int
    granted_at: str
    seal: bytes
    principal: str
    display_name: str | None


_OF_COLLECTION = collection_viewers.c.collection_id == bindparam("collection")
_OF_PRINCIPAL = collection_viewers.c.principal_id == bindparam("viewer")
_SELECT = (
    select(*collection_viewers.c, principals.c.name, principals.c.display_name)
    .join_from(collection_viewers, principals, principals.c.id == collection_viewers.c.principal_id)
    .where(_OF_COLLECTION)
    .order_by(principals.c.name)
)
_ONE = _SELECT.where(_OF_PRINCIPAL)
_PAGE = _SELECT.where(principals.c.name > bindparam("after")).limit(bindparam("most"))
_ALL = select(
    *collection_viewers.c, principals.c.name.label("principal"), collections.c.name.label("collection")
).select_from(
    collection_viewers.outerjoin(principals, principals.c.id == collection_viewers.c.principal_id).outerjoin(
        collections, collections.c.id == collection_viewers.c.collection_id
    )
)
_PUT = upsert(
    collection_viewers,
    lambda insert: insert.on_conflict_do_nothing(index_elements=["collection_id", "principal_id"]).inline(),
)
_DELETE = delete(collection_viewers).where(_OF_COLLECTION, _OF_PRINCIPAL)


def is_viewer(session: Session, keyring: Keyring, collection_id: int, principal_id: int) -> bool:
    """Whether a collection is granted to a principal.

    Raises:
        SealBrokenError: the grant does not match its seal.
    """
    found = find_viewer(session, collection_id, principal_id)
    if found is not None and not keyring.is_sealed(found.seal, VERSION, *found[:3]):
        raise SealBrokenError
    return found is not None


def find_viewer(session: Session, collection_id: int, principal_id: int) -> CollectionViewer | None:
    """Return one viewer of a collection, or None."""
    row = session.row(_ONE, collection=collection_id, viewer=principal_id)
    return None if row is None else CollectionViewer(*row)


def page_of_viewers(session: Session, collection_id: int, after: str | None, limit: int) -> list[CollectionViewer]:
    """Return at most `limit` viewers of a collection by name, that follow the name `after`."""
    rows = session.rows(_PAGE, collection=collection_id, after=after or "", most=limit)
    return [CollectionViewer(*row) for row in rows]


def grant_viewer(transaction: WriteSession, seal: Seal, collection_id: int, principal_id: int, at: str) -> bool:
    """Let a principal see a collection, under the lock of collections; return False if it may already."""
    values = {"collection_id": collection_id, "principal_id": principal_id, "granted_at": at}
    sealed = seal.seal_row(VERSION, collection_id, principal_id, at)
    return transaction.change(_PUT[transaction.dialect], **values, seal=sealed) == 1


def revoke_viewer(transaction: WriteSession, collection_id: int, principal_id: int) -> bool:
    """Revoke what `grant_viewer` granted; return False if there was nothing to revoke."""
    return transaction.change(_DELETE, collection=collection_id, viewer=principal_id) == 1


def find_unsealed(session: Session, keyring: Keyring) -> Iterator[str]:
    """Yield a problem for each viewer whose grant does not match its seal, or belongs to nothing."""
    for row in session.rows(_ALL):
        if row.collection is None or row.principal is None:
            yield "a viewer of a collection belongs to nothing: it was changed, or what it belonged to"
        elif not keyring.is_sealed(row.seal, VERSION, *row[:3]):
            yield f"the viewer {row.principal} of the collection {row.collection} was changed after it was sealed"
