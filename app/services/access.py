"""Who is calling, and what they may see and do. The order is the interface's: 401, 404, 403."""

import hashlib
import secrets
from dataclasses import dataclass

from app.db.engine import Database
from app.db.repositories import principals
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import Credential, KeyDigest, Principal
from app.db.session import ReadSession
from app.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from app.ledger import caller_lookup
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.roles import Role
from app.services.names import is_name

__all__ = ["Access", "Credential", "KeyDigest", "authenticate", "enter", "principal_of", "require", "viewer_id"]


SEES_EVERY_DATASET = {Role.ADMIN, Role.AUDITOR}


def new_key() -> str:
    """A key of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(key: str) -> bytes:
    """What is stored of a key."""
    return hashlib.sha256(key.encode()).digest()


def authenticate(database: Database, credential: Credential) -> Principal:
    """The principal whose key or token this is.

    Raises:
        UnauthenticatedError: it opens nothing, or nothing any more.
    """
    with database.ask() as session:
        return principal_of(session, credential)


def principal_of(session: ReadSession, credential: Credential) -> Principal:
    """As `authenticate`, within a session."""
    principal = principals.find_by_credential(session, credential)
    if principal is None:
        raise UnauthenticatedError
    return principal


def viewer_id(principal: Principal) -> int | None:
    """Whose eyes a list of datasets is seen with: the principal's id, or None for who sees them all."""
    return None if principal.role in SEES_EVERY_DATASET else principal.id


def require(principal: Principal, *roles: Role) -> None:
    """Refuse a principal of any other role.

    Raises:
        ForbiddenError: its role is another.
    """
    if principal.role not in roles:
        raise ForbiddenError(f"This needs the role {' or '.join(roles)}; yours is {principal.role}.")


def rules(principal: Principal, dataset: Dataset) -> bool:
    """Whether a principal decides about a dataset."""
    return principal.role == Role.ADMIN or dataset.owner_id == principal.id


@dataclass(frozen=True, slots=True)
class Access:
    """A principal before a dataset that it may see, with what the account and the allowance were as it came."""

    principal: Principal
    dataset: Dataset
    account: Account
    allowance: Allowance | None

    @property
    def rules(self) -> bool:
        """Whether the principal decides about this dataset."""
        return rules(self.principal, self.dataset)

    def require_rule(self) -> None:
        """Refuse everybody but the dataset's owner and the admins."""
        if not self.rules:
            raise ForbiddenError("Only the dataset's owner and admins may do this.")

    def require_oversight(self) -> None:
        """Refuse everybody but the dataset's owner, the admins and the auditors."""
        if not self.rules and self.principal.role != Role.AUDITOR:
            raise ForbiddenError("Only the dataset's owner, admins and auditors may do this.")

    def require_planning(self) -> None:
        """Refuse auditors, who only read."""
        if self.principal.role == Role.AUDITOR:
            raise ForbiddenError("Auditors may read, but not plan or release.")

    def require_allowance(self) -> Allowance:
        """The allowance that a release is debited to.

        Raises:
            ForbiddenError: there is none.
        """
        self.require_planning()
        if self.allowance is None:
            raise ForbiddenError("You have no allowance on this dataset: its owner can grant one.")
        return self.allowance


def enter(session: ReadSession, credential: Credential, name: str) -> Access:
    """Authenticate, and find a dataset as this principal sees it.

    Raises:
        UnauthenticatedError: the key or token opens nothing, or nothing any more.
        NotFoundError: there is no such dataset, or the principal may not know of it.
    """
    found = caller_lookup.find_standing(
        session, credential, name if is_name(name) else ""
    )  # what is no name may hold what no text can
    if found is None:
        raise UnauthenticatedError
    if found.dataset is None or found.account is None:
        raise NotFoundError
    entered = Access(found.principal, found.dataset, found.account, found.allowance)
    if not (entered.rules or entered.principal.role in SEES_EVERY_DATASET or entered.allowance):
        raise NotFoundError
    return entered
