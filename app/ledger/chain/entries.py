"""A dataset's ledger: entries that are only ever appended, numbered without a gap, each sealing all before it."""

from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import bindparam, insert, select, update

from app.db.session import Session, WriteSession
from app.db.tables import accounts, entries
from app.ledger.account import Account
from app.ledger.chain import facts
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Seal

Kind = Literal["open", "seal", "allow", "revoke", "adjust", "debit", "write_off", "stale", "revalidate", "close"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened to a dataset's budget. The fields are the columns, in order.

    Attributes:
        principal: the name of whom it concerns: who released, who was granted access or lost it, who decided.
        epsilon_nano: `open`, `adjust`: the dataset's limit from now on; `allow`: the allowance's; `debit`, `write_off`:
            the cost; others: 0.
        spent_nano: what the dataset has spent after it.
        release_id: of a `debit`.
        answer_hash: of a `debit`: SHA-256 of the response that is stored with the release.
        window_days: of an `allow`: how long each window of the allowance is; None where it is never renewed.
        reason: of an `adjust` or a `write_off`.
        secret_id: which of the operator's secrets sealed it.
        previous_hash, hash: of the entry before (None before the first), and its own, by `app.ledger.chain.hash_chain`.
        facts_hash: of the dataset's facts from now on, by `app.ledger.chain.facts`: of an `open`, and of `stale`,
            `revalidate` and `close`, which change its state; `seal` has it where `open` has none, in an older ledger.
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


_ADVANCE = (
    update(accounts)
    .where(accounts.c.dataset_id == bindparam("dataset"), accounts.c.last_seq == bindparam("last"))
    .values(
        last_seq=bindparam("next"),
        head=bindparam("new_head"),
        facts_hash=bindparam("new_facts"),
        seal=bindparam("new_seal"),
    )
)
_INSERT = insert(entries).inline()
_PAGE = (
    select(entries)
    .where(entries.c.dataset_id == bindparam("dataset"), entries.c.seq > bindparam("after"))
    .order_by(entries.c.seq)
    .limit(bindparam("most"))
)


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
    """Write the next entry of an account and make its hash the account's head; the account after it, sealed.

    The transaction has locked the account, and `account` is as it is now, so that number and head need not be asked
    for: what was spent is what is sealed.
    """
    seq = account.last_seq + 1
    sealed = (
        *(seq, kind, principal, epsilon_nano, account.spent_nano, release_id, answer_hash, window_days, reason, at),
        *(seal.secret_id, account.head),
    )
    head = seal.hash(canonical_bytes(account.dataset, *sealed, facts_hash))
    entry = Entry(account.dataset_id, *sealed, head, facts_hash)
    after = replace(account, last_seq=seq, head=head, facts_hash=facts_hash or account.facts_hash)
    after = replace(after, seal=facts.seal_account(seal, after))
    advanced = transaction.change(
        _ADVANCE,
        dataset=account.dataset_id,
        last=account.last_seq,
        next=seq,
        new_head=head,
        new_facts=after.facts_hash,
        new_seal=after.seal,
    )
    if advanced != 1:
        raise AssertionError("an entry was appended to an account that was not locked")
    transaction.change(
        _INSERT,
        dataset_id=entry.dataset_id,
        seq=entry.seq,
        kind=entry.kind,
        principal=entry.principal,
        epsilon_nano=entry.epsilon_nano,
        spent_nano=entry.spent_nano,
        release_id=entry.release_id,
        answer_hash=entry.answer_hash,
        window_days=entry.window_days,
        reason=entry.reason,
        at=entry.at,
        secret_id=entry.secret_id,
        previous_hash=entry.previous_hash,
        hash=entry.hash,
        facts_hash=entry.facts_hash,
    )
    return after


def page_of_entries(session: Session, dataset_id: int, after: int, limit: int) -> list[Entry]:
    """At most `limit` entries of a dataset, oldest first, from behind the one numbered `after`."""
    return [Entry(*row) for row in session.rows(_PAGE, dataset=dataset_id, after=after, most=limit)]
