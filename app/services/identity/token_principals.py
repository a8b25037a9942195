"""From whom a token names to its principal, which is made when it is first seen."""

from app.db.clock import now
from app.db.repositories import principals
from app.db.repositories.principals import Identity
from app.errors import NameTakenError, UnauthenticatedError
from app.services import audit_records
from app.services.context import Services
from app.services.identity.tokens import TokenClaims

_TAKEN = "The token is valid, but a principal of its name exists already and is not its own: ask an admin."


def enter_with_token(services: Services, claimed: TokenClaims) -> str:
    """The name of the principal that a token names; what the token grants now is written down where it is new.

    Raises:
        UnauthenticatedError: it is disabled, or the name that it would get is another's.
        UnavailableError: the database is busy or away.
    """
    identity = claimed.identity
    with services.database.ask() as session:
        principal = principals.find_by_subject(session, identity)
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
            found = principals.find_by_credential(session, identity)  # by a call at the same time
        if found is None:
            raise UnauthenticatedError(_TAKEN) from None
        return found.name
    return made.name


def _write_role(services: Services, identity: Identity) -> None:
    """The role as the provider now has it; each call goes by its own token's anyway."""
    with services.database.write() as transaction:
        principal = principals.lock_by_subject(transaction, identity)
        if principal is None or principal.role == identity.role:
            return
        principals.set_role(transaction, principal.id, identity.role)
        target = audit_records.principal_path(principal.name)
        audit_records.record(
            transaction, services.keyring.seal, audit_records.SERVICE, "principal.role", target, role=identity.role
        )
        transaction.commit()
