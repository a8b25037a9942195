"""A dataset's ledger: entries that are only ever appended, numbered from 1 without a gap."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, insert, select, update

from app.db.session import Session, WriteSession
from app.db.tables import accounts, entries
from app.errors import NotFoundError

Kind = Literal["open", "allow", "revoke", "adjust", "debit", "write_off", "close"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened to a dataset's budget. The fields are the columns, in order.

    Attributes:
        principal: the name of whom it concerns: who released, who was granted access or lost it, who decided.
        epsilon_nano: `open`, `adjust`: the dataset's limit from now on; `allow`: the allowance's; `debit`, `write_off`:
            the cost; `revoke`, `close`: 0.
        spent_nano: what the dataset has spent after it.
        release_id: of a `debit`.
        reason: of an `adjust` or a `write_off`.
        previous_hash, hash: the chain's.
    """

    dataset_id: int
    seq: int
    kind: str
    principal: str
    epsilon_nano: int
    spent_nano: int
    release_id: str | None
    reason: str | None
    at: str
    previous_hash: bytes | None
    hash: bytes | None


_NEXT_SEQ = (
    update(accounts)
    .where(accounts.c.dataset_id == bindparam("dataset"))
    .values(last_seq=accounts.c.last_seq + 1)
    .returning(accounts.c.last_seq, accounts.c.head)
)
_INSERT = insert(entries).inline()
_PAGE = (
    select(entries)
    .where(entries.c.dataset_id == bindparam("dataset"), entries.c.seq > bindparam("after"))
    .order_by(entries.c.seq)
    .limit(bindparam("most"))
)


def append(  # noqa: PLR0913, PLR0917 - an entry's fields, in their order
    transaction: WriteSession,
    dataset_id: int,
    kind: Kind,
    principal: str,
    epsilon_nano: int,
    spent_nano: int,
    release_id: str | None,
    at: str,
    *,
    reason: str | None = None,
) -> Entry:
    """Write the next entry; the account is locked from here on, if it was not before.

    Raises:
        NotFoundError: the dataset has no account.
    """
    row = transaction.change_returning(_NEXT_SEQ, dataset=dataset_id)
    if row is None:
        raise NotFoundError
    seq, head = row
    # Here the chain will close over the entry's canonical bytes and `head`, and its hash become the account's head.
    entry = Entry(
        dataset_id,
        seq,
        kind,
        principal,
        epsilon_nano,
        spent_nano,
        release_id,
        reason,
        at,
        previous_hash=head,
        hash=None,
    )
    transaction.change(
        _INSERT,
        dataset_id=entry.dataset_id,
        seq=entry.seq,
        kind=entry.kind,
        principal=entry.principal,
        epsilon_nano=entry.epsilon_nano,
        spent_nano=entry.spent_nano,
        release_id=entry.release_id,
        reason=entry.reason,
        at=entry.at,
        previous_hash=entry.previous_hash,
        hash=entry.hash,
    )
    return entry


def page(session: Session, dataset_id: int, after: int, limit: int) -> list[Entry]:
    """At most `limit` entries of a dataset, oldest first, from behind the one numbered `after`."""
    return [Entry(*row) for row in session.rows(_PAGE, dataset=dataset_id, after=after, most=limit)]
