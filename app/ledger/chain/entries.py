"""A dataset's ledger: append-only entries, numbered without a gap. Each entry's hash includes the hash before it."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, select

from app.db.page_queries import MAX_NUMBER, page_queries
from app.db.row_changes import RowChange
from app.db.session import Session, WriteSession
from app.db.tables import entries
from app.ledger import held_accounts
from app.ledger.account import Account
from app.ledger.chain import facts
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Seal

Kind = Literal["open", "seal", "allow", "revoke", "adjust", "debit", "write_off", "stale", "revalidate", "close"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened to a dataset's budget. The fields are the columns, in order.

    Attributes:
        principal: the name of the principal that made the release, was granted or lost access, or decided the change.
        epsilon_nano: `open`, `adjust`: the dataset's limit from now on; `allow`: the allowance's; `debit`, `write_off`:
            the cost; others: 0.
        spent_nano: the dataset's total spending after the entry.
        release_id: for a `debit`: the id of the release.
        answer_hash: for a `debit`: the SHA-256 of the response that is stored with the release.
        window_days: for an `allow`: the length of each window of the allowance; None if it is never renewed.
        reason: for an `adjust` or a `write_off`: the stated reason.
        secret_id: the id of the operator's secret that sealed the entry.
        previous_hash, hash: the hash of the entry before (None for the first entry), and the entry's own hash, from
            `app.ledger.chain.hash_chain`.
        facts_hash: the hash of the dataset's facts after the entry, from `app.ledger.chain.facts`. `open`, `stale`,
            `revalidate` and `close` have it. In an older ledger, where `open` has none, `seal` has it.
    """

    dataset_id: int
    seq: int
    kind: str
    principal: str
    epsilon_nano: int
    spent_nano: int
    release_id: str | None
    answer_hash: bytes | None
    window_days: int | None
    reason: str | None
    at: str
    secret_id: str | None
    previous_hash: bytes | None
    hash: bytes | None
    facts_hash: bytes | None


_INSERT = RowChange(entries, Entry.__slots__)
_PAGE = page_queries(select(entries).where(entries.c.dataset_id == bindparam("dataset")), entries.c.seq)


def append_entry(  # noqa: PLR0913, PLR0917 - what an entry says, by name where it may be absent
    transaction: WriteSession,
    seal: Seal,
    account: Account,
    kind: Kind,
    principal: str,
    epsilon_nano: int,
    at: str,
    *,
    release_id: str | None = None,
    answer_hash: bytes | None = None,
    window_days: int | None = None,
    reason: str | None = None,
    facts_hash: bytes | None = None,
) -> Account:
    """Append the next entry of an account, make its hash the account's head, and return the sealed account.

    The transaction must hold the account's lock, and `account` must be its current value. So the number, the head and
    the spending need not be read again.
    """
    seq = account.last_seq + 1
    sealed = (
        *(seq, kind, principal, epsilon_nano, account.spent_nano, release_id, answer_hash, window_days, reason, at),
        *(seal.secret_id, account.head),
    )
    head = seal.hash(canonical_bytes(account.dataset, *sealed, facts_hash))
    after = account._replace(last_seq=seq, head=head, facts_hash=facts_hash or account.facts_hash)
    after = after._replace(seal=facts.seal_account(seal, after))
    held_accounts.write_account(transaction, account, after)
    row = account.dataset_id, *sealed, head, facts_hash
    transaction.put(_INSERT, dict(zip(Entry.__slots__, row, strict=True)))
    return after


def page_of_entries(
    session: Session, dataset_id: int, after: int | None, limit: int, *, newest: bool = False
) -> list[Entry]:
    """At most `limit` entries of a dataset, oldest or newest first, that follow the entry with the number `after`."""
    start = after if after is not None else MAX_NUMBER if newest else 0
    query = _PAGE.choose(newest=newest)
    return [Entry(*row) for row in session.rows(query, dataset=dataset_id, after=start, most=limit)]
