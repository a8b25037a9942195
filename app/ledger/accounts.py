"""A dataset's account: what may be spent on its rows, ever, and what was.

    0 <= spent_nano <= limit_nano

always, on both databases: a debit is one conditional UPDATE that the database decides, never a balance that was read
and then written. Spending never falls.
"""

from dataclasses import dataclass

from sqlalchemy import bindparam, exists, insert, select, update

from app.db.session import Session, WriteSession
from app.db.tables import accounts, datasets
from app.errors import BudgetExhaustedError, DatasetClosedError, InvalidRequestError, NotFoundError
from app.ledger import entries


@dataclass(frozen=True, slots=True)
class Account:
    """The dataset's budget in ledger units, the number of its last entry, and the head of its chain."""

    dataset_id: int
    limit_nano: int
    spent_nano: int
    last_seq: int
    head: bytes | None

    @property
    def remaining_nano(self) -> int:
        """What can still be spent."""
        return self.limit_nano - self.spent_nano


_COLUMNS = (
    accounts.c.dataset_id,
    accounts.c.limit_nano,
    accounts.c.spent_nano,
    accounts.c.last_seq,
    accounts.c.head,
)
_INSERT = insert(accounts).inline()
_FIND = select(*_COLUMNS).where(accounts.c.dataset_id == bindparam("dataset"))
_LOCK = _FIND.with_for_update()  # on SQLite the transaction itself is the lock
_STATE = select(datasets.c.state).where(datasets.c.id == bindparam("dataset"))
_DEBIT = (
    update(accounts)
    .where(
        accounts.c.dataset_id == bindparam("dataset"),
        accounts.c.spent_nano + bindparam("cost") <= accounts.c.limit_nano,
        exists().where(datasets.c.id == accounts.c.dataset_id, datasets.c.state == "open"),
    )
    .values(spent_nano=accounts.c.spent_nano + bindparam("cost"))
    .returning(*_COLUMNS)
)
_ADJUST = (
    update(accounts)
    .where(accounts.c.dataset_id == bindparam("dataset"), accounts.c.spent_nano <= bindparam("allowed"))
    .values(limit_nano=bindparam("allowed"))
    .returning(*_COLUMNS)
)


def open_account(transaction: WriteSession, dataset_id: int, limit_nano: int, principal: str, at: str) -> Account:
    """Open the account of a new dataset."""
    transaction.change(_INSERT, dataset_id=dataset_id, limit_nano=limit_nano, spent_nano=0, last_seq=0, head=None)
    entry = entries.append(transaction, dataset_id, "open", principal, limit_nano, 0, None, at)
    return Account(dataset_id, limit_nano, 0, entry.seq, entry.hash)


def find(session: Session, dataset_id: int) -> Account:
    """A dataset's account as it is now.

    Raises:
        NotFoundError: there is none.
    """
    row = session.row(_FIND, dataset=dataset_id)
    if row is None:
        raise NotFoundError
    return Account(*row)


def lock(transaction: WriteSession, dataset_id: int) -> Account:
    """A dataset's account, which nobody else changes until the end of the transaction.

    Raises:
        NotFoundError: there is none.
    """
    row = transaction.row(_LOCK, dataset=dataset_id)
    if row is None:
        raise NotFoundError
    return Account(*row)


def lock_open(transaction: WriteSession, dataset_id: int) -> Account:
    """As `lock`, for a dataset that nobody may close meanwhile.

    Raises:
        NotFoundError: there is none.
        DatasetClosedError: it is closed.
    """
    account = lock(transaction, dataset_id)
    # A statement of its own: what was committed while we waited for the lock is visible to it.
    if transaction.row(_STATE, dataset=dataset_id) != ("open",):
        raise DatasetClosedError
    return account


def debit(transaction: WriteSession, dataset_id: int, cost_nano: int) -> Account:
    """Spend on a dataset whose account the transaction has locked; the account after it.

    Raises:
        NotFoundError: there is no account.
        DatasetClosedError: the dataset is closed.
        BudgetExhaustedError: it cannot bear the cost; nothing is spent.
    """
    if cost_nano <= 0:
        raise ValueError("a debit costs something")
    row = transaction.change_returning(_DEBIT, dataset=dataset_id, cost=cost_nano)
    if row is None:
        account = lock_open(transaction, dataset_id)
        raise BudgetExhaustedError("dataset", cost_nano, account.remaining_nano, account.limit_nano)
    return Account(*row)


def adjust(  # noqa: PLR0913, PLR0917 - who, what, why, when
    transaction: WriteSession, dataset_id: int, limit_nano: int, principal: str, reason: str | None, at: str
) -> Account:
    """Set another limit; the account after it.

    Raises:
        NotFoundError: there is no account.
        InvalidRequestError: more is spent already.
    """
    lock(transaction, dataset_id)
    row = transaction.change_returning(_ADJUST, dataset=dataset_id, allowed=limit_nano)
    if row is None:
        raise InvalidRequestError(("epsilon_limit", "is less than what is spent"))
    entry = entries.append(
        transaction, dataset_id, "adjust", principal, limit_nano, row.spent_nano, None, at, reason=reason
    )
    return Account(dataset_id, limit_nano, row.spent_nano, entry.seq, entry.hash)


def close(transaction: WriteSession, account: Account, principal: str, at: str) -> None:
    """Write that the dataset of a locked account was closed. The account stays, to be read."""
    entries.append(transaction, account.dataset_id, "close", principal, 0, account.spent_nano, None, at)
