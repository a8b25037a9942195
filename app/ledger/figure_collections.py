"""Collections: figures under a name, in an order. A collection's seal covers which figures are in it."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Select, bindparam, delete, func, insert, or_, select, update

from app.db.page_queries import containing
from app.db.session import Session, WriteSession
from app.db.tables import collection_figures, collection_viewers, collections, figures, principals
from app.errors import SealBrokenError
from app.ledger import outboxes
from app.ledger.chain.canonical_json import encode_array
from app.ledger.chain.keyring import Keyring, Seal
from app.ledger.figure_lists import FigureListReader
from app.ledger.figures import LATEST, Audience, Published, published_of_row

VERSION = "snapledger-collection-v1"
_CHANGING = 7_309_475_598_860_382_562  # the advisory lock's number: any number that nothing else uses


class Collection(NamedTuple):
    """A collection. The fields are the columns, in order, and then its owner's name.

    Attributes:
        audience: who may see it besides its owner: its viewers, or everybody. It opens no figure to everybody.
        members_hash: the hash of the ids of its figures, in their order.
    """

    id: int
    name: str
    title: str
    note: str | None
    audience: Audience
    owner_id: int
    members_hash: bytes
    changed_at: str
    seal: bytes
    owner: str


_WIDTH = len(collections.c)
_AFTER: BindParameter[str] = bindparam("after")
_PATTERN = func.lower(bindparam("pattern", type_=collections.c.title.type))
_READER = bindparam("reader", type_=principals.c.id.type)
_SELECT = select(*collections.c, principals.c.name.label("owner")).join_from(
    collections, principals, principals.c.id == collections.c.owner_id
)
_NAMED = _SELECT.where(collections.c.name == bindparam("name"))
_PAGE = (
    _SELECT.where(
        collections.c.name > _AFTER,
        or_(
            collections.c.name.like(_PATTERN, escape="\\"), func.lower(collections.c.title).like(_PATTERN, escape="\\")
        ),
    )
    .order_by(collections.c.name)
    .limit(bindparam("most"))
)
_GRANTED = select(collection_viewers.c.collection_id).where(collection_viewers.c.principal_id == _READER)
_ALL = select(collections).order_by(collections.c.id)
_COUNT = select(func.count().label("found")).select_from(collections)
_OF_COLLECTION = collection_figures.c.collection_id == bindparam("collection")
_PLACES = (
    select(collection_figures.c.position, collection_figures.c.figure_id)
    .where(_OF_COLLECTION)
    .order_by(collection_figures.c.position)
)
_MEMBERS = (
    LATEST.join(collection_figures, collection_figures.c.figure_id == figures.c.id)
    .where(_OF_COLLECTION)
    .order_by(collection_figures.c.position)
)
_SHOWING = (
    _SELECT.join(collection_viewers, collection_viewers.c.collection_id == collections.c.id)
    .join(collection_figures, collection_figures.c.collection_id == collections.c.id)
    .where(
        collection_viewers.c.principal_id == _READER,
        collection_figures.c.figure_id == bindparam("figure"),
    )
    .order_by(collections.c.id)
    .limit(1)
)
_LOCK = select(func.pg_advisory_xact_lock(_CHANGING))
_INSERT = insert(collections).returning(collections.c.id)
_SET = (
    update(collections)
    .where(collections.c.id == bindparam("collection"))
    .values({name: bindparam(f"new_{name}") for name in ("title", "note", "audience", "changed_at", "members_hash")})
    .values(seal=bindparam("new_seal"))
)
_ADD_MEMBER = insert(collection_figures).inline()
_REMOVE_MEMBERS = delete(collection_figures).where(_OF_COLLECTION)
_REMOVE_VIEWERS = delete(collection_viewers).where(collection_viewers.c.collection_id == bindparam("collection"))
_REMOVE = delete(collections).where(collections.c.id == bindparam("collection"))


def lock_collections(transaction: WriteSession) -> None:
    """Wait until no other transaction changes collections or their viewers; on SQLite the transaction is the lock."""
    if transaction.dialect == "postgresql":
        transaction.row(_LOCK)


def is_sealed(keyring: Keyring, collection: Collection) -> bool:
    """Whether a collection matches its seal, its figures aside."""
    return keyring.is_sealed(collection.seal, VERSION, *collection[: _WIDTH - 1])


def _require_sealed(keyring: Keyring, collection: Collection) -> Collection:
    if not is_sealed(keyring, collection):
        raise SealBrokenError
    return collection


def _hash_members(places: Sequence[tuple[int, int]]) -> bytes:
    return hashlib.sha256(encode_array(*chain.from_iterable(places))).digest()


def _require_members_whole(session: Session, collection: Collection) -> None:
    if _hash_members(session.rows(_PLACES, collection=collection.id)) != collection.members_hash:
        raise SealBrokenError


def find_collection(session: Session, keyring: Keyring, name: str) -> Collection | None:
    """Return a collection, or None.

    Raises:
        SealBrokenError: it does not match its seal.
    """
    row = session.row(_NAMED, name=name)
    return None if row is None else _require_sealed(keyring, Collection(*row))


def list_members(session: Session, collection: Collection) -> list[Published]:
    """Return the latest versions of a collection's figures in their order, withdrawn ones included.

    Whether each matches its seal is for the caller to check.

    Raises:
        SealBrokenError: they are not the figures that were put into it.
    """
    _require_members_whole(session, collection)
    return [published_of_row(row) for row in session.rows(_MEMBERS, collection=collection.id)]


@cache
def _page_query(*, of_principal: bool, sees_all: bool) -> Select[*tuple[Any, ...]]:
    if sees_all:
        return _PAGE
    is_public = collections.c.audience == "public"
    own = or_(is_public, collections.c.owner_id == _READER, collections.c.id.in_(_GRANTED))
    return _PAGE.where(own if of_principal else is_public)


def page_of_collections(  # noqa: PLR0913, PLR0917 - who asks, and for what
    session: Session, keyring: Keyring, reader: FigureListReader, after: str, limit: int, search: str
) -> list[Collection]:
    """Return at most `limit` collections that a reader may see, by name, that follow the one with the name `after`.

    Only those whose name or title contains `search`, in any case, are listed. Collections that do not match their
    seals are left out: `find_unsealed` tells of them.
    """
    of_principal = reader.principal_id is not None and not reader.sees_all
    query = _page_query(of_principal=of_principal, sees_all=reader.sees_all)
    within: dict[str, object] = {"pattern": containing(search), "most": limit}
    if of_principal:
        within["reader"] = reader.principal_id
    listed: list[Collection] = []
    while len(listed) < limit:
        found = [Collection(*row) for row in session.rows(query, after=after, **within)]
        listed += [each for each in found if is_sealed(keyring, each)]
        if len(found) < limit:
            break
        after = found[-1].name
    return listed[:limit]


def find_collection_that_shows(
    session: Session, keyring: Keyring, figure_id: int, principal_id: int
) -> Collection | None:
    """Return a collection that has this figure and is granted to this principal, or None.

    Raises:
        SealBrokenError: the collection or its figures do not match its seal.
    """
    row = session.row(_SHOWING, figure=figure_id, reader=principal_id)
    if row is None:
        return None
    found = _require_sealed(keyring, Collection(*row))
    _require_members_whole(session, found)
    return found


def count_collections(session: Session) -> int:
    """Return how many collections there are."""
    found: int = session.row(_COUNT).found
    return found


def store_collection(
    transaction: WriteSession, seal: Seal, collection: Collection, figure_ids: Sequence[int]
) -> Collection:
    """Seal and store a collection with its figures, under the lock of collections. It is new if its id is 0.

    The id, the hash of the figures and the seal are replaced.
    """
    places = list(enumerate(figure_ids, 1))
    collection = collection._replace(members_hash=_hash_members(places))
    if collection.id == 0:
        values = {name: getattr(collection, name) for name in Collection._fields[1:_WIDTH]}
        collection = collection._replace(id=transaction.change_returning(_INSERT, **values).id)
    else:
        transaction.change(_REMOVE_MEMBERS, collection=collection.id)
    sealed = collection._replace(seal=seal.seal_row(VERSION, *collection[: _WIDTH - 1]))
    transaction.change_one(
        _SET,
        collection=sealed.id,
        new_title=sealed.title,
        new_note=sealed.note,
        new_audience=sealed.audience,
        new_changed_at=sealed.changed_at,
        new_members_hash=sealed.members_hash,
        new_seal=sealed.seal,
    )
    for position, figure_id in places:
        transaction.change_one(_ADD_MEMBER, collection_id=sealed.id, position=position, figure_id=figure_id)
    outboxes.OF_COLLECTIONS.add_change(transaction, sealed.name)
    return sealed


def remove_collection(transaction: WriteSession, collection: Collection) -> None:
    """Delete a collection with its viewers, under the lock of collections; its figures stay."""
    transaction.change(_REMOVE_MEMBERS, collection=collection.id)
    transaction.change(_REMOVE_VIEWERS, collection=collection.id)
    transaction.change_one(_REMOVE, collection=collection.id)
    outboxes.OF_COLLECTIONS.add_change(transaction, collection.name)


def find_unsealed(session: Session, keyring: Keyring) -> Iterator[str]:
    """Yield a problem for each collection that does not match its seal, or has other figures than were put into it."""
    for row in session.rows(_ALL):
        found = Collection._make((*row, ""))
        places = session.rows(_PLACES, collection=found.id)
        if not is_sealed(keyring, found) or _hash_members(places) != found.members_hash:
            yield f"the collection {found.name} was changed after it was sealed"
