"""A dataset's account as a value."""

from typing import NamedTuple


class Account(NamedTuple):
    """The dataset's budget in ledger units, the number of its last entry, and the head of its chain.

    Attributes:
        dataset: the dataset's name. It never changes, and every hash of the chain includes it.
        facts_hash: the hash of the dataset's public facts and state, from `app.ledger.chain.facts`.
        seal: the seal of all other fields except `stored_bytes`; None in an older ledger without such seals.
        stored_bytes: how many bytes all answers on the dataset take in the database.
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
        """The budget that is left."""
        return self.limit_nano - self.spent_nano
