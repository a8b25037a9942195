"""Measures the latency of plans and releases with 100 to 1,000,000 stored releases.

Run: python benchmarks/growth.py
"""

import argparse
import itertools
import json
import tempfile
from contextlib import nullcontext
from pathlib import Path

import filled_ledgers
import load
import servers
from rich.console import Console
from rich.table import Table
from sqlalchemy import func, select

from app.db.database import Database
from app.db.repositories import datasets, principals
from app.db.tables import releases
from app.ledger.chain.keyring import Keyring

STATISTIC = {"kind": "mean", "column": "x"}
_keys = itertools.count()


def _grow(database: Database, keyring: Keyring, wanted: int, known: int) -> None:
    """Append releases until `wanted` are stored, of which `known` are appended already; the rest is the service's."""
    with database.read() as session:
        admin = principals.find_by_name(session, "admin")
        dataset = datasets.find_dataset(session, "t")
        (stored,) = session.row(select(func.count()).select_from(releases))
    assert admin is not None
    assert dataset is not None
    filled_ledgers.append_debits(database, keyring, dataset.id, admin, range(known, known + max(0, wanted - stored)))


def main() -> None:
    """Measure with one client, and grow the ledger between measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**2, 10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--postgres", action="store_true", help="with the ledger in Postgres instead of SQLite")
    asked = parser.parse_args()
    table = Table("stored releases", "plan p50 ms", "release p50 ms", "release p99 ms", "p50 against the first")
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        servers.postgres() if asked.postgres else nullcontext() as url,
        servers.snapledger(Path(folder), url) as service,
    ):
        database = Database(url or f"sqlite:///{folder}/ledger.sqlite3")
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
        keyring = Keyring([(Path(folder) / "data" / "secret").read_text("utf-8").strip()])
        first, known = None, 0
        for size in sorted(asked.sizes):
            _grow(database, keyring, size, known)
            known += size
            for make in (planned, release):  # fill the caches first, so that only growth is measured
                load.measure(service.port, make, clients=1, most=200)
            plans = load.measure(service.port, planned, clients=1, most=asked.requests)
            releases = load.measure(service.port, release, clients=1, most=asked.requests)
            first = first or (plans.p50, releases.p50)
            ratios = f"{plans.p50 / first[0]:.2f} and {releases.p50 / first[1]:.2f}"
            table.add_row(f"{size:,}", f"{plans.p50:.3f}", f"{releases.p50:.3f}", f"{releases.p99:.3f}", ratios)
        database.close()
    Console().print(table)


if __name__ == "__main__":
    main()
