"""Principals and their keys. A key leaves the service once, when it is made; only its digest is kept."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from app.db import principals
from app.db.clock import now
from app.db.engine import Database
from app.db.principals import Principal
from app.db.session import WriteSession
from app.errors import LastAdminError, NotFoundError, UnauthenticatedError
from app.ledger import allowances
from app.ledger.allowances import Allowance
from app.services import access
from app.services.access import Role
from app.services.context import Services
from app.services.names import require_name

log = logging.getLogger("snapledger.principals")

ADMIN_KEY_FILE = "admin-key"


@dataclass(frozen=True, slots=True)
class Issued:
    """A principal with the key that was just made for it."""

    principal: Principal
    key: str


def create(database: Database, name: str, role: str) -> Issued:
    """Make a principal.

    Raises:
        NameTakenError: the name was given before, even to a principal disabled since.
    """
    key = access.new_key()
    with database.write() as transaction:
        principal = principals.insert(transaction, name, role, access.digest_of(key), now())
        transaction.commit()
    return Issued(principal, key)


def require_admin(services: Services, digest: bytes) -> Principal:
    """The caller, if it is an admin."""
    principal = access.authenticate(services.database, digest)
    access.require(principal, Role.ADMIN)
    return principal


def listed(services: Services, after: str | None, limit: int) -> list[Principal]:
    """Principals, oldest first."""
    with services.database.read() as session:
        return principals.page(session, after, limit)


def me(services: Services, digest: bytes) -> tuple[Principal, list[tuple[str, Allowance]]]:
    """The caller, and its allowances by dataset."""
    with services.database.read() as session:
        principal = access.principal_of(session, digest)
        return principal, allowances.of_principal(session, principal.id)


def rotate_own(services: Services, digest: bytes) -> Issued:
    """A new key for the caller; the old one stops working, and so does a second call with it."""
    with services.database.write() as transaction:
        principal = principals.locked_by_key_hash(transaction, digest)
        if principal is None:
            raise UnauthenticatedError
        return _replace_key(transaction, principal)


def rotate(database: Database, name: str) -> Issued:
    """A new key for a principal; the old one stops working.

    Raises:
        NotFoundError: there is no such principal in force.
    """
    with database.write() as transaction:
        principal = principals.by_name(transaction, require_name(name))
        if principal is None or principal.disabled_at is not None:
            raise NotFoundError("there is no such principal in force")
        return _replace_key(transaction, principal)


def _replace_key(transaction: WriteSession, principal: Principal) -> Issued:
    key = access.new_key()
    principals.replace_key(transaction, principal.id, access.digest_of(key))
    transaction.commit()
    return Issued(principal, key)


def disable(services: Services, name: str) -> None:
    """Take a principal's access away, for good.

    Raises:
        NotFoundError: there is no such principal in force.
        LastAdminError: it is the last admin.
    """
    with services.database.write() as transaction:
        admins = principals.count_enabled_admins(transaction)
        principal = principals.by_name(transaction, require_name(name))
        if principal is None or principal.disabled_at is not None:
            raise NotFoundError
        if principal.role == Role.ADMIN and admins == 1:
            raise LastAdminError
        principals.disable(transaction, principal.id, now())
        transaction.commit()


def bootstrap(database: Database, data_dir: Path, configured_key: str | None) -> None:
    """On an empty database, make the principal `admin`, with the configured key or a new one written to a file."""
    with database.write() as transaction:
        if principals.any_exists(transaction):
            return
        key = configured_key or access.new_key()
        principals.insert(transaction, "admin", Role.ADMIN, access.digest_of(key), now())
        if configured_key is None:
            path = data_dir / ADMIN_KEY_FILE
            _write_secret(path, key)
            log.warning("the key of the principal admin is in %s", path)
        transaction.commit()


def _write_secret(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a leftover may be readable by others
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
