"""Whether a dataset's ledger is what was written, as its overseers are told."""

from app.ledger.verification import ledger_verification
from app.services.access import Access
from app.services.context import Services
from app.services.rendering.documents import Document
from app.services.rendering.verifications import verification_document


def verify_dataset_ledger(services: Services, entered: Access) -> Document:
    """Compute the dataset's chain and sums again, as of now."""
    with services.database.read() as session:
        found = ledger_verification.verify_ledger(session, services.keyring, entered.dataset.id)
    return verification_document(found)
