"""Earlier releases, as they were answered."""

from app.errors import NotFoundError
from app.ledger import releases
from app.ledger.answer_storage import Body
from app.ledger.releases import StoredRelease
from app.services import access
from app.services.access import Access, Credential
from app.services.context import Services
from app.services.names import require_release_id


def of_dataset(services: Services, entered: Access, after: str | None, limit: int) -> list[StoredRelease]:
    """A dataset's releases, oldest first."""
    with services.database.read() as session:
        return releases.page(session, after, limit, dataset_id=entered.dataset.id)


def of_caller(services: Services, credential: Credential, after: str | None, limit: int) -> list[StoredRelease]:
    """The caller's own releases, on the datasets that it still sees, oldest first."""
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        return releases.page(session, after, limit, principal_id=principal.id, visible_to=access.viewer(principal))


def one(services: Services, credential: Credential, release_id: str) -> Body:
    """The answer of one release.

    Raises:
        NotFoundError: there is none, or it is of a dataset that the caller may not see.
        SealBrokenError: it is not what was sealed.
    """
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        found = releases.find_response(session, require_release_id(release_id), visible_to=access.viewer(principal))
    if found is None:
        raise NotFoundError
    return releases.find_sealed(services.database, services.keyring, found.id)[1]
