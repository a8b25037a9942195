"""Measures the latency of plans and releases with 100 to 1,000,000 stored releases.

Run: python benchmarks/growth.py
"""

import argparse
import itertools
import json
import sqlite3
import tempfile
import uuid
from pathlib import Path

import load
import servers
from rich.console import Console
from rich.table import Table

SIZES = [10**2, 10**3, 10**4, 10**5, 10**6]
STATISTIC = {"kind": "mean", "column": "x"}
_keys = itertools.count()


def _grow(path: Path, wanted: int) -> None:
    """Copy the last release, its ledger entry and its idempotency key until `wanted` releases are stored."""
    ledger = sqlite3.connect(path, isolation_level=None)
    ledger.execute("PRAGMA cache_size = -500000")
    stored = ledger.execute("SELECT count(*) FROM releases").fetchone()[0]
    columns = "dataset_id, principal_id, statistic, epsilon_nano, gamma, grid_refinement, created_at, response"
    (release,) = ledger.execute(f"SELECT {columns} FROM releases ORDER BY id DESC LIMIT 1")
    (last,) = ledger.execute("SELECT last_seq FROM accounts").fetchone()
    (entry,) = ledger.execute(
        "SELECT dataset_id, principal, epsilon_nano, spent_nano, at, secret_id, previous_hash, hash "
        "FROM entries ORDER BY seq DESC LIMIT 1"
    )
    base = (0x01A0 << 112) + (7 << 76) + (2 << 62) + stored  # these ids sort before those of the service
    ids = [str(uuid.UUID(int=base + index)) for index in range(wanted - stored)]
    ledger.execute("BEGIN IMMEDIATE")
    ledger.executemany(
        f"INSERT INTO releases (id, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((id_, *release) for id_ in ids),
    )
    ledger.executemany(
        "INSERT INTO entries (dataset_id, seq, kind, principal, epsilon_nano, spent_nano, release_id, at, secret_id, "
        "previous_hash, hash) VALUES (?, ?, 'debit', ?, ?, ?, ?, ?, ?, ?, ?)",
        ((entry[0], last + 1 + i, *entry[1:4], id_, *entry[4:]) for i, id_ in enumerate(ids)),
    )
    ledger.executemany(
        "INSERT INTO idempotency (principal_id, key, fingerprint, release_id, status, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        ((release[1], f"grown {id_}", b"\0" * 32, id_, 201, release[6]) for id_ in ids),
    )
    ledger.execute("UPDATE accounts SET last_seq = ?", (last + len(ids),))
    ledger.execute("COMMIT")
    ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()


def main() -> None:
    """Measure with one client, and grow the ledger between measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--most", type=int, default=10**6)
    asked = parser.parse_args()
    table = Table("stored releases", "plan p50 ms", "release p50 ms", "release p99 ms", "p50 against the first")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, servers.snapledger(Path(folder)) as service:
        rows = "x\n" + "".join(f"{i % 101}\n" for i in range(344))
        servers.register(service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())
        path = "/v1/datasets/t"
        body = json.dumps({"statistic": STATISTIC, "epsilon": "0.000001", "reuse": False}).encode()
        plan = json.dumps({"statistic": STATISTIC, "epsilon": "0.000001"}).encode()

        def release() -> bytes:
            headers = f"Idempotency-Key: {next(_keys)}\r\n"
            return load.request(f"{path}/releases", service.key, body, headers)

        def planned() -> bytes:
            return load.request(f"{path}/plan", service.key, plan)

        load.measure(service.port, release, clients=1, most=50)
        first = None
        for size in (size for size in SIZES if size <= asked.most):
            _grow(Path(folder) / "ledger.sqlite3", size)
            for make in (planned, release):  # fill the caches first, so that only growth is measured
                load.measure(service.port, make, clients=1, most=200)
            plans = load.measure(service.port, planned, clients=1, most=asked.requests)
            releases = load.measure(service.port, release, clients=1, most=asked.requests)
            first = first or (plans.p50, releases.p50)
            ratios = f"{plans.p50 / first[0]:.2f} and {releases.p50 / first[1]:.2f}"
            table.add_row(f"{size:,}", f"{plans.p50:.3f}", f"{releases.p50:.3f}", f"{releases.p99:.3f}", ratios)
    Console().print(table)


if __name__ == "__main__":
    main()
