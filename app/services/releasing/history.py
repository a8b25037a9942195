"""Reads earlier releases, exactly as they were answered."""

from app.errors import NotFoundError
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import Body
from app.ledger.answers.releases import StoredRelease
from app.services import access
from app.services.access import Access, Credential
from app.services.context import Services
from app.services.names import require_release_id


def list_dataset_releases(services: Services, entered: Access, after: str | None, limit: int) -> list[StoredRelease]:
    """Return a page of a dataset's releases, oldest first."""
    with services.database.read() as session:
        return releases.page_of_releases(session, after, limit, dataset_id=entered.dataset.id)


def list_own_releases(services: Services, credential: Credential, after: str | None, limit: int) -> list[StoredRelease]:
    """Return a page of the caller's own releases on the datasets that it can still see, oldest first."""
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        return releases.page_of_releases(
            session, after, limit, principal_id=principal.id, visible_to=access.viewer_id(principal)
        )


def find_release(services: Services, credential: Credential, release_id: str) -> Body:
    """Return the answer of one release.

    Raises:
        NotFoundError: there is no such release, or the caller may not see its dataset.
        SealBrokenError: the stored release is not what was sealed.
    """
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        found = releases.find_response(session, require_release_id(release_id), visible_to=access.viewer_id(principal))
    if found is None:
        raise NotFoundError
    return releases.find_sealed(services.database, services.keyring, found.id)[1]
