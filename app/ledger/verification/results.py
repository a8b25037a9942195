"""The result of a verification, and what a later one needs to go on from its last entry."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and the number of the entry. `seq` is None if the problem is not in a single entry."""

    seq: int | None
    what: str


@dataclass(frozen=True, slots=True)
class VerifiedState:
    """A valid ledger as of its last entry. It is stored under a seal, so only somebody with the secret can make one.

    Attributes:
        seq, head: the number and the hash of that entry.
        full_at: when a full verification found the ledger valid.
        replayed: the account and the allowances after that entry, from `LedgerReplay.state`.
    """

    seq: int
    head: bytes
    full_at: str
    replayed: Mapping[str, Any]

    def encode(self) -> str:
        """The state as a text."""
        return json.dumps([self.seq, self.head.hex(), self.full_at, self.replayed], separators=(",", ":"))


def decode_state(text: str) -> VerifiedState:
    """The state that `VerifiedState.encode` made this text of."""
    seq, head, full_at, replayed = json.loads(text)
    return VerifiedState(seq, bytes.fromhex(head), full_at, replayed)


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of the verification of one chain.

    Attributes:
        entries: how many entries there are.
        head: the stored hash of the last of them.
        problems: the problems, first bad entry first; at most `MAX_PROBLEMS`.
        first_checked: the number of the first entry that was checked; 1 in a full verification.
        state: what an incremental verification may start from; None if the ledger was never valid.
    """

    entries: int
    head: bytes | None
    problems: tuple[Problem, ...]
    first_checked: int = field(default=1, compare=False)
    state: VerifiedState | None = field(default=None, compare=False)

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
