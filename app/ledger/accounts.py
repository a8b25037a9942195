"""A dataset's account: its lifetime limit and what has been spent.

This invariant always holds, on both databases:

    0 <= spent_nano <= limit_nano

A debit is decided under the account's lock, by the balance that was read under it (`held_accounts`). The UPDATE that
writes it is conditional, and the database has the invariant as a constraint. Spending never decreases.
"""

from sqlalchemy import bindparam, insert, select, update

from app.db.repositories.datasets import Dataset
from app.db.session import Session, WriteSession
from app.db.tables import accounts, datasets
from app.errors import (
    BudgetExhaustedError,
    DatasetClosedError,
    DatasetStaleError,
    InvalidRequestError,
    NotFoundError,
    SealBrokenError,
)
from app.ledger import held_accounts
from app.ledger.account import Account
from app.ledger.chain import entries, facts
from app.ledger.chain.keyring import Seal

_name = select(datasets.c.name).where(datasets.c.id == accounts.c.dataset_id).scalar_subquery()
_COLUMNS = (
    accounts.c.dataset_id,
    _name.label("dataset"),
    accounts.c.limit_nano,
    accounts.c.spent_nano,
    accounts.c.last_seq,
    accounts.c.head,
    accounts.c.facts_hash,
    accounts.c.seal,
    accounts.c.stored_bytes,
)
_INSERT = insert(accounts).inline()
_FIND = select(*_COLUMNS).where(accounts.c.dataset_id == bindparam("dataset"))
_ALL = select(*_COLUMNS).order_by(accounts.c.dataset_id)
_LOCK = _FIND.with_for_update()  # on SQLite the transaction itself is the lock
_ADJUST = (
    update(accounts)
    .where(accounts.c.dataset_id == bindparam("dataset"), accounts.c.spent_nano <= bindparam("allowed"))
    .values(limit_nano=bindparam("allowed"))
    .returning(*_COLUMNS)
)


def open_account(  # noqa: PLR0913, PLR0917 - what, how much, who, when
    transaction: WriteSession, seal: Seal, dataset: Dataset, limit_nano: int, principal: str, at: str
) -> Account:
    """Open the account of a new dataset and seal the dataset's facts."""
    transaction.change(_INSERT, dataset_id=dataset.id, limit_nano=limit_nano, spent_nano=0, last_seq=0, head=None)
    account, facts_hash = find_account(transaction, dataset.id), facts.hash_facts(dataset)
    return entries.append_entry(transaction, seal, account, "open", principal, limit_nano, at, facts_hash=facts_hash)


def find_account(session: Session, dataset_id: int) -> Account:
    """Return a dataset's account as it is now.

    Raises:
        NotFoundError: the dataset has no account.
    """
    row = session.row(_FIND, dataset=dataset_id)
    if row is None:
        raise NotFoundError
    return Account._make(row)


def list_accounts(session: Session) -> list[Account]:
    """Return the accounts of all datasets, including closed ones, oldest first."""
    return [Account._make(row) for row in session.rows(_ALL)]


def lock_account(transaction: WriteSession, dataset_id: int) -> Account:
    """Lock a dataset's account until the end of the transaction and return it.

    Raises:
        NotFoundError: the dataset has no account.
    """
    row = transaction.row(_LOCK, dataset=dataset_id)
    if row is None:
        raise NotFoundError
    return Account._make(row)


def lock_open_account(transaction: WriteSession, dataset_id: int) -> Account:
    """Lock and return the account of an open dataset, which stays open until the end of the transaction.

    Raises:
        NotFoundError: the dataset has no account.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
    """
    account = lock_account(transaction, dataset_id)
    require_open(transaction, dataset_id)
    return account


def require_open(transaction: WriteSession, dataset_id: int) -> None:
    """Refuse a dataset that is not open; one that is stays open until the transaction ends, which locks its account.

    Raises:
        NotFoundError: the dataset has no account.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
    """
    _, state = held_accounts.hold_account(transaction, dataset_id)
    if state != "open":
        raise DatasetStaleError if state == "stale" else DatasetClosedError


def debit(
    transaction: WriteSession, dataset_id: int, facts_hash: bytes | None, cost_nano: int, stored_bytes: int = 0
) -> Account:
    """Debit an open dataset's account, keep it locked, and return it as it is after the debit.

    Args:
        transaction: the transaction that answers.
        dataset_id: the dataset.
        facts_hash: the hash that the dataset's facts must have.
        cost_nano: the cost in ledger units; 0 if other releases of the batch cover it.
        stored_bytes: how many bytes the answer adds to the database.

    Raises:
        NotFoundError: the dataset has no account.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
        SealBrokenError: the dataset's facts have another hash.
        BudgetExhaustedError: the remaining budget is smaller than the cost; nothing is spent.
    """
    if cost_nano < 0:
        raise ValueError("a debit is not negative")
    require_open(transaction, dataset_id)
    account, _ = held_accounts.hold_account(transaction, dataset_id)
    if facts_hash is None or account.facts_hash != facts_hash:
        raise SealBrokenError
    if cost_nano > account.remaining_nano:
        raise BudgetExhaustedError("dataset", cost_nano, account.remaining_nano, account.limit_nano)
    after = account._replace(
        spent_nano=account.spent_nano + cost_nano, stored_bytes=account.stored_bytes + stored_bytes
    )
    held_accounts.write_account(transaction, account, after)
    return after


def store(transaction: WriteSession, dataset_id: int, stored_bytes: int) -> Account:
    """Add the size of an answer that costs nothing to `stored_bytes`, and return the account after that."""
    account, _ = held_accounts.hold_account(transaction, dataset_id)
    after = account._replace(stored_bytes=account.stored_bytes + stored_bytes)
    held_accounts.write_account(transaction, account, after)
    return after


def adjust_limit(  # noqa: PLR0913, PLR0917 - who, what, why, when
    transaction: WriteSession,
    seal: Seal,
    dataset_id: int,
    limit_nano: int,
    principal: str,
    reason: str | None,
    at: str,
) -> Account:
    """Change the limit and return the account after the change.

    Raises:
        NotFoundError: the dataset has no account.
        InvalidRequestError: the new limit is below what is already spent.
    """
    lock_account(transaction, dataset_id)
    row = transaction.change_returning(_ADJUST, dataset=dataset_id, allowed=limit_nano)
    if row is None:
        raise InvalidRequestError(("epsilon_limit", "must not be below what is already spent"))
    return entries.append_entry(
        transaction, seal, Account._make(row), "adjust", principal, limit_nano, at, reason=reason
    )


def write_off_spending(  # noqa: PLR0913, PLR0917 - who, what, why, when
    transaction: WriteSession, seal: Seal, dataset_id: int, cost_nano: int, principal: str, reason: str, at: str
) -> Account:
    """Debit spending whose release is no longer recorded, and return the account after that.

    This happens when a restored backup lacks the latest releases. The account is debited but no allowance is.
    `principal` is the name of the person who decided it.

    Raises:
        The same errors as `debit`.
    """
    if cost_nano <= 0:
        raise ValueError("a write-off is positive")
    locked = lock_open_account(transaction, dataset_id)
    account = debit(transaction, dataset_id, locked.facts_hash, cost_nano)
    return entries.append_entry(transaction, seal, account, "write_off", principal, cost_nano, at, reason=reason)
