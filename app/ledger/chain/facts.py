"""Whether a dataset's row and its account are what was sealed, as looked at before each release.

The hash of the facts is in the entry that opened the dataset and in each that changed its state, and so in the chain;
beside the account's figures it is sealed once more, so that one HMAC tells of all of them.
"""

import hashlib

from app.db.repositories.datasets import Dataset
from app.errors import SealBrokenError
from app.ledger.account import Account
from app.ledger.chain.canonical_json import Member, encode_array
from app.ledger.chain.keyring import Keyring, Seal

VERSION = "snapledger-facts-v1"
OF_NOTHING = bytes(32)
"""The hash that no facts have."""
ACCOUNT_VERSION = "snapledger-account-v1"


def hash_facts(dataset: Dataset) -> bytes:
    """SHA-256 of all that is stored of a dataset, its state too, but its number."""
    return hashlib.sha256(
        encode_array(
            *(VERSION, dataset.name, dataset.description, dataset.owner_id, dataset.columns, dataset.n),
            *(dataset.rows_per_unit, dataset.created_at, dataset.state, dataset.file_id, dataset.succeeds),
            dataset.source,
        )
    ).digest()


def _members(account: Account, facts_hash: bytes | None) -> tuple[Member, ...]:
    figures = account.limit_nano, account.spent_nano, account.last_seq
    return account.dataset, *figures, account.head, facts_hash


def seal_account(seal: Seal, account: Account) -> bytes:
    """The seal of an account as it is."""
    return seal.seal_row(ACCOUNT_VERSION, *_members(account, account.facts_hash))


def is_account_sealed(keyring: Keyring, account: Account) -> bool:
    """Whether an account's figures are those that were sealed."""
    return keyring.is_sealed(account.seal, ACCOUNT_VERSION, *_members(account, account.facts_hash))


def require_account_sealed(keyring: Keyring, account: Account) -> None:
    """Refuse to append to an account that somebody changed: the entry's seal would be one of the changed figures.

    Raises:
        SealBrokenError: it is not what was sealed.
    """
    if not is_account_sealed(keyring, account):
        raise SealBrokenError


def match(keyring: Keyring, dataset: Dataset, account: Account) -> bool:
    """Whether a dataset's facts and its account's figures are those that were sealed last."""
    facts_hash = hash_facts(dataset)
    return account.facts_hash == facts_hash and is_account_sealed(keyring, account)


def require_match(keyring: Keyring, dataset: Dataset, account: Account) -> None:
    """Refuse a dataset of which somebody without the secret has changed anything.

    Raises:
        SealBrokenError: they are not what was sealed.
    """
    if not match(keyring, dataset, account):
        raise SealBrokenError
