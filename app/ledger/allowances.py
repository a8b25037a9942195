"""What one principal may spend on one dataset, and whether it has access at all.

Allowances together may exceed the dataset's limit, which holds anyway. Revoking takes the access and keeps the
spending: whoever is granted access again goes on from there.

Each change locks the dataset's account first, then the allowance: everybody in one order, so nobody waits in a circle.
"""

from dataclasses import dataclass

from sqlalchemy import bindparam, select, update

from app.db.principals import Principal
from app.db.session import Session, WriteSession
from app.db.tables import allowances, datasets, principals
from app.db.upsert import upsert
from app.errors import BudgetExhaustedError, ForbiddenError, InvalidRequestError, NotFoundError
from app.ledger import accounts, entries


@dataclass(frozen=True, slots=True)
class Allowance:
    """A principal's budget on a dataset, in ledger units; `principal` is its name."""

    principal_id: int
    principal: str
    limit_nano: int
    spent_nano: int
    revoked: bool

    @property
    def remaining_nano(self) -> int:
        """What it can still spend; the dataset may have less."""
        return self.limit_nano - self.spent_nano


_name = select(principals.c.name).where(principals.c.id == allowances.c.principal_id).scalar_subquery()
_COLUMNS = (
    allowances.c.principal_id,
    _name.label("principal"),
    allowances.c.limit_nano,
    allowances.c.spent_nano,
    allowances.c.revoked,
)
_OF_DATASET = allowances.c.dataset_id == bindparam("dataset")
_OF_PRINCIPAL = allowances.c.principal_id == bindparam("grantee")
_IN_FORCE = allowances.c.revoked.is_(False)

_FIND = select(*_COLUMNS).where(_OF_DATASET, _OF_PRINCIPAL, _IN_FORCE)
_ALL_OF = select(*_COLUMNS).where(_OF_DATASET).order_by(allowances.c.principal_id)
_OF = (
    select(datasets.c.name, *_COLUMNS)
    .join_from(allowances, datasets, datasets.c.id == allowances.c.dataset_id)
    .where(_OF_PRINCIPAL, _IN_FORCE)
    .order_by(datasets.c.id)
)
_DEBIT = (
    update(allowances)
    .where(
        _OF_DATASET, _OF_PRINCIPAL, _IN_FORCE, allowances.c.spent_nano + bindparam("cost") <= allowances.c.limit_nano
    )
    .values(spent_nano=allowances.c.spent_nano + bindparam("cost"))
    .returning(*_COLUMNS)
)
_REVOKE = update(allowances).where(_OF_DATASET, _OF_PRINCIPAL, _IN_FORCE).values(revoked=True)
_GRANT = upsert(
    allowances,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["dataset_id", "principal_id"],
        set_={"limit_nano": insert.excluded.limit_nano, "revoked": False},
        where=allowances.c.spent_nano <= insert.excluded.limit_nano,
    ).returning(allowances.c.spent_nano),
)


def find(session: Session, dataset_id: int, principal_id: int) -> Allowance | None:
    """A principal's allowance on a dataset; None where it has no access, now or ever."""
    row = session.row(_FIND, dataset=dataset_id, grantee=principal_id)
    return None if row is None else Allowance(*row)


def all_of(session: Session, dataset_id: int) -> list[Allowance]:
    """Every allowance on a dataset, revoked ones too: what they spent is spent."""
    return [Allowance(*row) for row in session.rows(_ALL_OF, dataset=dataset_id)]


def of_principal(session: Session, principal_id: int) -> list[tuple[str, Allowance]]:
    """The allowances that a principal has, with the names of their datasets, the oldest dataset first."""
    return [(name, Allowance(*rest)) for name, *rest in session.rows(_OF, grantee=principal_id)]


def grant(transaction: WriteSession, dataset_id: int, principal: Principal, limit_nano: int, at: str) -> Allowance:
    """Give a principal access with a limit, change its limit, or renew what was revoked.

    Raises:
        NotFoundError: the dataset has no account.
        InvalidRequestError: it has spent more than that already.
    """
    account = accounts.lock(transaction, dataset_id)
    row = transaction.change_returning(
        _GRANT[transaction.dialect],
        dataset_id=dataset_id,
        principal_id=principal.id,
        limit_nano=limit_nano,
        spent_nano=0,
        revoked=False,
    )
    if row is None:
        raise InvalidRequestError(("epsilon_limit", "is less than what the principal has spent"))
    entries.append(transaction, dataset_id, "allow", principal.name, limit_nano, account.spent_nano, None, at)
    return Allowance(principal.id, principal.name, limit_nano, row.spent_nano, revoked=False)


def revoke(transaction: WriteSession, dataset_id: int, principal: Principal, at: str) -> None:
    """Take a principal's access away; its spending stays.

    Raises:
        NotFoundError: it has none, or the dataset has no account.
    """
    account = accounts.lock(transaction, dataset_id)
    if transaction.change(_REVOKE, dataset=dataset_id, grantee=principal.id) == 0:
        raise NotFoundError
    entries.append(transaction, dataset_id, "revoke", principal.name, 0, account.spent_nano, None, at)


def debit(transaction: WriteSession, dataset_id: int, principal_id: int, cost_nano: int) -> Allowance:
    """Spend of an allowance, after the dataset's account was debited; the allowance after it.

    Raises:
        ForbiddenError: the access was revoked, or never granted.
        BudgetExhaustedError: it cannot bear the cost; nothing is spent.
    """
    if cost_nano <= 0:
        raise ValueError("a debit costs something")
    row = transaction.change_returning(_DEBIT, dataset=dataset_id, grantee=principal_id, cost=cost_nano)
    if row is None:
        allowance = find(transaction, dataset_id, principal_id)
        if allowance is None:
            raise ForbiddenError("A release needs an allowance on this dataset.")
        raise BudgetExhaustedError("allowance", cost_nano, allowance.remaining_nano, allowance.limit_nano)
    return Allowance(*row)
