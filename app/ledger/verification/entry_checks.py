"""Reads a dataset's entries with their releases, and checks each entry's place in the chain and its release."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import bindparam, case, func, select

from app.db.session import Session
from app.db.tables import entries, releases
from app.errors import DamagedAnswerError
from app.ledger.account import Account
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, hash_stored
from app.ledger.answers.releases import RESPONSE_BYTES, VERSION, response_body
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Keyring

PAGE = 500
MAX_NUMBER = 2**63 - 1
"""The largest number of an entry that a database can store."""

# Small answers are hashed here: a hash in Postgres takes twenty times as long.
_PAGE = (
    select(
        entries,
        releases.c.dataset_id.label("released_of"),
        releases.c.principal_id.label("released_by"),
        releases.c.epsilon_nano.label("released_for"),
        releases.c.created_at.label("released_at"),
        releases.c.statistic,
        releases.c.gamma,
        releases.c.grid_refinement,
        case((bindparam("largest") >= RESPONSE_BYTES, releases.c.response)).label("content"),
        releases.c.seal,
    )
    .join_from(entries, releases, releases.c.id == entries.c.release_id, isouter=True)
    .where(entries.c.dataset_id == bindparam("dataset"), entries.c.seq.between(bindparam("first"), bindparam("last")))
    .order_by(entries.c.seq)
)
_NEXT = select(func.min(entries.c.seq).label("seq")).where(
    entries.c.dataset_id == bindparam("dataset"), entries.c.seq >= bindparam("first")
)


def read_entries(session: Session, dataset_id: int, first: int | None = None) -> Iterator[Any]:
    """Yield the entries from the number `first` on, or all, each with its release.

    Pages are read by ranges of numbers. With LIMIT, Postgres might sort all remaining rows for every page.

    Raises:
        ValueError: an entry's number is not a whole number, which only SQLite stores; all others were yielded.
    """
    if first is None:
        first = _find_next(session, dataset_id, -MAX_NUMBER)
        if first is None:
            return
    with session.reading_ahead() as start:
        wait = _start_page(start, dataset_id, first)
        while True:
            page, first = wait(), first + PAGE
            if len(page) < PAGE:  # the end, or a gap, however wide
                yield from page
                following = None if first > MAX_NUMBER else _find_next(session, dataset_id, first)
                if following is None:
                    return
                first = following
                wait = _start_page(start, dataset_id, first)
            else:
                wait = _start_page(start, dataset_id, first)
                yield from page


def _find_next(session: Session, dataset_id: int, first: int) -> int | None:
    """The least number of an entry from `first` on, or None."""
    following: object = session.row(_NEXT, dataset=dataset_id, first=first).seq
    if following is None or isinstance(following, int):
        return following
    raise ValueError("not a whole number")


def _start_page(start: Callable[..., Any], dataset_id: int, first: int) -> Callable[[], list[Any]]:
    wait: Callable[[], list[Any]] = start(
        _PAGE, largest=MAX_PLAIN_BYTES, dataset=dataset_id, first=first, last=min(first + PAGE - 1, MAX_NUMBER)
    )
    return wait


class EntryChecks:
    """Checks entries one after the other.

    Args:
        name_of: returns the name of a principal by its number.
        is_sealed: whether releases have seals; those of a ledger before its migration have none.
        last_seq, head: the number and the hash of the entry before the first one.

    Attributes:
        last_seq, head: the number and the hash of the latest entry.
        paid: how many debits have a stored release.
    """

    def __init__(  # noqa: PLR0913 - by their names
        self,
        session: Session,
        keyring: Keyring,
        account: Account,
        name_of: Callable[[int], str | None],
        *,
        is_sealed: bool,
        last_seq: int,
        head: bytes | None,
    ) -> None:
        self._session, self._keyring, self._dataset = session, keyring, account.dataset
        self._name_of, self._is_sealed = name_of, is_sealed
        self.last_seq, self.head, self.paid = last_seq, head, 0

    def check_chain(self, row: Any) -> str | None:  # noqa: ANN401 - a row of _PAGE
        """What is wrong with an entry's place in the chain."""
        before, head = self.last_seq, self.head
        sealed, self.last_seq, self.head = row[1:13], row[1], row[13]  # all columns but the dataset's, in their order
        if sealed[0] != before + 1:
            return f"follows entry {before}: the entries between them are missing"
        if sealed[-1] != head:
            return "does not contain the hash of the entry before it"
        seal = self._keyring.find(sealed[-2])
        if seal is None:
            return "was sealed with a secret that is not configured here"
        if seal.hash(canonical_bytes(self._dataset, *(*sealed, row[14]))) != self.head:
            return "was changed after it was sealed: its hash differs"
        return None

    def check_release(self, row: Any) -> str | None:  # noqa: ANN401 - a row of _PAGE
        """What is wrong with the release of a debit."""
        if row.release_id is None:
            return "is a debit without a release" if row.kind == "debit" else None
        if row.released_of is None:
            return "is the debit of a release that is not stored"
        self.paid += 1
        if self._hash_answer(row) != row.answer_hash:
            return "is the debit of a release whose stored response was changed"
        by = self._name_of(row.released_by)
        # A batch may cost less than its releases together. Without a seal, only equal figures tell that none changed.
        is_fitting = row.epsilon_nano == row.released_for or (self._is_sealed and row.epsilon_nano < row.released_for)
        if (row.released_of, by, row.released_at) != (row.dataset_id, row.principal, row.at) or not is_fitting:
            return "and its release differ in dataset, principal, ε or time"
        if self._is_sealed and not self._keyring.is_sealed(
            *(row.seal, VERSION, row.release_id, row.released_of, row.released_by, row.statistic, row.released_for),
            *(row.gamma, row.grid_refinement, row.released_at, row.answer_hash),
        ):
            return "is the debit of a release that was changed after it was sealed"
        return None

    def _hash_answer(self, row: Any) -> bytes | None:  # noqa: ANN401 - a row of _PAGE
        """The hash of a stored answer; None if the answer is damaged."""
        try:
            return hash_stored(row.content) if row.content is not None else self._hash_large(row.release_id)
        except DamagedAnswerError:
            return None

    def _hash_large(self, release_id: str) -> bytes:
        return response_body(self._session, release_id).checked_sha256()
