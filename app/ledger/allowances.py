"""Allowances: what one principal may spend on one dataset, and whether it has access.

The sum of all allowances may exceed the dataset's limit, which applies as well. Revoking an allowance ends the access
but keeps the spending: if access is granted again later, the earlier spending still counts.

An allowance with a window is renewed when the window ends. Its row holds the start of the window in which it was last
debited or granted, and what was spent since then. The dataset's limit is never renewed.

Every change locks the dataset's account first and the allowance second. The fixed order prevents deadlocks.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, case, select, update

from app.db.dialects.upsert import upsert
from app.db.repositories.principals import Principal
from app.db.session import Session, WriteSession
from app.db.tables import allowances, datasets, principals
from app.errors import NO_ALLOWANCE, BudgetExhaustedError, ForbiddenError, InvalidRequestError, NotFoundError
from app.ledger import accounts, held_accounts
from app.ledger.chain import entries
from app.ledger.chain.keyring import Seal
from app.ledger.windows import Window


class Allowance(NamedTuple):
    """A principal's budget on a dataset, in ledger units; `principal` is its name.

    With a window, `window` is the one that was current in the session that read the allowance, and `spent_nano` is what
    was spent in it. `stored_bytes` is how many bytes the principal's answers on the dataset take in the database.
    """

    principal_id: int
    principal: str
    limit_nano: int
    spent_nano: int
    revoked: bool
    window: Window | None = None
    stored_bytes: int = 0

    @property
    def remaining_nano(self) -> int:
        """What is left of the allowance; the dataset itself may have less left."""
        return self.limit_nano - self.spent_nano

    def refusal(self, cost_nano: int) -> BudgetExhaustedError:
        """Return the error for a debit that is too large.

        The error has the time of the next renewal only if the cost would fit into a new window.
        """
        renews_at = self.window.ends_at if self.window is not None and cost_nano <= self.limit_nano else None
        return BudgetExhaustedError("allowance", cost_nano, self.remaining_nano, self.limit_nano, renews_at)


_name = select(principals.c.name).where(principals.c.id == allowances.c.principal_id).scalar_subquery()
_COLUMNS = (
    allowances.c.principal_id,
    _name.label("principal"),
    allowances.c.limit_nano,
    allowances.c.spent_nano,
    allowances.c.revoked,
    allowances.c.window_days,
    allowances.c.window_started_at,
    allowances.c.stored_bytes,
)
_OF_DATASET = allowances.c.dataset_id == bindparam("dataset")
_OF_PRINCIPAL = allowances.c.principal_id == bindparam("grantee")
_IN_FORCE = allowances.c.revoked.is_(False)
# What was spent in the window that starts at the parameter: 0 if the row belongs to an earlier window.
_SPENT = case((allowances.c.window_started_at < bindparam("window"), 0), else_=allowances.c.spent_nano)

_FIND_ANY = select(*_COLUMNS).where(_OF_DATASET, _OF_PRINCIPAL)
_FIND = _FIND_ANY.where(_IN_FORCE)
_ALL_OF = select(*_COLUMNS).where(_OF_DATASET).order_by(allowances.c.principal_id)
_DISPLAY_NAMES = (
    select(principals.c.id, principals.c.display_name)
    .join_from(allowances, principals, principals.c.id == allowances.c.principal_id)
    .where(_OF_DATASET, principals.c.display_name.is_not(None))
)
_OF = (
    select(datasets.c.name, *_COLUMNS)
    .join_from(allowances, datasets, datasets.c.id == allowances.c.dataset_id)
    .where(_OF_PRINCIPAL, _IN_FORCE)
    .order_by(datasets.c.id)
)
_REVOKE = update(allowances).where(_OF_DATASET, _OF_PRINCIPAL, _IN_FORCE).values(revoked=True)
_GRANT = upsert(
    allowances,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["dataset_id", "principal_id"],
        set_={
            "limit_nano": insert.excluded.limit_nano,
            "spent_nano": _SPENT,
            "revoked": False,
            "window_days": insert.excluded.window_days,
            "window_started_at": insert.excluded.window_started_at,
        },
        where=insert.excluded.limit_nano >= _SPENT,
    ).returning(allowances.c.spent_nano),
)


def allowance_of_row(session: Session, row: Sequence[Any]) -> Allowance:
    """Convert a row to an allowance in the current window. Without a window, the clock is not read."""
    grantee, name, limit_nano, spent_nano, revoked, days, started_at, stored_bytes = row
    if days is None:
        return Allowance(grantee, name, limit_nano, spent_nano, revoked, stored_bytes=stored_bytes)
    window = Window(days, started_at).at(session.time())
    lapsed = window.started_at > started_at
    return Allowance(grantee, name, limit_nano, 0 if lapsed else spent_nano, revoked, window, stored_bytes)


def find_allowance(session: Session, dataset_id: int, principal_id: int) -> Allowance | None:
    """Return a principal's allowance on a dataset, or None if it was revoked or never granted."""
    row = session.row(_FIND, dataset=dataset_id, grantee=principal_id)
    return None if row is None else allowance_of_row(session, row)


def list_allowances(session: Session, dataset_id: int) -> list[Allowance]:
    """Return every allowance on a dataset. Revoked ones are included, because their spending still counts."""
    return [allowance_of_row(session, row) for row in session.rows(_ALL_OF, dataset=dataset_id)]


