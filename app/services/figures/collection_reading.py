"""Reads collections: each reader sees the figures of a collection that it may open, and no others."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.db.database import Database
from app.db.repositories.principals import Principal
from app.db.session import Session
from app.errors import NoCredentialError, NotFoundError
from app.json_text import encode_json
from app.ledger import figure_collections
from app.ledger.figure_collections import Collection
from app.ledger.figures import Published
from app.roles import Role
from app.services import access
from app.services.access import Credential
from app.services.context import Services
from app.services.figures import figure_access
from app.services.figures.reading import OpenedFigure, describe_figure
from app.services.names import is_name
from app.services.rendering.documents import Document

FORMAT_VERSION = "2"
"""Part of every entity tag: raise it when a form's bytes change."""

_MEMBERS = ("dataset", "figure", "version", "title", "note", "published_at")
_UNKNOWN = dict.fromkeys(_MEMBERS)


def manages(principal: Principal, collection: Collection) -> bool:
    """Whether a principal changes a collection: its owner does, and admins."""
    return principal.role == Role.ADMIN or collection.owner_id == principal.id


def oversees(principal: Principal, collection: Collection) -> bool:
    """Whether a principal sees who sees a collection: its owner, an admin or an auditor."""
    return manages(principal, collection) or access.sees_every_dataset(principal)


@dataclass(frozen=True)
class OpenedCollection:
    """A collection as one reader sees it.

    Attributes:
        members: the figures that the reader may open, and those withdrawn ones that it could open otherwise.
        is_managed: whether the reader is its owner, an admin or an auditor, and so sees whose it is and the names of
            withdrawn figures.
    """

    database: Database
    collection: Collection
    members: Sequence[Published]
    is_managed: bool

    def describe(self) -> Document:
        """Return the collection as JSON, with no member of a withdrawn figure but, for its owner, its names."""
        described = describe_collection(self.collection, tells_owner=self.is_managed)
        return described | {"figures": list(map(self._describe_member, self.members))}

    def _describe_member(self, published: Published) -> Document:
        if published.figure.withdrawn_at is None:
            told = describe_figure(published, sees_dataset=False)
            return {name: told[name] for name in _MEMBERS} | {"withdrawn": False}
        names = {"dataset": published.dataset, "figure": published.figure.name} if self.is_managed else {}
        return _UNKNOWN | names | {"withdrawn": True}

    def open_figures(self) -> Iterator[OpenedFigure | None]:
        """Yield the figures in their order, and None for each withdrawn one."""
        for each in self.members:
            yield OpenedFigure(self.database, each) if each.figure.withdrawn_at is None else None

    def tag(self, *form: str) -> str:
        """Return the strong entity tag of a form: it changes with the collection and with each of its figures."""
        collection = self.collection
        told = (collection.name, collection.title, collection.note, collection.changed_at)
        shown = [None if each is None else each.tag("board") for each in self.open_figures()]
        return f'"{hashlib.sha256(encode_json([FORMAT_VERSION, *form, *told, *shown])).hexdigest()[:32]}"'


def describe_collection(collection: Collection, *, tells_owner: bool) -> Document:
    """Return a collection as JSON, without its figures; the owner's name is for those who manage it."""
    return {
        "name": collection.name,
        "title": collection.title,
        "note": collection.note,
        "audience": collection.audience,
        "owner": collection.owner if tells_owner else None,
        "changed_at": collection.changed_at,
    }


def open_collection(services: Services, credential: Credential | None, name: str) -> OpenedCollection:
    """Return a collection as the caller sees it.

    Raises:
        UnauthenticatedError: the credential is not valid, or it is missing and no public collection has this name.
        NotFoundError: there is no such collection, or the caller may not see it.
        SealBrokenError: the collection or the caller's grant is not what was sealed.
    """
    with services.database.read() as session:
        principal = None if credential is None else access.principal_of(session, credential)
        collection = figure_collections.find_collection(session, services.keyring, name) if is_name(name) else None
        if collection is not None and figure_access.is_collection_visible(
            session, services.keyring, principal, collection
        ):
            return open_collection_for(services, session, principal, collection)
    raise NoCredentialError if credential is None else NotFoundError


def open_collection_for(
    services: Services, session: Session, principal: Principal | None, collection: Collection
) -> OpenedCollection:
    """Return a collection that a reader may see, as it sees it.

    Raises:
        SealBrokenError: a figure or a grant is not what was sealed.
    """
    rights = figure_access.CollectionRights(session, services.keyring, principal, collection)
    members = figure_collections.list_members(session, collection)
    is_managed = principal is not None and oversees(principal, collection)
    return OpenedCollection(services.database, collection, list(filter(rights.may_open, members)), is_managed)


def list_collections(
    services: Services, credential: Credential | None, after: str | None, limit: int, search: str
) -> list[Document]:
    """Return a page of the collections that the caller may see, by name, without their figures.

    Raises:
        UnauthenticatedError: the credential is not valid.
    """
    with services.database.read() as session:
        principal = None if credential is None else access.principal_of(session, credential)
        reader = figure_access.reader_of(principal)
        found = figure_collections.page_of_collections(session, services.keyring, reader, after or "", limit, search)
    return [
        describe_collection(each, tells_owner=principal is not None and oversees(principal, each)) for each in found
    ]
