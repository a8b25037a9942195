"""Finds the caller, the dataset, its account and the caller's allowance in one statement, since every call needs it."""

from dataclasses import dataclass
from itertools import islice

from sqlalchemy import and_, bindparam, select

from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import BY_KEY, BY_SUBJECT, COLUMNS, Credential, Identity, Principal, is_in_force
from app.db.session import Session
from app.db.tables import accounts, datasets, principals
from app.db.tables import allowances as allowance_table
from app.ledger import allowances
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.chain import facts
from app.ledger.chain.keyring import Keyring


@dataclass(frozen=True, slots=True)
class Standing:
    """A principal, the dataset that its request names, the dataset's account and the principal's allowance, if any."""

    principal: Principal
    dataset: Dataset | None
    account: Account | None
    allowance: Allowance | None


_DATASET = tuple(datasets.c)
_ACCOUNT = (
    *(accounts.c.dataset_id, datasets.c.name, accounts.c.limit_nano, accounts.c.spent_nano, accounts.c.last_seq),
    *(accounts.c.head, accounts.c.facts_hash, accounts.c.seal, accounts.c.stored_bytes),
)
_ALLOWANCE = (
    *(allowance_table.c.principal_id, principals.c.name, allowance_table.c.limit_nano, allowance_table.c.spent_nano),
    *(allowance_table.c.revoked, allowance_table.c.window_days, allowance_table.c.window_started_at),
    allowance_table.c.stored_bytes,
)
_ANY = (
    select(*COLUMNS, *_DATASET, *_ACCOUNT, *_ALLOWANCE)
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
)
_ALL = (
    select(*_DATASET, *_ACCOUNT)
    .join_from(datasets, accounts, accounts.c.dataset_id == datasets.c.id)
    .order_by(datasets.c.id)
)
_OF_KEY = _ANY.where(*BY_KEY)
_OF_SUBJECT = _ANY.where(*BY_SUBJECT)


def find_standing(session: Session, credential: Credential, dataset_name: str) -> Standing | None:
    """Return the standing of the principal with this credential.

    The result is None if no principal has the credential, if it has expired, or if the principal is disabled.
    """
    if isinstance(credential, Identity):
        row = session.row(_OF_SUBJECT, issuer=credential.issuer, subject=credential.subject, called=dataset_name)
    else:
        row = session.row(_OF_KEY, digest=credential.digest, called=dataset_name)
    principal = None if row is None else is_in_force(Principal(*row[: len(COLUMNS)]), credential)
    if row is None or principal is None:
        return None
    values = iter(row[len(COLUMNS) :])
    dataset, account, allowance = (tuple(islice(values, len(part))) for part in (_DATASET, _ACCOUNT, _ALLOWANCE))
    return Standing(
        principal,
        None if dataset[0] is None else Dataset(*dataset),
        None if account[0] is None else Account(*account),
        None if allowance[0] is None else allowances.allowance_of_row(session, allowance),
    )


def find_mismatches(session: Session, keyring: Keyring) -> list[str]:
    """Return the names of the datasets whose facts or account do not match their last seal, without reading a chain."""
    rows = session.rows(_ALL)
    parts = ((Dataset(*row[: len(_DATASET)]), Account(*row[len(_DATASET) :])) for row in rows)
    return [dataset.name for dataset, account in parts if not facts.match(keyring, dataset, account)]
