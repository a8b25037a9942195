"""The verification of one dataset's ledger, for its owner, admins and auditors."""

from app.ledger.chain.audit_log import Actor
from app.ledger.verification import ledger_verification
from app.services import audit_records, verification_records
from app.services.access import Access
from app.services.context import Services
from app.services.rendering.documents import Document
from app.services.rendering.verifications import verification_document


def verify_dataset_ledger(services: Services, entered: Access) -> Document:
    """Verify the dataset's chain and sums in a snapshot taken now."""
    with services.database.read() as session:
        found = ledger_verification.verify_ledger(session, services.keyring, entered.dataset.id)
    ledger, by = audit_records.dataset_path(entered.dataset.name), Actor("principal", entered.principal.name)
    verification_records.store(services, ledger, by, found)
    return verification_document(found)


def describe_latest_verification(services: Services, entered: Access) -> Document:
    """Return when the dataset's ledger was verified last, by whom, and what was found."""
    return verification_records.describe_latest(services, audit_records.dataset_path(entered.dataset.name))
