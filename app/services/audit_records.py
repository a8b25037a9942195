"""Writes, reads and verifies the audit log of administrative acts."""

import getpass
import json

from app.db.repositories.principals import Principal
from app.db.session import ReadSession, WriteSession
from app.ledger.chain import audit_log
from app.ledger.chain.audit_log import Actor, Detail, Record
from app.ledger.chain.keyring import Seal
from app.ledger.verification import audit_log_verification
from app.logs import request_id
from app.roles import Role
from app.services import verification_records
from app.services.access import Credential, principal_of, require
from app.services.context import Services
from app.services.rendering.documents import Document
from app.services.rendering.verifications import verification_document

SERVICE = Actor("service")
AUDIT_LOG = "audit"
"""The path of the audit log below `/v1`."""


def command_actor() -> Actor:
    """Return the user of this command, by the operating system's name."""
    try:
        return Actor("command", getpass.getuser())
    except (KeyError, OSError):  # a container's user may have no name
        return Actor("command")


def dataset_path(name: str) -> str:
    """Return the path that identifies a dataset in the audit log."""
    return f"datasets/{name}"


def principal_path(name: str) -> str:
    """Return the path that identifies a principal in the audit log."""
    return f"principals/{name}"


def record(
    transaction: WriteSession, seal: Seal, by: Principal | Actor, action: str, target: str | None, **details: Detail
) -> None:
    """Append a record of an act, in the act's own transaction. Call it last before the commit."""
    actor = by if isinstance(by, Actor) else Actor("principal", by.name)
    audit_log.append_record(transaction, seal, actor, action, target, details, request_id.get() or None)


def _find_reader(session: ReadSession, credential: Credential) -> Principal:
    reader = principal_of(session, credential)
    require(reader, Role.ADMIN, Role.AUDITOR)
    return reader


def require_reader(services: Services, credential: Credential) -> None:
    """Allow only admins and auditors."""
    with services.database.read() as session:
        _find_reader(session, credential)


def list_records(services: Services, after: int | None, limit: int, *, newest: bool) -> list[Document]:
    """Return a page of records, oldest or newest first, with all members that the hashes cover."""
    with services.database.read() as session:
        page = audit_log.page_of_records(session, after, limit, newest=newest)
    return [_record_document(each) for each in page]


def verify_records(services: Services, credential: Credential) -> Document:
    """Verify the chain of records and compare the principals with it, in a snapshot taken now."""
    with services.database.read() as session:
        reader = _find_reader(session, credential)
        found = audit_log_verification.verify_audit_log(session, services.keyring)
    verification_records.store(services, AUDIT_LOG, Actor("principal", reader.name), found)
    return verification_document(found)


def describe_latest_verification(services: Services) -> Document:
    """Return when the records were verified last, by whom, and what was found."""
    return verification_records.describe_latest(services, AUDIT_LOG)


def _record_document(found: Record) -> Document:
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
