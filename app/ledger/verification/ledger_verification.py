"""Verifies a dataset's ledger: everything that can be recomputed is recomputed and compared.

A chain is checked entry by entry: the number, the hash of the entry before, the entry's own hash under the secret that
it names, its spending and its release. Then the result is compared with the account, the allowances and the releases.
Memory does not grow with the ledger: entries are read in pages, and at most `MAX_PROBLEMS` problems are reported, the
first bad entry first.

An incremental verification starts from a state that an earlier one found valid, and that is stored under a seal. What
it does not check again is in docs/ledger.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, func, literal_column, select

from app.db.repositories.datasets import Dataset
from app.db.session import Session
from app.db.tables import datasets, entries, principals, releases
from app.errors import NotFoundError
from app.ledger import accounts, budget_requests, figures, report_runs, reports, viewers
from app.ledger.account import Account
from app.ledger.answers import answer_checks
from app.ledger.chain import facts
from app.ledger.chain.keyring import Keyring
from app.ledger.verification.entry_checks import EntryChecks, read_entries
from app.ledger.verification.replay import LedgerReplay
from app.ledger.verification.results import MAX_PROBLEMS, Problem, Verification, VerifiedState

UNSEALED = "the dataset's facts have no seal"

_FACTS = (
    select(datasets, principals.c.name.label("owner"))
    .join_from(datasets, principals, principals.c.id == datasets.c.owner_id, isouter=True)
    .where(datasets.c.id == bindparam("dataset"))
)
_NAMES = select(datasets.c.name).order_by(datasets.c.id)
_HASH = select(entries.c.hash).where(entries.c.dataset_id == bindparam("dataset"), entries.c.seq == bindparam("entry"))
_COUNT = select(func.count().label("stored")).select_from(releases).where(releases.c.dataset_id == bindparam("dataset"))
_UNPAID = (
    select(releases.c.id)
    .join_from(
        releases,
        entries,
        (entries.c.release_id == releases.c.id) & (entries.c.dataset_id == releases.c.dataset_id),
        isouter=True,
    )
    .where(releases.c.dataset_id == bindparam("dataset"), entries.c.seq.is_(None))
    .order_by(releases.c.id)
    .limit(literal_column(str(MAX_PROBLEMS)))
)


def list_dataset_names(session: Session) -> list[str]:
    """The names of all datasets, including closed ones, oldest first."""
    return [row.name for row in session.rows(_NAMES)]


def verify_ledger(
    session: Session,
    keyring: Keyring,
    dataset_id: int,
    known: VerifiedState | None = None,
    *,
    incremental: bool = False,
) -> Verification:
    """Verify one dataset's ledger in the session's snapshot.

    The chain must contain the last entry of the latest verified state, `known`. An incremental verification checks only
    what follows it, and everything if anything is wrong there.
    """
    try:
        account = accounts.find_account(session, dataset_id)
    except NotFoundError:  # registration creates an account for every dataset
        return Verification(0, None, (Problem(None, "the dataset's account is missing"),))
    is_behind = known is not None and _is_behind(session, dataset_id, known)
    if incremental and known is not None and not is_behind:
        found = _Verifier(session, keyring, account, known).run()
        if found.valid:
            return found
    found = _Verifier(session, keyring, account).run()
    if known is None or (found.valid and not is_behind):
        return found
    behind = (Problem(known.seq, "is not the one that was verified before: the ledger was reset"),) if is_behind else ()
    return replace(found, problems=(*found.problems, *behind)[:MAX_PROBLEMS], state=known)


def _is_behind(session: Session, dataset_id: int, known: VerifiedState) -> bool:
    """Whether the chain does not contain the last entry of a verified state."""
    row = session.row(_HASH, dataset=dataset_id, entry=known.seq)
    return row is None or row.hash != known.head


class _Verifier:
    """One verification.

    Args:
        known: the state to start from; None: start from the first entry.
    """

    def __init__(
        self, session: Session, keyring: Keyring, account: Account, known: VerifiedState | None = None
    ) -> None:
        self._session, self._keyring, self._account, self._known = session, keyring, account, known
        self._replay = LedgerReplay(session, account.dataset_id, None if known is None else known.replayed)
        self._sealed = account.seal is not None or account.facts_hash is not None  # if not, report it once
        self._entries, head = (0, None) if known is None else (known.seq, known.head)
        self._first = self._entries + 1
        self._checks = EntryChecks(
            *(session, keyring, account, self._replay.name_of),
            is_sealed=self._sealed,
            last_seq=self._entries,
            head=head,
        )
        self._problems: list[Problem] = []

    def run(self) -> Verification:
        for row in self._read_entries():
            self._entries += 1
            if (wrong := self._wrong(row)) is not None:
                self._tell(row.seq if isinstance(row.seq, int) else None, wrong)
                if len(self._problems) == MAX_PROBLEMS:
                    break
        else:
            self._compare()
        problems = tuple(self._problems[:MAX_PROBLEMS])
        return Verification(self._entries, self._checks.head, problems, self._first, self._state(problems))

    def _read_entries(self) -> Iterator[Any]:
        """Yield the entries to check: in a full verification all, also those with numbers that no entry may have."""
        first = None if self._known is None else self._first
        try:
            yield from read_entries(self._session, self._account.dataset_id, first)
        except ValueError:
            self._tell(None, "an entry has a number that is not a whole number")

    def _state(self, problems: tuple[Problem, ...]) -> VerifiedState | None:
        if problems or self._checks.head is None or not self._sealed:
            return None
        full_at = self._session.time() if self._known is None else self._known.full_at
        return VerifiedState(self._checks.last_seq, self._checks.head, full_at, self._replay.state())

    def _compare(self) -> None:
        """Compare the sums of the entries with what is stored, and check the seals of other rows."""
        dataset_id = self._account.dataset_id
        self._compare_with_account()
        if self._known is None:
            self._find_unpaid()
        self._compare_with_dataset()
        if self._sealed and self._known is None:
            for wrong in answer_checks.find_unsealed(self._session, self._keyring, dataset_id):
                self._tell(None, wrong)
        for sealed in (budget_requests, figures, viewers.OF_DATASETS, reports, report_runs):
            for wrong in sealed.find_unsealed(self._session, self._keyring, dataset_id):
                self._tell(None, wrong)

    def _wrong(self, row: Any) -> str | None:  # noqa: ANN401 - a row of `read_entries`
        # All three checks run on every entry, so that one bad entry does not make all later sums wrong.
        checks = self._checks
        try:
            unchained, unfitting, unreleased = (
                checks.check_chain(row),
                self._replay.step(row),
                checks.check_release(row),
            )
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return "holds a value that is not valid in any entry"  # such as a malformed time: SQLite stores any value
        return unchained or unfitting or unreleased

    def _tell(self, seq: int | None, what: str) -> None:
        self._problems.append(Problem(seq, what))

    def _compare_with_account(self) -> None:
        account, replay = self._account, self._replay
        if account.last_seq != self._checks.last_seq:
            self._tell(None, f"the last entry is {self._checks.last_seq}, but the account says {account.last_seq}")
        elif account.head != self._checks.head:
            self._tell(None, "the account's head is not the hash of the last entry")
        if account.spent_nano != replay.spent_nano:
            self._tell(None, "the account's spending is not the sum of the entries")
        if account.limit_nano != replay.limit_nano:
            self._tell(None, "the account's limit is not the one of the last entry")
        for name in replay.wrong_allowances():
            self._tell(None, f"the allowance of {name} differs from what the entries say")

    def _compare_with_dataset(self) -> None:
        account, replay = self._account, self._replay
        row = self._session.row(_FACTS, dataset=account.dataset_id)
        if row.owner != replay.owner:
            self._tell(None, "the dataset's owner is not the principal that opened its account")
        if replay.facts_hash is None and not self._sealed:
            self._tell(None, UNSEALED)
            return
        if facts.hash_facts(Dataset(*row[:-1])) != replay.facts_hash:
            self._tell(None, "the dataset's facts or its state were changed after they were sealed")
        if account.facts_hash != replay.facts_hash or not facts.is_account_sealed(self._keyring, account):
            self._tell(None, "the account's seal does not match its figures")

    def _find_unpaid(self) -> None:
        dataset_id = self._account.dataset_id
        if self._session.row(_COUNT, dataset=dataset_id).stored != self._checks.paid:
            for row in self._session.rows(_UNPAID, dataset=dataset_id):
                self._tell(None, f"the release {row.id} has no debit")
