"""Finds the caller, the dataset, its account and the caller's allowance in one statement, since every call needs it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, bindparam, select

from app.db.repositories.credentials import BY_KEY, BY_SUBJECT, Credential, Identity, accept_credential
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import COLUMNS, Principal
from app.db.session import Session
from app.db.tables import accounts, datasets, idempotency, principals
from app.db.tables import allowances as allowance_table
from app.ledger import allowances
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.chain import facts
from app.ledger.chain.keyring import Keyring
from app.ledger.held_accounts import ACCOUNT_COLUMNS, ALLOWANCE_COLUMNS


@dataclass(frozen=True, slots=True)
class Standing:
    """A principal, the dataset that its request names, the dataset's account and the principal's allowance, if any.

    `is_key_used` says whether the principal has used the request's idempotency key before.
    """

    principal: Principal
    dataset: Dataset | None
    account: Account | None
    allowance: Allowance | None
    is_key_used: bool


_DATASET = tuple(datasets.c)
_IN_DATASET = slice(len(COLUMNS), len(COLUMNS) + len(_DATASET))
_IN_ACCOUNT = slice(_IN_DATASET.stop, _IN_DATASET.stop + len(ACCOUNT_COLUMNS))
_IN_ALLOWANCE = slice(_IN_ACCOUNT.stop, _IN_ACCOUNT.stop + len(ALLOWANCE_COLUMNS))
_ANY = (
    select(*COLUMNS, *_DATASET, *ACCOUNT_COLUMNS, *ALLOWANCE_COLUMNS, idempotency.c.status)
    .select_from(principals)
    .join(datasets, datasets.c.name == bindparam("called"), isouter=True)
    .join(accounts, accounts.c.dataset_id == datasets.c.id, isouter=True)
    .join(
        allowance_table,
        and_(
            allowance_table.c.dataset_id == datasets.c.id,
            allowance_table.c.principal_id == principals.c.id,
            allowance_table.c.revoked.is_(False),
        ),
        isouter=True,
    )
    .join(
        idempotency,
        and_(idempotency.c.principal_id == principals.c.id, idempotency.c.key == bindparam("idempotency_key")),
        isouter=True,
    )
)
_ALL = (
    select(*_DATASET, *ACCOUNT_COLUMNS)
    .join_from(datasets, accounts, accounts.c.dataset_id == datasets.c.id)
    .order_by(datasets.c.id)
)
_OF_KEY = _ANY.where(*BY_KEY)
_OF_SUBJECT = _ANY.where(*BY_SUBJECT)
_OF_ID = _ANY.where(principals.c.id == bindparam("caller"))


def find_standing(
    session: Session, credential: Credential, dataset_name: str, idempotency_key: str | None
) -> Standing | None:
    """Return the standing of the principal with this credential, and look for its idempotency key.

    The result is None if no principal has the credential, if it has expired, or if the principal is disabled.
    """
    asked = {"called": dataset_name, "idempotency_key": idempotency_key}
    if isinstance(credential, Identity):
        row = session.row(_OF_SUBJECT, issuer=credential.issuer, subject=credential.subject, **asked)
    else:
        row = session.row(_OF_KEY, digest=credential.digest, **asked)
    principal = None if row is None else accept_credential(Principal._make(row[: len(COLUMNS)]), credential)
    return None if row is None or principal is None else _make_standing(session, row, principal)


def find_standing_of(session: Session, principal_id: int, dataset_name: str, idempotency_key: str) -> Standing | None:
    """Return the standing of a principal by its id, even if it is disabled or its key has expired.

    The result is None if there is no such principal.
    """
    row = session.row(_OF_ID, caller=principal_id, called=dataset_name, idempotency_key=idempotency_key)
    return None if row is None else _make_standing(session, row, Principal._make(row[: len(COLUMNS)]))


def _make_standing(session: Session, row: Any, principal: Principal) -> Standing:  # noqa: ANN401 - a row of _ANY
    dataset, account, allowance = row[_IN_DATASET], row[_IN_ACCOUNT], row[_IN_ALLOWANCE]
    return Standing(
        principal,
        None if dataset[0] is None else Dataset._make(dataset),
        None if account[0] is None else Account._make(account),
        None if allowance[0] is None else allowances.allowance_of_row(session, allowance),
        is_key_used=row[-1] is not None,
    )


def find_mismatches(session: Session, keyring: Keyring) -> list[str]:
    """Return the names of the datasets whose facts or account do not match their last seal, without reading a chain."""
    rows = session.rows(_ALL)
    parts = ((Dataset(*row[: len(_DATASET)]), Account(*row[len(_DATASET) :])) for row in rows)
    return [dataset.name for dataset, account in parts if not facts.match(keyring, dataset, account)]
