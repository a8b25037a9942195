"""Measures durable releases and plans over HTTP, and a bare endpoint in the same run.

Run: python benchmarks/throughput.py
"""

import argparse
import itertools
import json
import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import load
import servers
from rich.console import Console
from rich.table import Table

BODY = {"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.000001", "alpha": 0.05, "gamma": 0.05}
DATASETS = 16
_keys = itertools.count()


def _make(path: str, key: str, *, reuse: bool) -> Callable[[], bytes]:
    fixed = load.request(path, key, json.dumps(BODY | {"grid_refinement": 0, "reuse": reuse}).encode())
    return lambda: fixed


def _release(
    key: str, datasets: int, address: Callable[[int], str] = "/v1/datasets/t{}/releases".format
) -> Callable[[], bytes]:
    """Return a function that returns fresh releases, each with its key; the datasets take turns."""
    body = json.dumps(BODY | {"grid_refinement": 0, "reuse": False}).encode()

    def make() -> bytes:
        number = next(_keys)
        path = address(number % datasets)
        return load.request(path, key, body, f"Idempotency-Key: {number}\r\n")

    return make


def main() -> None:
    """Alternate between the servers, so that both have the same conditions, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--postgres", action="store_true", help="with the ledger in Postgres instead of SQLite")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        place, rows_place = Path(folder), Path(folder) / "rows"
        rows_place.mkdir()
        with (
            servers.databases(on_postgres=asked.postgres) as create,
            servers.bare(place, create("bare"), asked.workers) as bare,
            servers.bare(rows_place, create("rows"), asked.workers, application="bare_release") as bare_rows,
            servers.snapledger(place, create("ours"), asked.workers) as service,
        ):
            rows = "x\n" + "".join(f"{i % 101}\n" for i in range(344))
            for number in range(DATASETS):
                columns = {"x": {"kind": "integer", "bounds": [0, 100]}}
                servers.register(service, f"t{number}", columns, rows.encode())
            ours = "snapledger"
            durable = {
                "bare endpoint": (bare.port, _make("/durable", "", reuse=False)),
                "bare, on the event loop": (bare.port, _make("/durable-async", "", reuse=False)),
            }
            contests = {
                f"releases{place_of}, {asked.clients} clients": (
                    asked.clients,
                    durable
                    | {
                        "bare, a release's rows": (bare_rows.port, _release("", datasets, "/releases/{}".format)),
                        ours: (service.port, _release(service.key, datasets)),
                    },
                )
                for place_of, datasets in (("", 1), (f" on {DATASETS} datasets", DATASETS))
            } | {
                "plans, 1 client": (
                    1,
                    {
                        "bare endpoint": (bare.port, _make("/plain", "", reuse=True)),
                        "bare, on the event loop": (bare.port, _make("/plain-async", "", reuse=True)),
                        "bare, a plan's rows": (bare_rows.port, _make("/plans/0", "key", reuse=True)),
                        ours: (service.port, _make("/v1/datasets/t0/plan", service.key, reuse=True)),
                    },
                ),
            }
            table = Table("contest", "server", "requests/s", "p50 ms", "p99 ms", "against bare")
            for name, (clients, peers) in contests.items():
                _contest(table, name, clients, peers, asked)
    Console().print(table)


def _contest(
    table: Table,
    name: str,
    clients: int,
    peers: Mapping[str, tuple[int, Callable[[], bytes]]],
    asked: argparse.Namespace,
) -> None:
    for port, make in peers.values():
        load.measure(port, make, clients=clients, seconds=1)
    runs = [
        [load.measure(port, make, clients=clients, seconds=asked.seconds) for port, make in peers.values()]
        for _ in range(asked.rounds)
    ]
    for index, server in enumerate(peers):
        measured = [run[index] for run in runs]
        rate = statistics.median(m.rate for m in measured)
        p50, p99 = (statistics.median(getattr(m, part) for m in measured) for part in ("p50", "p99"))
        ratio = statistics.median(run[index].rate / run[0].rate for run in runs)
        table.add_row(name, server, f"{rate:,.0f}", f"{p50:.2f}", f"{p99:.2f}", f"{ratio:.2f} × its rate")


if __name__ == "__main__":
    main()
