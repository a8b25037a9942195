"""A dataset's account as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The dataset's budget in ledger units, the number of its last entry, and the head of its chain.

    Attributes:
        dataset: the dataset's name, which never changes and which the chain is bound to.
        facts_hash: of the dataset's public facts and state, by `app.ledger.chain.facts`.
        seal: of all the rest but `stored_bytes`; None in a ledger that was never sealed like that.
        stored_bytes: what all answers on the dataset take in the database.
    """

    dataset_id: int
    dataset: str
    limit_nano: int
    spent_nano: int
    last_seq: int
    head: bytes | None
    facts_hash: bytes | None
    seal: bytes | None
    stored_bytes: int = 0

    @property
    def remaining_nano(self) -> int:
        """What can still be spent."""
        return self.limit_nano - self.spent_nano
