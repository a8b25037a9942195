"""Administrative acts on record, and who may read them."""

import getpass
import json

from app.db.principals import Principal
from app.db.session import ReadSession, WriteSession
from app.ledger import audit, audit_checks
from app.ledger.audit import Actor, Detail, Record
from app.ledger.keyring import Seal
from app.logs import request_id
from app.services.access import Credential, Role, principal_of, require
from app.services.context import Services
from app.services.documents import Document
from app.services.verifications import verification_document

SERVICE = Actor("service")


def command() -> Actor:
    """Who runs this command, as the system knows it."""
    try:
        return Actor("command", getpass.getuser())
    except (KeyError, OSError):  # a container's user may have no name
        return Actor("command")


def dataset_path(name: str) -> str:
    """What a dataset is called in the records of administrative acts."""
    return f"datasets/{name}"


def principal_path(name: str) -> str:
    """What a principal is called in them."""
    return f"principals/{name}"


def record(
    transaction: WriteSession, seal: Seal, by: Principal | Actor, action: str, target: str | None, **details: Detail
) -> None:
    """Write down an act in its own transaction, as the last thing before the commit."""
    actor = by if isinstance(by, Actor) else Actor("principal", by.name)
    audit.append(transaction, seal, actor, action, target, details, request_id.get() or None)


def _reader(session: ReadSession, credential: Credential) -> None:
    require(principal_of(session, credential), Role.ADMIN, Role.AUDITOR)


def require_reader(services: Services, credential: Credential) -> None:
    """Refuse everybody but admins and auditors."""
    with services.database.read() as session:
        _reader(session, credential)


def listed(services: Services, after: int, limit: int) -> list[Document]:
    """Records, oldest first, with all that their hashes seal."""
    with services.database.read() as session:
        return [_document(each) for each in audit.page(session, after, limit)]


def verified(services: Services) -> Document:
    """Compute the chain of records again, and compare the principals with them, as of now."""
    with services.database.read() as session:
        found = audit_checks.verify(session, services.keyring)
    return verification_document(found)


def _document(found: Record) -> Document:
    return {
        "seq": found.seq,
        "via": found.via,
        "actor": found.actor,
        "action": found.action,
        "target": found.target,
        "details": json.loads(found.details),
        "request_id": found.request_id,
        "at": found.at,
        "previous_hash": None if found.previous_hash is None else found.previous_hash.hex(),
        "hash": found.hash.hex(),
        "secret_id": found.secret_id,
    }
