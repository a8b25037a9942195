"""The result of a verification as JSON."""

from app.ledger.verification.ledger_verification import Verification
from app.services.rendering.documents import Document


def verification_document(found: Verification) -> Document:
    """What was found: the first bad entry's problem first, and `seq` null where no entry is to blame."""
    return {
        "valid": found.valid,
        "entries": found.entries,
        "head": None if found.head is None else found.head.hex(),
        "problems": [{"seq": problem.seq, "what": problem.what} for problem in found.problems],
    }
