"""Verifies a ledger from its latest verification on, and stores and shows the latest one of each ledger."""

from app.db.session import Session
from app.errors import UnavailableError
from app.ledger.chain.audit_log import Actor
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import latest_verification, ledger_verification
from app.ledger.verification.results import Verification
from app.services.context import Services
from app.services.rendering.documents import Document


def verify(session: Session, keyring: Keyring, dataset_id: int, ledger: str, *, incremental: bool) -> Verification:
    """Verify a dataset's ledger, and that it contains what was verified before; all of it unless `incremental`."""
    latest = latest_verification.find_latest(session, keyring, ledger)
    known = None if latest is None else latest.state
    # After a problem everything is checked, until the ledger is found valid again.
    incremental = incremental and latest is not None and latest.problems == 0
    return ledger_verification.verify_ledger(session, keyring, dataset_id, known, incremental=incremental)


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
            "full_at": None if latest.state is None else latest.state.full_at,
            "problems": latest.problems,
        }
    }
