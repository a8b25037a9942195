"""Whether a dataset's ledger is what was written, as its overseers are told."""

from app.ledger import verification
from app.ledger.verification import Verification
from app.services.access import Access
from app.services.context import Services
from app.services.documents import Document


def verify(services: Services, entered: Access) -> Document:
    """Compute the dataset's chain and sums again, as of now."""
    with services.database.read() as session:
        found = verification.verify(session, services.keyring, entered.dataset.id)
    return verification_document(found)


def verification_document(found: Verification) -> Document:
    """What was found: the first bad entry's problem first, and `seq` null where no entry is to blame."""
    return {
        "valid": found.valid,
        "entries": found.entries,
        "head": None if found.head is None else found.head.hex(),
        "problems": [{"seq": problem.seq, "what": problem.what} for problem in found.problems],
    }
