"""Finds the principal of a verified token, or creates it when the token's subject calls for the first time."""

from app.db.clock import now
from app.db.repositories import credentials, principals
from app.db.repositories.credentials import Identity
from app.errors import NameTakenError, UnauthenticatedError
from app.services import audit_records
from app.services.context import Services
from app.services.identity.tokens import TokenClaims

_TAKEN = "The token is valid, but a principal of its name exists already and is not its own: ask an admin."


def enter_with_token(services: Services, claimed: TokenClaims) -> str:
    """Return the name of a token's principal. The principal or its new role is stored if necessary.

    Raises:
        UnauthenticatedError: the principal is disabled, or its name belongs to another principal.
        UnavailableError: the database is busy or does not answer.
    """
    identity = claimed.identity
    with services.database.read_without_transaction() as session:
        principal = credentials.find_by_subject(session, identity)
    if principal is None:
        return _create_principal(services, claimed)
    if principal.disabled_at is not None:
        raise UnauthenticatedError
    if principal.role != identity.role:
        _write_role(services, identity)
    return principal.name


def _create_principal(services: Services, claimed: TokenClaims) -> str:
    identity, seal = claimed.identity, services.keyring.seal
    told = {"role": identity.role, "issuer": identity.issuer, "subject": identity.subject}
    try:
        with services.database.write() as transaction:
            made = principals.insert_principal(
                *(transaction, claimed.name, identity.role, None, now()),
                issuer=identity.issuer,
                subject=identity.subject,
            )
            target = audit_records.principal_path(made.name)
            audit_records.record(transaction, seal, audit_records.SERVICE, "principal.create", target, **told)
            transaction.commit()
    except NameTakenError:
        with services.database.read() as session:
            found = credentials.find_by_credential(session, identity)  # created by a concurrent request
        if found is None:
            raise UnauthenticatedError(_TAKEN) from None
        return found.name
    return made.name


def _write_role(services: Services, identity: Identity) -> None:
    """Store the provider's current role. Each request uses the role of its own token anyway."""
    with services.database.write() as transaction:
        principal = credentials.lock_by_subject(transaction, identity)
        if principal is None or principal.role == identity.role:
            return
        principals.set_role(transaction, principal.id, identity.role)
        target = audit_records.principal_path(principal.name)
        audit_records.record(
            transaction, services.keyring.seal, audit_records.SERVICE, "principal.role", target, role=identity.role
        )
        transaction.commit()
