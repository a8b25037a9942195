"""All ledgers checked at once, and held against a checkpoint."""

from dataclasses import astuple, dataclass

from app.db import datasets
from app.db.session import Session
from app.errors import NotFoundError
from app.ledger import heads, verification
from app.ledger.checkpoints import Checkpoint
from app.ledger.keyring import Keyring
from app.ledger.verification import Verification
from app.services.documents import Document
from app.services.names import require_name
from app.services.verifications import verification_document


@dataclass(frozen=True, slots=True)
class Found:
    """What was found by dataset; `behind` are those whose chain does not go through the checkpoint's head."""

    verifications: dict[str, Verification]
    checkpoint: Checkpoint | None
    behind: list[str]

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.behind and all(found.valid for found in self.verifications.values())

    def document(self) -> Document:
        """As JSON."""
        return {
            "valid": self.valid,
            "datasets": [
                {"dataset": name} | verification_document(found) for name, found in self.verifications.items()
            ],
            "checkpoint": None if self.checkpoint is None else {"at": self.checkpoint.at, "behind": self.behind},
        }

    def text(self) -> str:
        """As lines for people."""
        lines = []
        for name, found in self.verifications.items():
            head = "none" if found.head is None else found.head.hex()
            lines.append(f"{name}: {'valid' if found.valid else 'NOT VALID'}, {found.entries} entries, head {head}")
            lines += [f"  {'' if seq is None else f'entry {seq} '}{what}" for seq, what in map(astuple, found.problems)]
        if self.checkpoint is not None:
            told = f"BEHIND it: {', '.join(self.behind)}" if self.behind else "no ledger is behind it"
            lines.append(f"checkpoint of {self.checkpoint.at}: {told}")
        return "\n".join([*lines, "Every ledger is valid." if self.valid else "Not every ledger is valid."])


def verify(session: Session, keyring: Keyring, name: str | None, checkpoint: Checkpoint | None) -> Found:
    """Check one dataset's ledger, or all, as of the session's snapshot.

    Raises:
        NotFoundError: there is no such dataset.
    """
    names = verification.dataset_names(session) if name is None else [require_name(name)]
    found = {}
    for each in names:
        dataset = datasets.by_name(session, each)
        if dataset is None:
            raise NotFoundError("there is no such dataset")
        found[each] = verification.verify(session, keyring, dataset.id)
    return Found(found, checkpoint, [] if checkpoint is None else heads.behind(session, checkpoint.heads))
