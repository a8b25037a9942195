"""Principals and their keys. A key is shown once, when it is created; only its digest is stored."""

import logging
from dataclasses import dataclass
from pathlib import Path

from app import durable_files
from app.db.clock import now
from app.db.database import Database
from app.db.repositories import credentials, principals
from app.db.repositories.credentials import Credential, Identity
from app.db.repositories.principals import Principal
from app.db.session import WriteSession
from app.errors import (
    ForbiddenError,
    InvalidRequestError,
    LastAdminError,
    NotFoundError,
    UnauthenticatedError,
)
from app.ledger import allowances
from app.ledger.allowances import Allowance
from app.ledger.chain import audit_log
from app.ledger.chain.audit_log import Actor
from app.ledger.chain.keyring import Seal
from app.private_files import make_private_directory
from app.roles import Role
from app.services import access, audit_records
from app.services.context import Services
from app.services.names import is_name

log = logging.getLogger("snapledger.principals")

ADMIN_KEY_FILE = "admin-key"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A principal with its new key."""

    principal: Principal
    key: str


def create_principal(  # noqa: PLR0913, PLR0917 - by whom, and what
    database: Database,
    seal: Seal,
    by: Principal | Actor,
    name: str,
    role: str,
    key_expires_at: str | None = None,
    display_name: str | None = None,
) -> IssuedKey:
    """Create a principal with a key that expires at `key_expires_at`, or never if it is None.

    Raises:
        NameTakenError: a principal with this name exists, perhaps a disabled one.
        InvalidRequestError: the expiry is not in the future.
    """
    with database.write() as transaction:
        issued = _create(transaction, seal, by, name, role, access.new_key(), key_expires_at, display_name)
        transaction.commit()
    return issued


def _create(  # noqa: PLR0913, PLR0917 - by whom, and what
    transaction: WriteSession,
    seal: Seal,
    by: Principal | Actor,
    name: str,
    role: str,
    key: str,
    key_expires_at: str | None = None,
    display_name: str | None = None,
) -> IssuedKey:
    _require_future(key_expires_at)
    digest = access.digest_of(key)
    made = principals.insert_principal(
        transaction, name, role, digest, now(), key_expires_at=key_expires_at, display_name=display_name
    )
    told = {"role": role, "key_seal": audit_log.key_seal(seal, digest), "key_expires_at": key_expires_at}
    if display_name is not None:
        told["display_name"] = display_name
    audit_records.record(transaction, seal, by, "principal.create", audit_records.principal_path(name), **told)
    return IssuedKey(made, key)


def _require_future(key_expires_at: str | None) -> None:
    if key_expires_at is not None and key_expires_at <= now():
        raise InvalidRequestError(("key_expires_at", "must be in the future"))


def require_admin(services: Services, credential: Credential) -> Principal:
    """Return the caller if it is an admin, or raise an error."""
    principal = access.authenticate(services.database, credential)
    access.require(principal, Role.ADMIN)
    return principal


def list_principals(services: Services, after: str | None, limit: int, *, newest: bool) -> list[Principal]:
    """Return a page of principals, oldest or newest first."""
    with services.database.read() as session:
        return principals.page_of_principals(session, after, limit, newest=newest)


def find_principal(services: Services, name: str) -> Principal:
    """Return a principal, disabled or not.

    Raises:
        NotFoundError: there is none with this name.
    """
    with services.database.read() as session:
        found = principals.find_by_name(session, name) if is_name(name) else None
    if found is None:
        raise NotFoundError
    return found


def describe_caller(services: Services, credential: Credential) -> tuple[Principal, list[tuple[str, Allowance]]]:
    """Return the caller and its allowances with the names of their datasets."""
    with services.database.read() as session:
        principal = access.principal_of(session, credential)
        return principal, allowances.list_allowances_of_principal(session, principal.id)


def require_key(services: Services, credential: Credential) -> None:
    """Reject a caller with a token, because a short-lived token must not be exchanged for a permanent key."""
    access.authenticate(services.database, credential)
    if isinstance(credential, Identity):
        raise ForbiddenError("Your identity provider renews your token; ask an admin if you need a key.")


def replace_own_key(services: Services, credential: Credential, key_expires_at: str | None) -> IssuedKey:
    """Replace the caller's key. The old key stops working, so a second call with it fails.

    The new key expires at the same time as the old one, or at `key_expires_at` if that is earlier.

    Raises:
        ForbiddenError: the caller has a token and not a key.
        UnauthenticatedError: the key is no longer valid.
        InvalidRequestError: the expiry is later than the old key's, or not in the future.
    """
    if isinstance(credential, Identity):
        raise ForbiddenError
    with services.database.write() as transaction:
        principal = credentials.lock_by_key(transaction, credential)
        if principal is None:
            raise UnauthenticatedError
        latest = principal.key_expires_at
        if key_expires_at is not None and latest is not None and key_expires_at > latest:
            raise InvalidRequestError(("key_expires_at", "must not be later than the expiry of the key that you use"))
        return _replace_key(transaction, services.keyring.seal, principal, principal, key_expires_at or latest)


def replace_key(
    database: Database, seal: Seal, by: Principal | Actor, name: str, key_expires_at: str | None = None
) -> IssuedKey:
    """Replace a principal's key. The old key stops working.

    Raises:
        NotFoundError: the principal does not exist or is disabled.
        InvalidRequestError: the expiry is not in the future.
    """
    with database.write() as transaction:
        principal = access.find_in_force(transaction, name)
        return _replace_key(transaction, seal, by, principal, key_expires_at)


def require_in_force(services: Services, name: str) -> Principal:
    """Return the principal with this name.

    Raises:
        NotFoundError: the principal does not exist or is disabled.
    """
    with services.database.read() as session:
        return access.find_in_force(session, name)


def _replace_key(
    transaction: WriteSession, seal: Seal, by: Principal | Actor, principal: Principal, key_expires_at: str | None
) -> IssuedKey:
    _require_future(key_expires_at)
    key = access.new_key()
    digest = access.digest_of(key)
    principals.replace_key(transaction, principal.id, digest, key_expires_at)
    told = {"key_seal": audit_log.key_seal(seal, digest), "key_expires_at": key_expires_at}
    audit_records.record(transaction, seal, by, "principal.key", audit_records.principal_path(principal.name), **told)
    transaction.commit()
    return IssuedKey(principal._replace(key_expires_at=key_expires_at), key)


def set_display_name(services: Services, by: Principal, name: str, display_name: str | None) -> Principal:
    """Change how people call a principal, or remove the display name if it is None. Return the principal.

    Raises:
        NotFoundError: the principal does not exist or is disabled.
    """
    with services.database.write() as transaction:
        principal = access.find_in_force(transaction, name)
        if principal.display_name != display_name:
            principals.set_display_name(transaction, principal.id, display_name)
            seal, target = services.keyring.seal, audit_records.principal_path(name)
            audit_records.record(transaction, seal, by, "principal.display_name", target, display_name=display_name)
            transaction.commit()
    return principal._replace(display_name=display_name)


def disable_principal(services: Services, by: Principal, name: str) -> None:
    """Disable a principal permanently.

    Raises:
        NotFoundError: the principal does not exist or is already disabled.
        LastAdminError: it is the last admin who has a valid key and no identity provider.
    """
    with services.database.write() as transaction:
        admins = principals.lock_lasting_admins(transaction)
        principal = access.find_in_force(transaction, name)
        if admins == [principal.id]:
            raise LastAdminError
        principals.disable_principal(transaction, principal.id, now())
        audit_records.record(
            transaction, services.keyring.seal, by, "principal.disable", audit_records.principal_path(name)
        )
        transaction.commit()


def create_first_admin(database: Database, seal: Seal, data_dir: Path, configured_key: str | None) -> None:
    """Create the principal `admin` in an empty database, with the configured key or a new key, written to a file.

    If several processes start at once, one creates it. The others wait and then find it.
    """
    with database.read() as session:
        if principals.has_principals(session):
            return
    with database.migrating() as connection:  # each start takes this lock, and one process holds it at a time
        transaction = WriteSession(connection)
        if principals.has_principals(transaction):
            return
        key = configured_key or access.new_key()
        _create(transaction, seal, audit_records.SERVICE, "admin", Role.ADMIN, key)
        if configured_key is None:
            path = data_dir / ADMIN_KEY_FILE
            make_private_directory(path.parent)
            durable_files.replace(path, f"{key}\n".encode(), 0o600)  # an old file may be readable by others
            log.warning("the key of the principal admin is in %s", path)
