"""Stores and shows the latest verification of each ledger."""

from app.errors import UnavailableError
from app.ledger.chain.audit_log import Actor
from app.ledger.verification import latest_verification
from app.ledger.verification.ledger_verification import Verification
from app.services.context import Services
from app.services.rendering.documents import Document


def store(services: Services, ledger: str, by: Actor, found: Verification) -> None:
    """Store the result of a verification; if the database is busy, nothing is stored, since the result is known."""
    try:
        with services.database.write() as transaction:
            latest_verification.store_latest(transaction, services.keyring.seal, ledger, by, found)
            transaction.commit()
    except UnavailableError:
        return


def describe_latest(services: Services, ledger: str) -> Document:
    """Return when a ledger was verified last, by whom, and what was found; `latest` is null if it never was."""
    with services.database.read() as session:
        latest = latest_verification.find_latest(session, services.keyring, ledger)
    if latest is None:
        return {"latest": None}
    return {
        "latest": {
            "at": latest.at,
            "via": latest.via,
            "actor": latest.actor,
            "valid": latest.problems == 0,
            "entries": latest.entries,
            "problems": latest.problems,
        }
    }
