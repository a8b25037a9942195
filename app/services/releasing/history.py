"""Reads earlier releases, as they were answered; only some see what was left of the payer's allowance."""

from dataclasses import dataclass

from app.db.repositories import datasets
from app.db.repositories.principals import Principal
from app.errors import NotFoundError
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import Body
from app.ledger.answers.redacted_answers import RedactedBody
from app.ledger.answers.releases import Release, Rows, StoredRelease
from app.services import access
from app.services.access import Access, Credential
from app.services.context import Services
from app.services.names import require_release_id


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """A stored release as one reader sees it: `is_redacted` without what was left of its payer's allowance."""

    stored: StoredRelease
    is_redacted: bool

    @property
    def id(self) -> str:
        """The release's id."""
        return self.stored.id

    @property
    def in_memory(self) -> bool:
        """Whether its answer is read already."""
        return self.stored.content is not None

    def body(self, rows: Rows) -> Body:
        """Return the answer. `rows` reads a large one when the body is read."""
        body = self.stored.body(rows)
        return RedactedBody(body) if self.is_redacted else body


def list_dataset_releases(
    services: Services, entered: Access, after: str | None, limit: int, *, newest: bool
) -> list[ShownRelease]:
    """Return a page of a dataset's releases, oldest or newest first."""
    reader = entered.principal.id
    with services.database.read() as session:
        page = releases.page_of_releases(session, after, limit, dataset_id=entered.dataset.id, newest=newest)
    return [ShownRelease(each, not entered.oversees and each.principal_id != reader) for each in page]


def list_own_releases(
    services: Services, credential: Credential, after: str | None, limit: int, *, newest: bool
) -> list[ShownRelease]:
    """Return a page of the caller's own releases on the datasets that it can still see, oldest or newest first."""
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        page = releases.page_of_releases(
            session,
            after,
            limit,
            principal_id=principal.id,
            visible_to=access.get_dataset_filter(principal),
            newest=newest,
        )
    return [ShownRelease(each, is_redacted=False) for each in page]


def find_release(services: Services, credential: Credential, release_id: str) -> Body:
    """Return the answer of one release.

    Raises:
        NotFoundError: there is no such release, or the caller may not see its dataset.
        SealBrokenError: the stored release is not what was sealed.
    """
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        found = releases.find_response(
            session, require_release_id(release_id), visible_to=access.get_dataset_filter(principal)
        )
    if found is None:
        raise NotFoundError("there is no such release, or your key may not see it: check its id")
    release, body = releases.find_sealed(services.database, services.keyring, found.id)
    return body if _sees_allowance(services, principal, release) else RedactedBody(body)


def _sees_allowance(services: Services, principal: Principal, release: Release) -> bool:
    """Whether a reader of a release may know what it left of its payer's allowance."""
    if release.principal_id == principal.id or access.sees_every_dataset(principal):
        return True
    with services.database.read() as session:
        return datasets.is_owner(session, release.dataset_id, principal.id)
