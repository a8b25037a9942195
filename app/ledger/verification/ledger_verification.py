"""Verifies a dataset's ledger: everything that can be recomputed is recomputed and compared.

A chain is checked entry by entry: the number, the hash of the entry before, the entry's own hash under the secret that
it names, its spending and its release. Then the result is compared with the account, the allowances and the releases.
Memory does not grow with the ledger: entries are read in pages, and at most `MAX_PROBLEMS` problems are reported, the
first bad entry first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, case, func, literal_column, select

from app.db.repositories.datasets import Dataset
from app.db.session import Session
from app.db.tables import datasets, entries, principals, releases
from app.errors import DamagedAnswerError, NotFoundError
from app.ledger import accounts, budget_requests
from app.ledger.account import Account
from app.ledger.answers import answer_checks
from app.ledger.answers import releases as stored_releases
from app.ledger.answers.answer_storage import COMPRESSED
from app.ledger.answers.releases import Release, is_sealed
from app.ledger.chain import facts
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Keyring
from app.ledger.verification.replay import LedgerReplay

UNSEALED = "the dataset's facts have no seal"
MAX_PROBLEMS = 20
PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and the number of the entry. `seq` is None if the problem is not in a single entry."""

    seq: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of the verification of one chain.

    Attributes:
        entries: how many entries were read.
        head: the stored hash of the last of them.
        problems: the problems, first bad entry first; at most `MAX_PROBLEMS`.
    """

    entries: int
    head: bytes | None
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


_FACTS = (
    select(datasets, principals.c.name.label("owner"))
    .join_from(datasets, principals, principals.c.id == datasets.c.owner_id, isouter=True)
    .where(datasets.c.id == bindparam("dataset"))
)
_NAMES = select(datasets.c.name).order_by(datasets.c.id)
# The database computes the hashes of plain answers, so their content need not be fetched.
_IS_PLAIN = func.substr(
    releases.c.response, literal_column("1"), literal_column("1"), type_=releases.c.response.type
) != bindparam("compressed")
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
        case((_IS_PLAIN, func.sha256(releases.c.response, type_=entries.c.answer_hash.type))).label("response_hash"),
        releases.c.seal,
    )
    .join_from(entries, releases, releases.c.id == entries.c.release_id, isouter=True)
    .where(entries.c.dataset_id == bindparam("dataset"), entries.c.seq.between(bindparam("first"), bindparam("last")))
    .order_by(entries.c.seq)
)
_NEXT = select(func.min(entries.c.seq).label("seq")).where(
    entries.c.dataset_id == bindparam("dataset"), entries.c.seq >= bindparam("first")
)
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


def verify_ledger(session: Session, keyring: Keyring, dataset_id: int) -> Verification:
    """Verify one dataset's ledger in the session's snapshot."""
    try:
        account = accounts.find_account(session, dataset_id)
    except NotFoundError:  # registration creates an account for every dataset
        return Verification(0, None, (Problem(None, "the dataset's account is missing"),))
    return _Verifier(session, keyring, account).run()


class _Verifier:
    def __init__(self, session: Session, keyring: Keyring, account: Account) -> None:
        self._session, self._keyring, self._account = session, keyring, account
        self._replay = LedgerReplay(session, account.dataset_id)
        self._last_seq, self._head = 0, None
        self._sealed = account.seal is not None or account.facts_hash is not None  # if not, report it once
        self._entries = self._paid = 0
        self._problems: list[Problem] = []

    def run(self) -> Verification:
        for row in self._rows():
            self._entries += 1
            if (wrong := self._wrong(row)) is not None:
                self._tell(row.seq, wrong)
            self._last_seq, self._head = row.seq, row.hash
            if len(self._problems) == MAX_PROBLEMS:
                break
        else:
            self._compare_with_account()
            self._find_unpaid()
            self._compare_with_dataset()
            if self._sealed:
                for wrong in answer_checks.find_unsealed(self._session, self._keyring, self._account.dataset_id):
                    self._tell(None, wrong)
            for wrong in budget_requests.find_unsealed(self._session, self._keyring, self._account.dataset_id):
                self._tell(None, wrong)
        return Verification(self._entries, self._head, tuple(self._problems[:MAX_PROBLEMS]))

    def _wrong(self, row: Any) -> str | None:  # noqa: ANN401 - a row of _PAGE
        # All three checks run on every entry, so that one bad entry does not make all later sums wrong.
        try:
            unchained, unfitting, unreleased = self._check_chain(row), self._replay.step(row), self._check_release(row)
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            return "holds a value that is not valid in any entry"  # such as a malformed time: SQLite stores any value
        return unchained or unfitting or unreleased

    def _tell(self, seq: int | None, what: str) -> None:
        self._problems.append(Problem(seq, what))

    def _rows(self) -> Iterator[Any]:
        """Read pages by ranges of numbers. With LIMIT, Postgres might sort all remaining rows for every page."""
        dataset_id, first = self._account.dataset_id, 0
        while True:
            within = {"dataset": dataset_id, "first": first, "last": first + PAGE - 1}
            yield from (page := self._session.rows(_PAGE, compressed=COMPRESSED, **within))
            first += PAGE
            if len(page) < PAGE:  # the end, or a gap, however wide
                following = self._session.row(_NEXT, dataset=dataset_id, first=first).seq
                if following is None:
                    return
                first = following

    def _check_chain(self, row: Any) -> str | None:  # noqa: ANN401 - a row of _PAGE
        """What is wrong with an entry's place in the chain."""
        sealed, hash_, facts_hash = row[1:13], row[13], row[14]  # all columns except the dataset's, in their order
        if sealed[0] != self._last_seq + 1:
            return f"follows entry {self._last_seq}: the entries between them are missing"
        if sealed[-1] != self._head:
            return "does not contain the hash of the entry before it"
        seal = self._keyring.find(sealed[-2])
        if seal is None:
            return "was sealed with a secret that is not configured here"
        if seal.hash(canonical_bytes(self._account.dataset, *(*sealed, facts_hash))) != hash_:
            return "was changed after it was sealed: its hash differs"
        return None

    def _check_release(self, row: Any) -> str | None:  # noqa: ANN401 - a row of _PAGE
        """What is wrong with the release of a debit."""
        if row.release_id is None:
            return "is a debit without a release" if row.kind == "debit" else None
        if row.released_of is None:
            return "is the debit of a release that is not stored"
        self._paid += 1
        if (row.response_hash or self._compute_hash(row.release_id)) != row.answer_hash:
            return "is the debit of a release whose stored response was changed"
        by = self._replay.name_of(row.released_by)
        # A batch may cost less than its releases together. Without a seal, only equal figures tell that none changed.
        is_fitting = row.epsilon_nano == row.released_for or (self._sealed and row.epsilon_nano < row.released_for)
        if (row.released_of, by, row.released_at) != (row.dataset_id, row.principal, row.at) or not is_fitting:
            return "and its release differ in dataset, principal, ε or time"
        stored = Release(
            *(row.release_id, row.released_of, row.released_by, row.statistic, row.released_for, row.gamma),
            *(row.grid_refinement, row.released_at, b"", row.seal),
        )
        if self._sealed and not is_sealed(self._keyring, stored, row.answer_hash):
            return "is the debit of a release that was changed after it was sealed"
        return None

    def _compute_hash(self, release_id: str) -> bytes | None:
        """The hash of an answer that is stored compressed; None if the answer is damaged."""
        try:
            body = stored_releases.response_body(self._session, release_id)
            computed = body.sha256()
        except DamagedAnswerError:
            return None
        return computed if body.stored_sha256 == computed else None

    def _compare_with_account(self) -> None:
        account, replay = self._account, self._replay
        if account.last_seq != self._last_seq:
            self._tell(None, f"the last entry is {self._last_seq}, but the account says {account.last_seq}")
        elif account.head != self._head:
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
        if self._session.row(_COUNT, dataset=dataset_id).stored != self._paid:
            for row in self._session.rows(_UNPAID, dataset=dataset_id):
                self._tell(None, f"the release {row.id} has no debit")
