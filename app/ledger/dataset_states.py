"""Changes of a dataset's state: open, stale, open again, closed. Each change appends an entry that seals it."""

from sqlalchemy import bindparam, select

from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset
from app.db.session import WriteSession
from app.db.tables import datasets as dataset_table
from app.db.tables import principals
from app.errors import DatasetClosedError
from app.ledger import accounts
from app.ledger.chain import entries, facts
from app.ledger.chain.entries import Kind
from app.ledger.chain.keyring import Keyring

_DATASET = select(dataset_table).where(dataset_table.c.id == bindparam("dataset"))
_OWNER = select(principals.c.name).where(principals.c.id == bindparam("owner"))


def mark(  # noqa: PLR0913 - what becomes of what, who found it, when
    transaction: WriteSession, keyring: Keyring, dataset_id: int, at: str, *, stale: bool, principal: str | None = None
) -> None:
    """Mark a dataset stale or open again. Nothing is written if it is closed or already in that state.

    `principal` is the name of the principal who found out. The default is the dataset's owner, for a change that the
    service noticed while it answered a request.

    Raises:
        SealBrokenError: the facts do not match their seal, and another entry would seal the changed facts.
    """
    account = accounts.lock_account(transaction, dataset_id)
    before = _find(transaction, dataset_id)
    if before.closed or before.stale == stale:
        return
    facts.require_match(keyring, before, account)
    datasets.mark_stale(transaction, dataset_id, stale=stale)
    kind: Kind = "stale" if stale else "revalidate"
    name = principal or transaction.row(_OWNER, owner=before.owner_id).name
    facts_hash = facts.hash_facts(before._replace(state="stale" if stale else "open"))
    entries.append_entry(transaction, keyring.seal, account, kind, name, 0, at, facts_hash=facts_hash)


def close(transaction: WriteSession, keyring: Keyring, dataset_id: int, principal: str, at: str) -> None:
    """Close a dataset and delete the reference to its data. Its account stays readable.

    A dataset whose facts do not match their seal is closed too. Its entry then seals `facts.OF_NOTHING` instead of the
    hash of the facts, so that no changed facts are sealed.

    Raises:
        DatasetClosedError: the dataset is closed already.
    """
    account = accounts.lock_account(transaction, dataset_id)
    before = _find(transaction, dataset_id)
    if not datasets.close_dataset(transaction, dataset_id):
        raise DatasetClosedError
    after = before._replace(state="closed", file_id=None, source=None)
    facts_hash = facts.hash_facts(after) if facts.match(keyring, before, account) else facts.OF_NOTHING
    entries.append_entry(transaction, keyring.seal, account, "close", principal, 0, at, facts_hash=facts_hash)


def _find(transaction: WriteSession, dataset_id: int) -> Dataset:
    # A separate statement sees what other transactions committed while this one waited for the account's lock.
    return Dataset._make(transaction.row(_DATASET, dataset=dataset_id))
