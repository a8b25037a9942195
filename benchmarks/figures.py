"""Measures polls of a figure in all forms with 50 clients, beside a bare endpoint that answers 304.

Run: python benchmarks/figures.py
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import httpx
import load
import servers
from rich.console import Console
from rich.table import Table

FORMS = ("json", "csv", "arrow", "parquet")
PATH = "/v1/datasets/t/figures/x"


def _publish(client: httpx.Client) -> str:
    """Publish a histogram as a figure, and return the key of a viewer."""
    statistic = {"kind": "histogram", "column": "x", "bins": 20}
    released = client.post("/v1/datasets/t/releases", json={"statistic": statistic, "epsilon": "1"}).json()
    client.put(PATH, json={"title": "x", "release": released["id"]}).raise_for_status()
    made = client.post("/v1/principals", json={"name": "wall-screen", "role": "viewer"})
    client.put("/v1/datasets/t/viewers/wall-screen").raise_for_status()
    key: str = made.json()["key"]
    return key


def _ledger(client: httpx.Client) -> Any:  # noqa: ANN401 - JSON
    return client.get("/v1/datasets/t/ledger").json(), client.get("/v1/datasets/t/budget").json()


def main() -> None:
    """Alternate between the servers, and compare the ledger before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    table = Table("poll", "server", "requests/s", "p50 ms", "p99 ms", "against bare")
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        servers.bare(Path(folder)) as bare,
        servers.snapledger(Path(folder)) as service,
    ):
        client = service.client()
        rows = "x\n" + "".join(f"{i % 101}\n" for i in range(344))
        servers.register(service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())
        key, before = _publish(client), _ledger(client)
        bearer = f"Authorization: Bearer {key}\r\n"
        tag = client.get(PATH).headers["ETag"]
        polls = {"304": load.poll(PATH, f"{bearer}If-None-Match: {tag}\r\n")}
        polls |= {form: load.poll(f"{PATH}.{form}", bearer) for form in FORMS}
        fixed = load.poll("/not-modified")
        for name, poll in polls.items():
            _contest(table, name, (bare.port, fixed), (service.port, poll), asked)
        assert _ledger(client) == before, "a poll changed the ledger"
    Console().print(table)


def _contest(
    table: Table, name: str, bare: tuple[int, bytes], ours: tuple[int, bytes], asked: argparse.Namespace
) -> None:
    peers = {"bare endpoint, 304": bare, "snapledger": ours}
    accepted = frozenset({200, 304})
    runs = [
        [
            load.measure(port, lambda poll=poll: poll, clients=asked.clients, seconds=asked.seconds, accepted=accepted)
            for port, poll in peers.values()
        ]
        for _ in range(asked.rounds)
    ]
    for index, server in enumerate(peers):
        rate, p50, p99 = (
            statistics.median(getattr(run[index], part) for run in runs) for part in ("rate", "p50", "p99")
        )
        ratio = statistics.median(run[index].rate / run[0].rate for run in runs)
        table.add_row(name, server, f"{rate:,.0f}", f"{p50:.2f}", f"{p99:.2f}", f"{ratio:.2f} × its rate")


if __name__ == "__main__":
    main()
