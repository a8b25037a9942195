"""Renders the result of a verification as JSON."""

from app.ledger.verification.results import Verification
from app.services.rendering.documents import Document


def verification_document(found: Verification) -> Document:
    """Return the result, with the first bad entry's problem first; `seq` is null for a problem without an entry."""
    return {
        "valid": found.valid,
        "entries": found.entries,
        "first_checked": found.first_checked,
        "head": None if found.head is None else found.head.hex(),
        "problems": [{"seq": problem.seq, "what": problem.what} for problem in found.problems],
    }
