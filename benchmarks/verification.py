"""Measures the time and the memory of verifying a ledger with 10^5 and 10^6 debits on one dataset.

Every debit has a release with a stored answer as large as that of a mean, and an idempotency key. Verification checks
the hashes and seals of all of them. Beside it, the same rows are read with the database's driver alone, and as many
bytes are unpacked and hashed, but nothing is compared.

Run: python benchmarks/verification.py
"""

import argparse
import hashlib
import hmac
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import filled_ledgers
import psycopg
import pysqlite3.dbapi2 as sqlite
import servers
from rich.console import Console
from rich.table import Table

from app.db.database import Database
from app.ledger.answers import answer_packing
from app.ledger.verification import ledger_verification

ENTRIES = (
    "SELECT e.*, r.dataset_id, r.principal_id, r.epsilon_nano, r.created_at, r.statistic, r.gamma, r.grid_refinement, "
    "r.seal, r.response FROM entries e JOIN releases r ON r.id = e.release_id WHERE e.dataset_id = 1 ORDER BY e.seq"
)
KEYS = "SELECT i.* FROM idempotency i JOIN releases r ON r.id = i.release_id ORDER BY r.id"
OF_ENTRY, OF_RELEASE, OF_KEY = bytes(300), bytes(219), bytes(189)
"""As many bytes as the seals of most entries, releases and keys of `filled_ledgers` are computed over."""
AT_ONCE = 2_000


def _measure(table: Table, home: str, url: str, debits: int, rounds: int) -> None:
    database = Database(url)
    dataset_id = filled_ledgers.fill_ledger(database, debits)

    def verify() -> None:
        with database.read() as session:
            found = ledger_verification.verify_ledger(session, filled_ledgers.KEYRING, dataset_id)
        assert found.valid, found.problems

    def read() -> None:
        assert _read(url) == debits

    contests: dict[str, Callable[[], None]] = {"verification": verify, "rows, unpacked and hashed": read}
    before = _memory_mib()
    seconds: dict[str, list[float]] = {what: [] for what in contests}
    used: dict[str, list[float]] = {what: [] for what in contests}
    for _ in range(rounds):
        for what, run in contests.items():
            start, processor = time.perf_counter(), time.process_time()
            run()
            seconds[what].append(time.perf_counter() - start)
            used[what].append(time.process_time() - processor)
    more = f"{_memory_mib() - before:.0f}"
    for what in contests:
        rate, processor_rate = (debits / statistics.median(times[what]) for times in (seconds, used))
        table.add_row(home, f"{debits:,}", what, f"{rate:,.0f}", f"{processor_rate:,.0f}", more)
    database.close()


def _read(url: str) -> int:
    """Read what a verification reads, with the driver alone; return the number of debits."""
    if url.startswith("sqlite"):
        connection = sqlite.connect(url.removeprefix("sqlite:///"))
        try:
            return _hash(connection.execute(ENTRIES), connection.execute(KEYS))
        finally:
            connection.close()
    with (
        psycopg.connect(url) as postgres,
        postgres.cursor("entries", binary=True) as rows,
        postgres.cursor("keys", binary=True) as keys,
    ):
        rows.itersize = keys.itersize = AT_ONCE
        rows.execute(ENTRIES)
        keys.execute(KEYS)
        return _hash(rows, keys)


def _hash(rows: Iterable[Any], keys: Iterable[Any]) -> int:
    """Unpack and hash each answer, and compute as many seals as there are, each at once and over fixed bytes."""
    key, entries = bytes(32), 0
    for row in rows:
        hashlib.sha256(answer_packing.unpack(row[-1][1:])).digest()  # without the byte that says how it is stored
        hmac.digest(key, OF_ENTRY, "sha256")
        hmac.digest(key, OF_RELEASE, "sha256")
        entries += 1
    for _ in keys:
        hmac.digest(key, OF_KEY, "sha256")
    return entries


def _memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Fill each ledger, verify and read it some times in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debits", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    table = Table("database", "entries", "what", "entries a second", "by processor time", "more memory MiB")
    for debits in asked.debits:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            _measure(table, "SQLite", f"sqlite:///{folder}/ledger.sqlite3", debits, asked.rounds)
        with servers.postgres() as server:
            _measure(table, "Postgres", server, debits, asked.rounds)
    Console().print(table)


if __name__ == "__main__":
    main()
