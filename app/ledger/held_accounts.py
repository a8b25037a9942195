"""The account and the allowances that a transaction has locked, in memory, as they are after its changes.

Whoever changes an account or an allowance on it has locked the account. So what was read under its lock stays true
until the transaction ends, and a release need not ask the database what it has just changed. The transactions of a
group share what they hold, and write each account and allowance once.

The database checks again: it changes an account only if its last entry and its limit are what was held, an allowance
only if its limit and its spending are, and neither beyond the limit.
"""

from typing import NamedTuple

from sqlalchemy import and_, bindparam, select

from app.db.row_changes import BEFORE, RowChange
from app.db.session import WriteSession
from app.db.tables import accounts, datasets, principals
from app.db.tables import allowances as allowance_table
from app.errors import NotFoundError
from app.ledger.account import Account


class AllowanceRow(NamedTuple):
    """The row of an allowance, with the name of its principal."""

    principal_id: int
    principal: str
    limit_nano: int
    spent_nano: int
    revoked: bool
    window_days: int | None
    window_started_at: str | None
    stored_bytes: int


ACCOUNT_COLUMNS = (
    *(accounts.c.dataset_id, datasets.c.name, accounts.c.limit_nano, accounts.c.spent_nano, accounts.c.last_seq),
    *(accounts.c.head, accounts.c.facts_hash, accounts.c.seal, accounts.c.stored_bytes),
)
ALLOWANCE_COLUMNS = (
    *(allowance_table.c.principal_id, principals.c.name, allowance_table.c.limit_nano, allowance_table.c.spent_nano),
    *(allowance_table.c.revoked, allowance_table.c.window_days, allowance_table.c.window_started_at),
    allowance_table.c.stored_bytes,
)
_LOCK = select(accounts.c.dataset_id).where(accounts.c.dataset_id == bindparam("dataset")).with_for_update()
_HELD = (
    select(*ACCOUNT_COLUMNS, datasets.c.state, *ALLOWANCE_COLUMNS)
    .join_from(accounts, datasets, datasets.c.id == accounts.c.dataset_id)
    .join(principals, principals.c.id == bindparam("grantee"), isouter=True)
    .join(
        allowance_table,
        and_(
            allowance_table.c.dataset_id == accounts.c.dataset_id,
            allowance_table.c.principal_id == principals.c.id,
        ),
        isouter=True,
    )
    .where(accounts.c.dataset_id == bindparam("dataset"))
)
_WRITE_ACCOUNT = RowChange(
    accounts,
    ("spent_nano", "last_seq", "head", "facts_hash", "seal", "stored_bytes"),
    conditions=("limit_nano", "last_seq"),
)
_WRITE_ALLOWANCE = RowChange(
    allowance_table, ("spent_nano", "window_started_at", "stored_bytes"), conditions=("limit_nano", "spent_nano")
)


_NOBODY = 0  # the id of no principal


def hold(transaction: WriteSession, dataset_id: int, principal_id: int) -> None:
    """Lock a dataset's account, and read it and a principal's allowance, unless the transaction holds them already.

    Raises:
        NotFoundError: the dataset has no account.
    """
    held = transaction.held
    if (dataset_id, principal_id) in held:
        return
    if not transaction.locks(dataset_id):
        transaction.row(_LOCK, dataset=dataset_id)
    pending = [transaction.find_pending(_WRITE_ALLOWANCE, (dataset_id, principal_id))]
    if dataset_id not in held:
        pending.append(transaction.find_pending(_WRITE_ACCOUNT, (dataset_id,)))
    # A separate statement sees what other transactions committed while the lock was waited for.
    read = transaction.row if any(pending) else transaction.row_apart
    row = read(_HELD, dataset=dataset_id, grantee=principal_id)
    if row is None:
        raise NotFoundError
    state = len(ACCOUNT_COLUMNS)
    if dataset_id not in held:  # what is held may not be written yet
        held[dataset_id] = Account._make(row[:state]), row[state]
    allowance = AllowanceRow._make(row[state + 1 :])
    held[dataset_id, principal_id] = None if row[state + 1] is None else allowance


def hold_account(transaction: WriteSession, dataset_id: int) -> tuple[Account, str]:
    """Return a dataset's account, locked, with the state of the dataset.

    Raises:
        NotFoundError: the dataset has no account.
    """
    if dataset_id not in transaction.held:
        hold(transaction, dataset_id, _NOBODY)
    held: tuple[Account, str] = transaction.held[dataset_id]
    return held


def hold_allowance(transaction: WriteSession, dataset_id: int, principal_id: int) -> AllowanceRow | None:
    """Return a principal's allowance on a dataset, even a revoked one; None if it was never granted.

    Raises:
        NotFoundError: the dataset has no account.
    """
    hold(transaction, dataset_id, principal_id)
    held: AllowanceRow | None = transaction.held[dataset_id, principal_id]
    return held


def write_account(transaction: WriteSession, before: Account, after: Account) -> None:
    """Write an account, which the transaction has locked."""
    row = {name: getattr(after, name) for name in ("dataset_id", *_WRITE_ACCOUNT.columns)}
    row |= {BEFORE + name: getattr(before, name) for name in _WRITE_ACCOUNT.conditions}
    transaction.put(_WRITE_ACCOUNT, row)
    if after.dataset_id in transaction.held:
        _, state = transaction.held[after.dataset_id]
        transaction.held[after.dataset_id] = after, state


def write_allowance(transaction: WriteSession, dataset_id: int, before: AllowanceRow, after: AllowanceRow) -> None:
    """Write an allowance, whose account the transaction has locked."""
    row = {"dataset_id": dataset_id, "principal_id": after.principal_id}
    row |= {name: getattr(after, name) for name in _WRITE_ALLOWANCE.columns}
    row |= {BEFORE + name: getattr(before, name) for name in _WRITE_ALLOWANCE.conditions}
    transaction.put(_WRITE_ALLOWANCE, row)
    transaction.held[dataset_id, after.principal_id] = after
