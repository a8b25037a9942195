"""Fills a dataset's ledger with many debits that look like those of real releases, each with its key and its seals."""

import hashlib
import uuid
from typing import Any

from sqlalchemy import insert, update

from app.db.clock import now
from app.db.database import Database
from app.db.repositories import datasets, principals
from app.db.repositories.principals import Principal
from app.db.schema_migration import migrate
from app.db.session import WriteSession
from app.db.tables import accounts as account_table
from app.db.tables import allowances as allowance_table
from app.db.tables import entries, idempotency, releases
from app.ledger import accounts, allowances
from app.ledger.account import Account
from app.ledger.answers import answer_storage
from app.ledger.answers.idempotency import VERSION, Claim, list_sealed_members
from app.ledger.answers.releases import Release, seal_release
from app.ledger.chain import facts
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Keyring, Seal

KEYRING = Keyring(["the secret of the ledger that is measured"])
COST_NANO = 1_000
STATISTIC = '["mean","x",["0","100"],null]'
_MANY = 10_000
ANSWER = (
    '{"id":"%s","dataset":"penguins","statistic":{"kind":"mean","column":"x","bounds":[0,100]},"value":%d.395'
    '3488372094,"value_exact":"%d.3953488372093023255813953488372093023255813953","value_in_range":50,"accura'
    'cy":{"alpha":0.05,"radius":871.4957,"tight_radius":871.0465,"resolution":4.5e-13,"interval":[0.0,100.0]}'
    ',"privacy":{"epsilon":"0.001","neighbours":"replace_one","rows_per_unit":1,"n":344},"mechanism":{"name":'
    '"snapping","epsilon_prime":0.001,"sensitivity":0.29069767441860467,"centre":50,"b_prime":50,"bound":2082'
    '.4024849931687,"scale":290.69767441860466,"grid":0.29069767441860467,"grid_refinement":10,"precision_bit'
    's":118,"gamma":0.05},"treatment":{"x":{"missing_as":50,"clamped_to":[0,100],"rule":"counting missing val'
    'ues of x as 50; values outside 0 to 100 count as the nearer bound"}},"summary":"The mean of x over all 3'
    "44 rows is 50 ± 871 (95 %% confidence), counting missing values of x as 50; values outside 0 to 100 coun"
    't as the nearer bound; this release cost ε = 0.001.","budget":{"charged":"0.001","dataset_remaining":"99'
    '9998.499","allowance_remaining":"%d.499"},"reused":false,"created_at":"%s"}'
)


def fill_ledger(database: Database, debits: int) -> int:
    """Create a dataset with so many debits, each with the answer of a mean and an idempotency key; return its id."""
    migrate(database)
    at, seal = now(), KEYRING.seal
    with database.write() as transaction:
        owner = principals.insert_principal(transaction, "owner", "owner", b"o" * 32, at)
        analyst = principals.insert_principal(transaction, "analyst", "analyst", b"a" * 32, at)
        told = {"description": "", "columns": "{}", "n": 344, "rows_per_unit": 1, "created_at": at, "file_id": None}
        dataset = datasets.insert_dataset(transaction, name="penguins", owner_id=owner.id, **told)
        accounts.open_account(transaction, seal, dataset, 10**15, owner.name, at)
        allowances.grant_allowance(transaction, seal, dataset.id, analyst, 10**15, at)
        transaction.commit()
    append_debits(database, KEYRING, dataset.id, analyst, range(debits))
    return dataset.id


def append_debits(database: Database, keyring: Keyring, dataset_id: int, analyst: Principal, numbers: range) -> None:
    """Append one debit for each number, with all seals; no number may have been used before on this database."""
    at = now()
    with database.write() as transaction:
        account = before = accounts.find_account(transaction, dataset_id)
        for first in range(numbers.start, numbers.stop, _MANY):
            part = range(first, min(first + _MANY, numbers.stop))
            account = _append(transaction, keyring.seal, account, analyst, part, at)
        new_seal = facts.seal_account(keyring.seal, account)
        figures = {"last_seq": account.last_seq, "head": account.head, "spent_nano": account.spent_nano}
        transaction.connection.execute(
            update(account_table).where(account_table.c.dataset_id == dataset_id).values(**figures, seal=new_seal)
        )
        of_analyst = allowance_table.c.dataset_id == dataset_id, allowance_table.c.principal_id == analyst.id
        more = allowance_table.c.spent_nano + (account.spent_nano - before.spent_nano)
        transaction.connection.execute(update(allowance_table).where(*of_analyst).values(spent_nano=more))
        transaction.commit()


def _append(
    transaction: WriteSession, seal: Seal, account: Account, analyst: Principal, numbers: range, at: str
) -> Account:
    """Append one batch of debits and return the account after them, without a seal."""
    dataset_id = account.dataset_id
    rows: dict[Any, list[dict[str, Any]]] = {releases: [], entries: [], idempotency: []}
    for number in numbers:
        # These ids sort before those of the service.
        release_id = str(uuid.UUID(int=(0x01A0 << 112) + (7 << 76) + (2 << 62) + number))
        stored = answer_storage.store((ANSWER % (release_id, number, number, number, at)).encode())
        content = answer_storage.pack_content(stored.content)
        release = Release(release_id, dataset_id, analyst.id, STATISTIC, COST_NANO, "1/20", 0, at, content)
        account = account._replace(last_seq=account.last_seq + 1, spent_nano=account.spent_nano + COST_NANO)
        sealed = (account.last_seq, "debit", analyst.name, COST_NANO, account.spent_nano, release_id, stored.sha256)
        sealed += (None, None, at, seal.secret_id, account.head)
        account = account._replace(head=seal.hash(canonical_bytes(account.dataset, *sealed)))
        claim = Claim(analyst.id, f"filled {number}", hashlib.sha256(b"%d" % number).digest(), at)
        rows[entries].append(_row(entries, dataset_id, *sealed, account.head, None))
        members = (getattr(release, name) for name in Release.__slots__[:-1])
        rows[releases].append(_row(releases, *members, seal_release(seal, release, stored.sha256)))
        key_seal = seal.seal_row(VERSION, *list_sealed_members(claim, release_id, 201, None))
        of_claim = claim.principal_id, claim.key, claim.fingerprint, release_id, 201, at
        rows[idempotency].append(_row(idempotency, *of_claim, None, key_seal))
    for table, batch in rows.items():
        transaction.connection.execute(insert(table), batch)
    return account


def _row(table: Any, *values: object) -> dict[str, object]:  # noqa: ANN401 - one of the tables
    return dict(zip([column.key for column in table.c], values, strict=True))
