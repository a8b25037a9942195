"""The verification of one dataset's ledger, for its owner, admins and auditors."""

from app.ledger.chain.audit_log import Actor
from app.services import audit_records, verification_records
from app.services.access import Access
from app.services.context import Services
from app.services.rendering.documents import Document
from app.services.rendering.verifications import verification_document


def verify_dataset_ledger(services: Services, entered: Access, *, incremental: bool) -> Document:
    """Verify the dataset's chain and sums in a snapshot taken now, in full or from the latest verified entry on."""
    ledger, by = audit_records.dataset_path(entered.dataset.name), Actor("principal", entered.principal.name)
    with services.database.read() as session:
        found = verification_records.verify(
            session, services.keyring, entered.dataset.id, ledger, incremental=incremental
        )
    verification_records.store(services, ledger, by, found)
    return verification_document(found)


def describe_latest_verification(services: Services, entered: Access) -> Document:
    """Return when the dataset's ledger was verified last, by whom, and what was found."""
    return verification_records.describe_latest(services, audit_records.dataset_path(entered.dataset.name))
