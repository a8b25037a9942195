"""Makes collections of figures, changes and deletes them.

A collection opens its figures to those to whom it is granted. So only the owner of a figure's dataset puts it into a
collection, or an admin; and nobody grants a collection with figures that are not the grantor's to show.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.db.clock import now
from app.db.repositories import datasets
from app.db.repositories.principals import Principal
from app.db.session import WriteSession
from app.errors import ForbiddenError, InvalidRequestError, NameTakenError, NotFoundError
from app.ledger import figure_collections, figures
from app.ledger.figure_collections import Collection
from app.ledger.figures import Audience, Published
from app.ledger.verification.collection_records import describe_figures
from app.services import access, audit_records
from app.services.context import Services
from app.services.figures import collection_reading, figure_access
from app.services.names import require_name
from app.services.preconditions import Precondition
from app.services.rendering.documents import Document

MAX_FIGURES = 100
"""Of a collection: a board shows all of them on one page."""

MAX_COLLECTIONS = 1_000
"""Of a service: verification reads all of them."""


class FigureName(NamedTuple):
    """The names of a figure and its dataset."""

    dataset: str
    figure: str


@dataclass(frozen=True, slots=True)
class CollectionDefinition:
    """What a collection is to be."""

    title: str
    note: str | None
    audience: Audience
    figures: Sequence[FigureName]


def collection_path(name: str) -> str:
    """Return the path that identifies a collection in the audit log."""
    return f"collections/{name}"


def put_collection(
    services: Services, principal: Principal, name: str, asked: CollectionDefinition, wanted: Precondition
) -> tuple[Document, bool]:
    """Make a collection, or change it to what is asked. The same again changes nothing.

    Returns:
        The collection as the principal sees it, and whether it is new.

    Raises:
        NameTakenError: another owner has a collection with this name.
        InvalidRequestError: a figure does not exist or is not the principal's to show, or there are too many.
        PreconditionFailedError, AlreadyExistsError: the present collection is not as `wanted`.
    """
    with services.database.write() as transaction:
        figure_collections.lock_collections(transaction)
        before = figure_collections.find_collection(transaction, services.keyring, require_name(name))
        if before is not None and not collection_reading.manages(principal, before):
            raise NameTakenError
        opened = (
            None if before is None else collection_reading.open_collection_for(services, transaction, principal, before)
        )
        wanted.require_document(None if opened is None else opened.describe())
        present = [] if before is None else figure_collections.list_members(transaction, before)
        found = _find_figures(services, transaction, principal, asked.figures, present)
        if opened is not None and _is_same(opened.collection, present, asked, found):
            return opened.describe(), False
        if before is None and figure_collections.count_collections(transaction) >= MAX_COLLECTIONS:
            raise InvalidRequestError(("name", f"would be one of more than {MAX_COLLECTIONS:,} collections"))
        put = _store(services, transaction, principal, before, name, asked, found)
        document = collection_reading.open_collection_for(services, transaction, principal, put).describe()
        told = {"title": put.title, "audience": put.audience, "figures": describe_figures(asked.figures)}
        audit_records.record(
            transaction, services.keyring.seal, principal, "collection.put", collection_path(name), **told
        )
        transaction.commit()
    return document, before is None


def _store(  # noqa: PLR0913, PLR0917 - what it was and is to be
    services: Services,
    transaction: WriteSession,
    principal: Principal,
    before: Collection | None,
    name: str,
    asked: CollectionDefinition,
    found: Sequence[Published],
) -> Collection:
    """Store a collection; the owner of an existing one stays, also if an admin changes it."""
    collection_id, owner_id, owner = (
        (0, principal.id, principal.name) if before is None else (before.id, before.owner_id, before.owner)
    )
    collection = Collection(
        *(collection_id, name, asked.title, asked.note, asked.audience, owner_id, b"", now(), b"", owner)
    )
    return figure_collections.store_collection(
        transaction, services.keyring.seal, collection, [each.figure.id for each in found]
    )


def _is_same(
    collection: Collection, present: Sequence[Published], asked: CollectionDefinition, found: Sequence[Published]
) -> bool:
    shown = collection.title, collection.note, collection.audience, [each.figure.id for each in present]
    return shown == (asked.title, asked.note, asked.audience, [each.figure.id for each in found])


def _find_figures(
    services: Services,
    transaction: WriteSession,
    principal: Principal,
    names: Sequence[FigureName],
    present: Sequence[Published],
) -> list[Published]:
    """Return the figures with these names. One that is withdrawn may stay, and is not put in anew.

    Whether a figure does not exist or is not the principal's to show is not told.
    """
    before = {each.figure.id for each in present}
    found: list[Published] = []
    for place, each in enumerate(names):
        figure = _find_figure(services, transaction, principal, each)
        if figure is None or (figure.figure.withdrawn_at is not None and figure.figure.id not in before):
            raise InvalidRequestError((f"figures.{place}", "must be a published figure of a dataset that you own"))
        found.append(figure)
    return found


def _find_figure(
    services: Services, transaction: WriteSession, principal: Principal, named: FigureName
) -> Published | None:
    dataset = datasets.find_dataset(transaction, named.dataset)
    if dataset is None or not access.manages(principal, dataset):
        return None
    return figures.find_published(transaction, services.keyring, dataset.id, named.figure)


def delete_collection(services: Services, principal: Principal, name: str, wanted: Precondition) -> None:
    """Delete a collection with all that was granted on it. Its figures stay published.

    Raises:
        NotFoundError: there is no such collection, or the principal may not see it.
        ForbiddenError: it is another owner's.
        PreconditionFailedError: the present collection is not as `wanted`.
    """
    with services.database.write() as transaction:
        collection = find_managed(services, transaction, principal, name)
        wanted.require_document(
            collection_reading.open_collection_for(services, transaction, principal, collection).describe()
        )
        figure_collections.remove_collection(transaction, collection)
        audit_records.record(transaction, services.keyring.seal, principal, "collection.delete", collection_path(name))
        transaction.commit()


def find_managed(services: Services, transaction: WriteSession, principal: Principal, name: str) -> Collection:
    """Return a collection that the principal may change, and lock it.

    Raises:
        NotFoundError: there is no such collection, or the principal may not see it.
        ForbiddenError: it is another owner's.
    """
    figure_collections.lock_collections(transaction)
    collection = figure_collections.find_collection(transaction, services.keyring, require_name(name))
    if collection is None or not figure_access.is_collection_visible(
        transaction, services.keyring, principal, collection
    ):
        raise NotFoundError
    if not collection_reading.manages(principal, collection):
        raise ForbiddenError("Only the collection's owner and admins may do this.")
    return collection
