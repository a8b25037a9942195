"""Lets principals see a dataset's figures, and nothing else of it."""

from app.db.clock import now
from app.db.repositories import principals
from app.errors import NotFoundError
from app.ledger import accounts
from app.ledger.chain import facts
from app.ledger.viewers import OF_DATASETS, Viewer
from app.services import access, audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.names import require_name
from app.services.preconditions import Precondition
from app.services.rendering.documents import Document


def list_viewers(services: Services, entered: Access, after: str | None, limit: int) -> list[Document]:
    """Return a page of a dataset's viewers, by name."""
    with services.database.read() as session:
        found = OF_DATASETS.page_of_viewers(session, entered.dataset.id, after, limit)
    return [viewer_document(each) for each in found]


def describe_viewer(services: Services, entered: Access, name: str) -> Document:
    """Return one viewer of a dataset.

    Raises:
        NotFoundError: the principal does not exist, or is no viewer of the dataset.
    """
    with services.database.read() as session:
        principal = principals.find_by_name(session, require_name(name))
        found = None if principal is None else OF_DATASETS.find_viewer(session, entered.dataset.id, principal.id)
    if found is None:
        raise NotFoundError
    return viewer_document(found)


def viewer_document(viewer: Viewer) -> Document:
    """Return a viewer as JSON."""
    return {"name": viewer.principal, "display_name": viewer.display_name, "granted_at": viewer.granted_at}


def grant_viewer(services: Services, entered: Access, name: str, wanted: Precondition) -> bool:
    """Let a principal see the dataset's figures; return False if it may already.

    Raises:
        NotFoundError: the principal does not exist or is disabled.
        AlreadyExistsError: it may already, which is not as `wanted`.
    """
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_account(transaction, entered.dataset.id))
        principal = access.find_in_force(transaction, name)
        seal = services.keyring.seal
        if not OF_DATASETS.grant_viewer(transaction, seal, entered.dataset.id, principal.id, now()):
            wanted.require_new(exists=True)
            return False
        audit_records.record(transaction, seal, entered.principal, "viewer.grant", _path(entered, name))
        transaction.commit()
    return True


def revoke_viewer(services: Services, entered: Access, name: str) -> None:
    """Revoke what `grant_viewer` granted.

    Raises:
        NotFoundError: the principal does not exist, or is no viewer of the dataset.
    """
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_account(transaction, entered.dataset.id))
        principal = principals.find_by_name(transaction, require_name(name))
        if principal is None or not OF_DATASETS.revoke_viewer(transaction, entered.dataset.id, principal.id):
            raise NotFoundError
        audit_records.record(
            transaction, services.keyring.seal, entered.principal, "viewer.revoke", _path(entered, name)
        )
        transaction.commit()


def _path(entered: Access, name: str) -> str:
    return f"{audit_records.dataset_path(entered.dataset.name)}/viewers/{name}"
