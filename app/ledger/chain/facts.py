"""Checks that a dataset's row and its account match their seal. Every release does this first.

The hash of the facts is part of the chain: it is in the entry that opened the dataset and in every entry that changed
its state. The account's seal covers it too, together with the account's figures, so that one HMAC checks all of them.
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
    """SHA-256 of all stored columns of a dataset except its id; the state is included."""
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
    """The seal of an account's current figures."""
    return seal.seal_row(ACCOUNT_VERSION, *_members(account, account.facts_hash))


def is_account_sealed(keyring: Keyring, account: Account) -> bool:
    """Whether an account's figures match their seal."""
    return keyring.is_sealed(account.seal, ACCOUNT_VERSION, *_members(account, account.facts_hash))


def require_account_sealed(keyring: Keyring, account: Account) -> None:
    """Check an account's seal before an entry is appended. Otherwise the new entry would seal manipulated figures.

    Raises:
        SealBrokenError: the figures do not match their seal.
    """
    if not is_account_sealed(keyring, account):
        raise SealBrokenError


def match(keyring: Keyring, dataset: Dataset, account: Account) -> bool:
    """Whether a dataset's facts and its account's figures match their last seal."""
    facts_hash = hash_facts(dataset)
    return account.facts_hash == facts_hash and is_account_sealed(keyring, account)


def require_match(keyring: Keyring, dataset: Dataset, account: Account) -> None:
    """Check that nobody without the secret has changed the dataset's facts or its account's figures.

    Raises:
        SealBrokenError: they do not match their seal.
    """
    if not match(keyring, dataset, account):
        raise SealBrokenError
