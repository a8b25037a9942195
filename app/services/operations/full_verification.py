"""Verifies all ledgers and compares them with a checkpoint."""

from dataclasses import astuple, dataclass

from app.db.repositories import datasets
from app.db.session import Session
from app.errors import NotFoundError
from app.ledger.chain import checkpoints
from app.ledger.chain.checkpoints import Checkpoint
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import audit_log_verification, ledger_verification
from app.ledger.verification.results import Verification
from app.services import verification_records
from app.services.audit_records import dataset_path
from app.services.names import require_name
from app.services.rendering.documents import Document
from app.services.rendering.verifications import verification_document


@dataclass(frozen=True, slots=True)
class LedgerFindings:
    """The results by dataset; `behind` names those whose chain does not contain the checkpoint's head.

    `audit` is the result for the audit log; None if only one dataset's ledger was verified.
    """

    verifications: dict[str, Verification]
    audit: Verification | None
    checkpoint: Checkpoint | None
    behind: list[str]

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        found = [*self.verifications.values(), *([] if self.audit is None else [self.audit])]
        return not self.behind and all(each.valid for each in found)

    def document(self) -> Document:
        """Return the results as a JSON document."""
        return {
            "valid": self.valid,
            "datasets": [
                {"dataset": name} | verification_document(found) for name, found in self.verifications.items()
            ],
            "audit": None if self.audit is None else verification_document(self.audit),
            "checkpoint": None if self.checkpoint is None else {"at": self.checkpoint.at, "behind": self.behind},
        }

    def text(self) -> str:
        """Return the results as lines of text."""
        lines = []
        for name, found in self.verifications.items():
            lines += _finding_lines(name, found, "entries", "entry")
        if self.audit is not None:
            lines += _finding_lines(checkpoints.ACTS, self.audit, "records", "record")
        if self.checkpoint is not None:
            told = f"these ledgers are BEHIND it: {', '.join(self.behind)}" if self.behind else "no ledger is behind it"
            lines.append(f"checkpoint of {self.checkpoint.at}: {told}")
        return "\n".join([*lines, "Everything is valid." if self.valid else "There are problems: see the lines above."])


def _finding_lines(name: str, found: Verification, many: str, one: str) -> list[str]:
    head = "none" if found.head is None else found.head.hex()
    checked = "" if found.first_checked == 1 else f" (checked from {one} {found.first_checked} on)"
    told = f"{name}: {'valid' if found.valid else 'NOT VALID'}, {found.entries} {many}{checked}, head {head}"
    return [told, *(f"  {'' if seq is None else f'{one} {seq} '}{what}" for seq, what in map(astuple, found.problems))]


def verify_dataset(session: Session, keyring: Keyring, name: str, *, incremental: bool = False) -> Verification:
    """Verify one dataset's ledger in the session's snapshot, in full or from the latest verified entry on.

    Raises:
        NotFoundError: there is no such dataset.
    """
    dataset = datasets.find_dataset(session, name)
    if dataset is None:
        raise NotFoundError("no dataset has this name")
    return verification_records.verify(session, keyring, dataset.id, dataset_path(name), incremental=incremental)


def verify_ledgers(
    session: Session,
    keyring: Keyring,
    name: str | None,
    checkpoint: Checkpoint | None,
    *,
    incremental: bool = False,
) -> LedgerFindings:
    """Verify one dataset's ledger, or all ledgers and the audit log, in the session's snapshot.

    The audit log is always verified in full: it is short.

    Raises:
        NotFoundError: there is no such dataset.
    """
    names = ledger_verification.list_dataset_names(session) if name is None else [require_name(name)]
    found = {each: verify_dataset(session, keyring, each, incremental=incremental) for each in names}
    acts = audit_log_verification.verify_audit_log(session, keyring) if name is None else None
    return LedgerFindings(
        found, acts, checkpoint, [] if checkpoint is None else checkpoints.find_behind(session, checkpoint)
    )
