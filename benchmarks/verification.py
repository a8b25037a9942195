"""Measures the time and the memory of verifying a ledger with 10^5 and 10^6 debits on one dataset.

Every debit has a release with a stored answer as large as that of a mean, and an idempotency key. Verification checks
the hashes and seals of all of them.

Run: python benchmarks/verification.py
"""

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

import filled_ledgers
import servers
from rich.console import Console
from rich.table import Table

from app.db.database import Database
from app.ledger.verification import ledger_verification


def _measure(table: Table, home: str, database: Database, debits: int, rounds: int) -> None:
    dataset_id = filled_ledgers.fill_ledger(database, debits)
    before, seconds, used = _memory_mib(), [], []
    for _ in range(rounds):
        start, processor = time.perf_counter(), time.process_time()
        with database.read() as session:
            found = ledger_verification.verify_ledger(session, filled_ledgers.KEYRING, dataset_id)
        seconds.append(time.perf_counter() - start)
        used.append(time.process_time() - processor)
        assert found.valid, found.problems
    rate, processor_rate = (found.entries / statistics.median(times) for times in (seconds, used))
    more = f"{_memory_mib() - before:.0f}"
    table.add_row(home, f"{found.entries:,}", f"{rate:,.0f}", f"{processor_rate:,.0f}", more)
    database.close()


def _memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Fill each ledger, verify it some times, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debits", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    table = Table("database", "entries", "entries a second", "by processor time", "more memory MiB")
    for debits in asked.debits:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            _measure(table, "SQLite", Database(f"sqlite:///{folder}/ledger.sqlite3"), debits, asked.rounds)
        with servers.postgres() as server:
            _measure(table, "Postgres", Database(server), debits, asked.rounds)
    Console().print(table)


if __name__ == "__main__":
    main()
