"""Measures durable releases on Postgres by number of workers, and bare commits on the same server in the same run.

Each release is fresh and has its own key. All are on one dataset, so they all wait for the lock of its account.

Run: python benchmarks/ledger.py
"""

import argparse
import itertools
import json
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import load
import psycopg
import servers
from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url

BODY = {"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.000001", "reuse": False}
_keys = itertools.count()


def _make(path: str, key: str) -> Callable[[], bytes]:
    body = json.dumps(BODY).encode()
    return lambda: load.request(path, key, body, f"Idempotency-Key: {next(_keys)}\r\n")


def _database(server: str, name: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _contest(table: Table, workers: int, server: str, asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, ExitStack() as running:
        place, urls = Path(folder), [_database(server, f"{peer}_{workers}") for peer in ("bare", "ledger")]
        bare = running.enter_context(servers.bare(place, urls[0], workers))
        service = running.enter_context(servers.snapledger(place, urls[1], workers))
        rows = "x\n" + "".join(f"{i % 101}\n" for i in range(344))
        servers.register(service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())
        peers = [
            (bare.port, _make("/durable-async", "")),
            (service.port, _make("/v1/datasets/t/releases", service.key)),
        ]
        for port, make in peers:
            load.measure(port, make, clients=asked.clients, seconds=2)
        runs = [
            [load.measure(port, make, clients=asked.clients, seconds=asked.seconds) for port, make in peers]
            for _ in range(asked.rounds)
        ]
    for index, name in enumerate(("bare commit", "release")):
        measured = [run[index] for run in runs]
        rate, p50, p99 = (statistics.median(getattr(m, part) for m in measured) for part in ("rate", "p50", "p99"))
        ratio = statistics.median(run[index].rate / run[0].rate for run in runs)
        table.add_row(str(workers), name, f"{rate:,.0f}", f"{p50:.2f}", f"{p99:.2f}", f"{ratio:.2f}")


def main() -> None:
    """Alternate between the servers, so that both have the same conditions, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    asked = parser.parse_args()
    table = Table("workers", "what", "a second", "p50 ms", "p99 ms", "of the bare rate")
    with servers.postgres() as server:
        for workers in asked.workers:
            _contest(table, workers, server, asked)
    Console().print(table)


if __name__ == "__main__":
    main()
