"""Measures the time and the memory of verifying a ledger with 10^5 and 10^6 debits on one dataset.

Every debit has a release with a stored answer as large as that of a mean, which verification hashes too.

Run: python benchmarks/verification.py
"""

import argparse
import hashlib
import resource
import tempfile
import time
import uuid
from pathlib import Path

import servers
from rich.console import Console
from rich.table import Table
from sqlalchemy import insert, update

from app.db.clock import now
from app.db.engine import Database
from app.db.repositories import datasets, principals
from app.db.schema_migration import migrate
from app.db.tables import accounts as account_table
from app.db.tables import allowances as allowance_table
from app.db.tables import entries, releases
from app.ledger import accounts, allowances
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import ledger_verification

SIZES = [10**5, 10**6]
KEYRING = Keyring(["the secret of the ledger that is measured"])
ANSWER = b'{"id":"%s","value":' + b"4" * 900 + b"}"
MANY = 10_000


def _fill(database: Database, debits: int) -> int:
    """Create a dataset with so many debits, like those of real releases, and return its id."""
    migrate(database)
    seal, at = KEYRING.seal, now()
    with database.write() as transaction:
        owner = principals.insert_principal(transaction, "owner", "owner", b"o" * 32, at)
        analyst = principals.insert_principal(transaction, "analyst", "analyst", b"a" * 32, at)
        facts = {"description": "", "columns": "{}", "n": 344, "rows_per_unit": 1, "created_at": at, "file_id": None}
        dataset = datasets.insert_dataset(transaction, name="penguins", owner_id=owner.id, **facts)
        accounts.open_account(transaction, seal, dataset, 10**15, owner.name, at)
        allowances.grant_allowance(transaction, seal, dataset.id, analyst, 10**15, at)
        account = accounts.find_account(transaction, dataset.id)
        head = account.head
        for first in range(0, debits, MANY):
            lines, answers = [], []
            for number in range(first, min(first + MANY, debits)):
                release_id = str(uuid.UUID(int=(0x01A0 << 112) + (7 << 76) + (2 << 62) + number))
                answer = ANSWER % release_id.encode()
                cost, seq = 1_000, account.last_seq + 1 + number
                digest = hashlib.sha256(answer).digest()
                sealed = (seq, "debit", "analyst", cost, cost * (number + 1), release_id, digest, None, None, at)
                sealed += (seal.secret_id, head)
                hash_ = seal.hash(canonical_bytes("penguins", *sealed))
                columns = [column.key for column in entries.c]
                lines.append(dict(zip(columns, (dataset.id, *sealed, hash_), strict=True)))
                release = (release_id, dataset.id, analyst.id, "mean", cost, "1/20", 0, at, answer)
                answers.append(dict(zip([column.key for column in releases.c], release, strict=True)))
                head = hash_
            transaction.connection.execute(insert(releases), answers)
            transaction.connection.execute(insert(entries), lines)
        spent = 1_000 * debits
        last = account.last_seq + debits
        transaction.connection.execute(update(account_table).values(last_seq=last, head=head, spent_nano=spent))
        transaction.connection.execute(update(allowance_table).values(spent_nano=spent))
        transaction.commit()
    return dataset.id


def _measure(table: Table, home: str, database: Database, debits: int) -> None:
    dataset_id = _fill(database, debits)
    before = _memory_mib()
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        with database.read() as session:
            found = ledger_verification.verify_ledger(session, KEYRING, dataset_id)
        seconds.append(time.perf_counter() - start)
        assert found.valid, found.problems
    rate = found.entries / sorted(seconds)[1]
    table.add_row(home, f"{found.entries:,}", f"{rate:,.0f}", f"{_memory_mib() - before:.0f}")
    database.close()


def _memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Fill each ledger, verify it three times, and print the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10**6)
    asked = parser.parse_args()
    table = Table("database", "entries", "entries a second", "more memory MiB")
    for debits in (size for size in SIZES if size <= asked.most):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            _measure(table, "SQLite", Database(f"sqlite:///{folder}/ledger.sqlite3"), debits)
        with servers.postgres() as server:
            _measure(table, "Postgres", Database(server), debits)
    Console().print(table)


if __name__ == "__main__":
    main()
