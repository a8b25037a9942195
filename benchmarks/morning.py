"""Measures a dashboard's load on Postgres: 90 % plans and reused releases, 10 % fresh ones; the baseline is OpenDP.

The baseline (`bare_opendp.py`) is what a team would write first: FastAPI over OpenDP's Laplace mechanism, on the same
Postgres, with one durable debit for each release. The most similar service, Lomas (`lomas-server`), is not measured:
we have no installation of it for this benchmark.

Run: make bench-setup, then python benchmarks/morning.py
"""

import argparse
import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import load
import servers
from rich.console import Console
from rich.table import Table

PEERS = str(Path(__file__).parents[1] / ".venv-bench" / "bin" / "python")
STATISTICS = 40  # the number of statistics on the dashboard
OF_TEN = ("plan", "plan", "plan", "plan", "known", "known", "known", "known", "known", "fresh")


def _questions(key: str, path: str) -> Callable[[], bytes]:
    """Return a function that returns the next request; the kinds take turns, and each round has another statistic."""
    numbers = itertools.count()
    bodies = [
        {"statistic": {"kind": "mean", "column": "x", "bounds": [0, 50 + number]}, "epsilon": "0.001"}
        for number in range(STATISTICS)
    ]

    def make() -> bytes:
        number = next(numbers)
        what = OF_TEN[number % 10]
        body = bodies[number // 10 % STATISTICS] | {"reuse": what != "fresh"}
        call = f"{path}/plan" if what == "plan" else f"{path}/releases"
        header = f"Idempotency-Key: {number}\r\n" if what == "fresh" else ""
        return load.request(call, key, json.dumps(body).encode(), header)

    return make


def _measured(port: int, make: Callable[[], bytes], asked: argparse.Namespace) -> load.Measured:
    load.measure(port, make, clients=8, most=10 * STATISTICS)  # make all releases once, so that they are reused later
    return load.measure(port, make, clients=asked.clients, seconds=asked.seconds)


def main() -> None:
    """Measure both servers with each number of workers, one after the other, each on its own database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    asked = parser.parse_args()
    table = Table("workers", "server", "requests/s", "p50 ms", "p99 ms", title=f"{asked.clients} clients")
    rows = "x\n" + "".join(f"{number % 101}\n" for number in range(344))
    for workers in asked.workers:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, servers.postgres() as url:
            with servers.snapledger(Path(folder), url, workers) as service:
                servers.register(service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())
                ours = _measured(service.port, _questions(service.key, "/v1/datasets/t"), asked)
            with servers.bare(Path(folder), url, workers, application="bare_opendp", python=PEERS) as peer:
                theirs = _measured(peer.port, _questions("none", ""), asked)
        for name, measured in (("snapledger", ours), ("bare OpenDP", theirs)):
            table.add_row(str(workers), name, f"{measured.rate:,.0f}", f"{measured.p50:.0f}", f"{measured.p99:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
