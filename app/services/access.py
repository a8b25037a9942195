"""Authentication and authorisation of callers. The errors come in the order of the interface: 401, 404, 403.

`app.db.repositories.credentials` rejects expired keys, and `app.api.problems` has the texts of the errors.
"""

import hashlib
import secrets
from dataclasses import dataclass

from app.db.database import Database
from app.db.repositories import credentials, principals
from app.db.repositories.credentials import Credential, KeyDigest
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import Principal
from app.db.session import ReadSession, Session
from app.errors import NO_ALLOWANCE, NO_DATASET, NO_PRINCIPAL, ForbiddenError, NotFoundError, UnauthenticatedError
from app.ledger import caller_lookup
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.roles import SEES_EVERY_DATASET, WITHOUT_ALLOWANCE, Role
from app.services.names import is_name

__all__ = [
    "Access",
    "Credential",
    "KeyDigest",
    "authenticate",
    "enter",
    "get_dataset_filter",
    "principal_of",
    "require",
    "sees_every_dataset",
]


def new_key() -> str:
    """Generate a key with 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(key: str) -> bytes:
    """Return the SHA-256 of a key, which is stored instead of the key."""
    return hashlib.sha256(key.encode()).digest()


def authenticate(database: Database, credential: Credential) -> Principal:
    """Return the principal with this key or token.

    Raises:
        UnauthenticatedError: the key or token is unknown or expired, or its principal is disabled.
    """
    with database.read_without_transaction() as session:
        return principal_of(session, credential)


def principal_of(session: ReadSession, credential: Credential) -> Principal:
    """Do the same as `authenticate`, in an open session."""
    principal = credentials.find_by_credential(session, credential)
    if principal is None:
        raise UnauthenticatedError
    return principal


def find_in_force(session: Session, name: str) -> Principal:
    """Return the principal with this name.

    Raises:
        NotFoundError: the principal does not exist or is disabled.
    """
    principal = principals.find_by_name(session, name) if is_name(name) else None
    if principal is None or principal.disabled_at is not None:
        raise NotFoundError(NO_PRINCIPAL)
    return principal


def sees_every_dataset(principal: Principal) -> bool:
    """Whether a principal sees all datasets and all figures: admins and auditors do."""
    return principal.role in SEES_EVERY_DATASET


def get_dataset_filter(principal: Principal) -> int | None:
    """Return the id of the principal whose datasets a query is limited to; None if this one sees all datasets."""
    return None if sees_every_dataset(principal) else principal.id


def require(principal: Principal, *roles: Role) -> None:
    """Check that a principal has one of the roles.

    Raises:
        ForbiddenError: it has another role.
    """
    if principal.role not in roles:
        raise ForbiddenError(f"This needs the role {' or '.join(roles)}; yours is {principal.role}.")


def require_owner(database: Database, credential: Credential) -> Principal:
    """Return the caller if it may register datasets and compose collections: an owner or an admin."""
    principal = authenticate(database, credential)
    require(principal, Role.OWNER, Role.ADMIN)
    return principal


def manages(principal: Principal, dataset: Dataset) -> bool:
    """Whether a principal manages a dataset, as its owner or as an admin."""
    return principal.role == Role.ADMIN or dataset.owner_id == principal.id


def oversees(principal: Principal, dataset: Dataset) -> bool:
    """Whether a principal sees everybody's allowances on a dataset: its owner, an admin or an auditor."""
    return manages(principal, dataset) or principal.role == Role.AUDITOR


def sees(principal: Principal, dataset: Dataset, allowance: Allowance | None) -> bool:
    """Whether a principal sees a dataset: its owner, admins, auditors, and whoever has an allowance."""
    return manages(principal, dataset) or sees_every_dataset(principal) or allowance is not None


@dataclass(frozen=True, slots=True)
class Access:
    """A principal and a dataset that it may see, with the account and the allowance at the start of the request.

    `is_key_used` says whether the principal had used the request's idempotency key before.
    """

    principal: Principal
    dataset: Dataset
    account: Account
    allowance: Allowance | None
    is_key_used: bool

    @property
    def manages(self) -> bool:
        """Whether the principal manages this dataset."""
        return manages(self.principal, self.dataset)

    @property
    def oversees(self) -> bool:
        """Whether the principal sees everybody's allowances on this dataset."""
        return oversees(self.principal, self.dataset)

    def require_manager(self) -> None:
        """Allow only the dataset's owner and admins."""
        if not self.manages:
            raise ForbiddenError("Only the dataset's owner and admins may do this.")

    def require_oversight(self) -> None:
        """Allow only the dataset's owner, admins and auditors."""
        if not self.oversees:
            raise ForbiddenError("Only the dataset's owner, admins and auditors may do this.")

    def require_planning(self) -> None:
        """Reject auditors, who may only read."""
        if self.principal.role == Role.AUDITOR:
            raise ForbiddenError("Auditors may read, but not plan or release.")

    def require_allowance(self) -> Allowance:
        """Return the allowance that pays for a release.

        Raises:
            ForbiddenError: the principal is an auditor or has no allowance.
        """
        self.require_planning()
        if self.allowance is None:
            raise ForbiddenError(NO_ALLOWANCE)
        return self.allowance


def enter(session: ReadSession, credential: Credential, name: str, key: str | None = None) -> Access:
    """Authenticate the caller, find a dataset that it may see, and look for its idempotency key.

    Raises:
        UnauthenticatedError: the key or token is unknown or expired, or its principal is disabled.
        NotFoundError: the dataset does not exist, or the principal may not see it.
    """
    called = name if is_name(name) else ""  # an invalid name may contain characters that the database cannot store
    found = caller_lookup.find_standing(session, credential, called, key)
    if found is None:
        raise UnauthenticatedError
    if found.dataset is None or found.account is None:
        raise NotFoundError(NO_DATASET)
    entered = Access(found.principal, found.dataset, found.account, found.allowance, found.is_key_used)
    if not sees(entered.principal, entered.dataset, entered.allowance):
        raise NotFoundError(NO_DATASET)
    return entered


def enter_for(session: ReadSession, principal_id: int, name: str, key: str) -> Access:
    """Return the access that a principal has to a dataset now, for what the service does in its name.

    Raises:
        ForbiddenError: the principal is disabled, its key has expired, or its role only reads.
        NotFoundError: the dataset does not exist.
    """
    found = caller_lookup.find_standing_of(session, principal_id, name, key)
    if found is None or found.dataset is None or found.account is None:
        raise NotFoundError(NO_DATASET)
    principal = found.principal
    if principal.disabled_at is not None or credentials.has_expired_key(principal):
        raise ForbiddenError(f"{principal.name} is disabled, or its key has expired.")
    if principal.role in WITHOUT_ALLOWANCE:
        raise ForbiddenError(f"{principal.name} has the role {principal.role}: it reads, and has no allowances.")
    return Access(principal, found.dataset, found.account, found.allowance, found.is_key_used)
