"""The verification of one dataset's ledger, for its owner, admins and auditors."""

from app.ledger.verification import ledger_verification
from app.services.access import Access
from app.services.context import Services
from app.services.rendering.documents import Document
from app.services.rendering.verifications import verification_document


def verify_dataset_ledger(services: Services, entered: Access) -> Document:
    """Verify the dataset's chain and sums in a snapshot taken now."""
    with services.database.read() as session:
        found = ledger_verification.verify_ledger(session, services.keyring, entered.dataset.id)
    return verification_document(found)