def list_display_names(session: Session, dataset_id: int) -> dict[int, str]:
    """Return the display names of the principals with an allowance on a dataset, by the principals' ids."""
    return dict(tuple(row) for row in session.rows(_DISPLAY_NAMES, dataset=dataset_id))


def list_allowances_of_principal(session: Session, principal_id: int) -> list[tuple[str, Allowance]]:
    """Return a principal's allowances in force with the names of their datasets, oldest dataset first."""
    return [(name, allowance_of_row(session, row)) for name, *row in session.rows(_OF, grantee=principal_id)]


def grant_allowance(  # noqa: PLR0913, PLR0917 - who gets what, on what, and when
    transaction: WriteSession,
    seal: Seal,
    dataset_id: int,
    principal: Principal,
    limit_nano: int,
    at: str,
    window_days: int | None = None,
) -> Allowance:
    """Grant a principal an allowance, change its limit or window, or restore a revoked one.

    What was spent in the current window still counts after the change. If the number of days stays the same, the series
    of windows continues. Otherwise a new series starts now by the database's clock, and the entry has that time too.

    Raises:
        NotFoundError: the dataset has no account.
        InvalidRequestError: the principal has already spent more than the new limit.
    """
    account = accounts.lock_account(transaction, dataset_id)
    row = transaction.row(_FIND_ANY, dataset=dataset_id, grantee=principal.id)
    before = None if row is None else allowance_of_row(transaction, row).window
    window = None
    if before is not None or window_days is not None:
        at = transaction.time()
    if window_days is not None:
        window = before if before is not None and before.days == window_days else Window(window_days, at)
    granted = transaction.change_returning(
        _GRANT[transaction.dialect],
        dataset_id=dataset_id,
        principal_id=principal.id,
        limit_nano=limit_nano,
        spent_nano=0,
        revoked=False,
        window_days=window_days,
        window_started_at=None if window is None else window.started_at,
        window="" if before is None else before.started_at,
    )
    if granted is None:
        raise InvalidRequestError(("epsilon_limit", "must not be below what the principal has already spent"))
    entries.append_entry(transaction, seal, account, "allow", principal.name, limit_nano, at, window_days=window_days)
    return Allowance(principal.id, principal.name, limit_nano, granted.spent_nano, revoked=False, window=window)


def revoke_allowance(transaction: WriteSession, seal: Seal, dataset_id: int, principal: Principal, at: str) -> None:
    """Revoke a principal's access; its spending is kept.

    Raises:
        NotFoundError: the principal has no access, or the dataset has no account.
    """
    account = accounts.lock_account(transaction, dataset_id)
    if transaction.change(_REVOKE, dataset=dataset_id, grantee=principal.id) == 0:
        raise NotFoundError("this principal has no access to the dataset that could be revoked")
    entries.append_entry(transaction, seal, account, "revoke", principal.name, 0, at)


def hold_allowance(transaction: WriteSession, dataset_id: int, principal_id: int) -> Allowance | None:
    """Lock a dataset's account and return a principal's allowance on it; None if it was revoked or never granted."""
    row = held_accounts.hold_allowance(transaction, dataset_id, principal_id)
    return None if row is None or row.revoked else allowance_of_row(transaction, row)


def store(transaction: WriteSession, dataset_id: int, principal_id: int, stored_bytes: int) -> Allowance | None:
    """Add the size of an answer that costs nothing to `stored_bytes`, and return the allowance; None if revoked."""
    row = held_accounts.hold_allowance(transaction, dataset_id, principal_id)
    if row is None:
        return None
    after = row._replace(stored_bytes=row.stored_bytes + stored_bytes)
    held_accounts.write_allowance(transaction, dataset_id, row, after)
    return None if after.revoked else allowance_of_row(transaction, after)


def debit(
    transaction: WriteSession, dataset_id: int, principal_id: int, cost_nano: int, stored_bytes: int = 0
) -> Allowance:
    """Debit an allowance, and return it as it is after the debit. Debit the dataset's account first.

    The debit counts in the window of `transaction.time()`. The time is read here, as late as possible: a transaction
    that waited for the account's lock until after the end of a window spends in the next window.

    Args:
        transaction: the transaction that answers.
        dataset_id: the dataset.
        principal_id: the principal that pays.
        cost_nano: the cost in ledger units; 0 if other releases of the batch cover it.
        stored_bytes: how many bytes the answer adds to the database.

    Raises:
        ForbiddenError: the access was revoked or never granted.
        BudgetExhaustedError: the allowance has less left than the cost; nothing is spent.
    """
    if cost_nano < 0:
        raise ValueError("a debit is not negative")
    row = held_accounts.hold_allowance(transaction, dataset_id, principal_id)
    if row is None or row.revoked:
        raise ForbiddenError(NO_ALLOWANCE)
    allowance = allowance_of_row(transaction, row)
    if cost_nano > allowance.remaining_nano:
        raise allowance.refusal(cost_nano)
    after = row._replace(
        spent_nano=allowance.spent_nano + cost_nano,
        window_started_at=None if allowance.window is None else allowance.window.started_at,
        stored_bytes=row.stored_bytes + stored_bytes,
    )
    held_accounts.write_allowance(transaction, dataset_id, row, after)
    return allowance._replace(spent_nano=after.spent_nano, stored_bytes=after.stored_bytes)
