"""Grants collections: a principal then sees the figures that are in one, and nothing else of their datasets."""

from app.db.clock import now
from app.db.repositories import datasets, principals
from app.db.repositories.principals import Principal
from app.db.session import ReadSession, WriteSession
from app.errors import ForbiddenError, NotFoundError
from app.ledger import figure_collections
from app.ledger.figure_collections import Collection
from app.ledger.viewers import OF_COLLECTIONS
from app.roles import Role
from app.services import access, audit_records
from app.services.access import Credential
from app.services.context import Services
from app.services.figures import collection_changes, collection_reading, figure_access
from app.services.figures.viewer_grants import viewer_document
from app.services.names import is_name, require_name
from app.services.preconditions import Precondition
from app.services.rendering.documents import Document


def grant_viewer(services: Services, principal: Principal, name: str, viewer: str, wanted: Precondition) -> bool:
    """Let a principal see the figures that are in the collection; return False if it may already.

    Raises:
        NotFoundError: there is no such collection or principal, or the principal is disabled.
        ForbiddenError: the collection, or a figure in it, is another owner's.
        AlreadyExistsError: it may already, which is not as `wanted`.
    """
    with services.database.write() as transaction:
        collection = collection_changes.find_managed(services, transaction, principal, name)
        granted = access.find_in_force(transaction, viewer)
        _require_own_figures(transaction, principal, collection)
        seal = services.keyring.seal
        if not OF_COLLECTIONS.grant_viewer(transaction, seal, collection.id, granted.id, now()):
            wanted.require_new(exists=True)
            return False
        audit_records.record(transaction, seal, principal, "collection.grant", _path(name, viewer))
        transaction.commit()
    return True


def _require_own_figures(transaction: WriteSession, principal: Principal, collection: Collection) -> None:
    if principal.role == Role.ADMIN:
        return
    of = {each.figure.dataset_id for each in figure_collections.list_members(transaction, collection)}
    if not all(datasets.is_owner(transaction, each, principal.id) for each in of):
        raise ForbiddenError("An admin put figures of other owners into this collection: only admins grant it.")


def revoke_viewer(services: Services, principal: Principal, name: str, viewer: str) -> None:
    """Revoke what `grant_viewer` granted.

    Raises:
        NotFoundError: there is no such collection or principal, or the principal is no viewer of it.
        ForbiddenError: the collection is another owner's.
    """
    with services.database.write() as transaction:
        collection = collection_changes.find_managed(services, transaction, principal, name)
        granted = principals.find_by_name(transaction, viewer) if is_name(viewer) else None
        if granted is None or not OF_COLLECTIONS.revoke_viewer(transaction, collection.id, granted.id):
            raise NotFoundError
        audit_records.record(transaction, services.keyring.seal, principal, "collection.revoke", _path(name, viewer))
        transaction.commit()


def require_overseer(services: Services, credential: Credential) -> Principal:
    """Return the caller if it may see who sees collections: an owner, an admin or an auditor."""
    principal = access.authenticate(services.database, credential)
    access.require(principal, Role.OWNER, Role.ADMIN, Role.AUDITOR)
    return principal


def list_viewers(services: Services, principal: Principal, name: str, after: str | None, limit: int) -> list[Document]:
    """Return a page of a collection's viewers, by name.

    Raises:
        NotFoundError: there is no such collection, or the principal may not see it.
        ForbiddenError: it is another owner's.
    """
    with services.database.read() as session:
        collection = _find_overseen(services, session, principal, name)
        found = OF_COLLECTIONS.page_of_viewers(session, collection.id, after, limit)
    return list(map(viewer_document, found))


def describe_viewer(services: Services, principal: Principal, name: str, viewer: str) -> Document:
    """Return one viewer of a collection.

    Raises:
        NotFoundError: there is no such collection or principal, or the principal is no viewer of it.
        ForbiddenError: the collection is another owner's.
    """
    with services.database.read() as session:
        collection = _find_overseen(services, session, principal, name)
        granted = principals.find_by_name(session, viewer) if is_name(viewer) else None
        found = None if granted is None else OF_COLLECTIONS.find_viewer(session, collection.id, granted.id)
    if found is None:
        raise NotFoundError
    return viewer_document(found)


def _find_overseen(services: Services, session: ReadSession, principal: Principal, name: str) -> Collection:
    collection = figure_collections.find_collection(session, services.keyring, require_name(name))
    if collection is None or not figure_access.is_collection_visible(session, services.keyring, principal, collection):
        raise NotFoundError
    if not collection_reading.oversees(principal, collection):
        raise ForbiddenError("Only the collection's owner, admins and auditors may do this.")
    return collection


def _path(name: str, viewer: str) -> str:
    return f"{collection_changes.collection_path(name)}/viewers/{viewer}"
