"""Measures the latency of plans and releases with 100 to 1,000,000 stored releases.

Each size has a service and a ledger of its own. They are measured in turn, so that all have the same conditions.

Run: python benchmarks/growth.py
"""

import argparse
import itertools
import json
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import filled_ledgers
import load
import servers
from load import Measured
from rich.console import Console
from rich.table import Table

from app.db.database import Database
from app.db.repositories import datasets, principals
from app.ledger.chain.keyring import Keyring

STATISTIC = {"kind": "mean", "column": "x"}
_keys = itertools.count()


class _Grown:
    """A service whose ledger has so many releases."""

    def __init__(self, opened: ExitStack, folder: Path, url: str | None, size: int) -> None:
        self.size = size
        folder.mkdir()
        self._service = opened.enter_context(servers.snapledger(folder, url))
        rows = "x\n" + "".join(f"{i % 101}\n" for i in range(344))
        servers.register(self._service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())
        self.of_plans: list[Measured] = []
        self.of_releases: list[Measured] = []
        load.measure(self._service.port, self._release, clients=1, most=2)  # so that the key has an allowance
        database = Database(url or f"sqlite:///{folder}/ledger.sqlite3")
        _fill(database, Keyring([(folder / "data" / "secret").read_text("utf-8").strip()]), size)
        database.close()

    def measure(self, requests: int) -> None:
        """Send so many plans and as many releases, after some that fill the caches."""
        for make, measured in ((self._plan, self.of_plans), (self._release, self.of_releases)):
            load.measure(self._service.port, make, clients=1, most=requests // 5)
            measured.append(load.measure(self._service.port, make, clients=1, most=requests))

    def _plan(self) -> bytes:
        return self._request("plan", {})

    def _release(self) -> bytes:
        return self._request("releases", {"reuse": False}, f"Idempotency-Key: {next(_keys)}\r\n")

    def _request(self, what: str, more: dict[str, bool], headers: str = "") -> bytes:
        body = {"statistic": STATISTIC, "epsilon": "0.000001", **more}
        return load.request(f"/v1/datasets/t/{what}", self._service.key, json.dumps(body).encode(), headers)


def _fill(database: Database, keyring: Keyring, size: int) -> None:
    with database.read() as session:
        admin = principals.find_by_name(session, "admin")
        dataset = datasets.find_dataset(session, "t")
    assert admin is not None
    assert dataset is not None
    filled_ledgers.append_debits(database, keyring, dataset.id, admin, range(size))


def _p50(measured: Sequence[Measured]) -> float:
    return statistics.median(each.p50 for each in measured)


def _against(measured: Sequence[Measured], first: Sequence[Measured]) -> str:
    return f"{statistics.median(one.p50 / other.p50 for one, other in zip(measured, first, strict=True)):.2f}"


def main() -> None:
    """Fill all ledgers, and measure them in turn with one client."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**2, 10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--postgres", action="store_true", help="with the ledgers in Postgres instead of SQLite")
    asked = parser.parse_args()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(dir=Path.cwd())))
        create = opened.enter_context(servers.databases(on_postgres=asked.postgres))
        grown = [_Grown(opened, folder / str(size), create(f"of_{size}"), size) for size in sorted(asked.sizes)]
        for _ in range(asked.rounds):
            for each in grown:
                each.measure(asked.requests)
    columns = "stored releases", "plan p50 ms", "plans against the first"
    table = Table(*columns, "release p50 ms", "release p99 ms", "releases against the first")
    for each in grown:
        p99 = statistics.median(measured.p99 for measured in each.of_releases)
        table.add_row(
            *(f"{each.size:,}", f"{_p50(each.of_plans):.3f}", _against(each.of_plans, grown[0].of_plans)),
            *(f"{_p50(each.of_releases):.3f}", f"{p99:.3f}", _against(each.of_releases, grown[0].of_releases)),
        )
    Console().print(table)


if __name__ == "__main__":
    main()
