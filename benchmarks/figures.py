"""Measures polls of figures in all forms with 50 clients, beside a bare endpoint that answers 304.

Run: python benchmarks/figures.py
"""

import argparse
import base64
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
PATH, PAGE, OPEN = "/v1/datasets/t/figures/x", "/figures/t/x", "/v1/datasets/t/figures/open"
PICTURES = {"page": "", "svg": ".svg", "png": ".png"}


def _publish(client: httpx.Client) -> str:
    """Publish a histogram as a figure for viewers and one for everybody, and return the key of a viewer."""
    statistic = {"kind": "histogram", "column": "x", "bins": 20}
    released = client.post("/v1/datasets/t/releases", json={"statistic": statistic, "epsilon": "1"}).json()
    body = {"title": "x", "release": released["id"]}
    client.put(PATH, json=body).raise_for_status()
    client.put(OPEN, json=body | {"audience": "public", "confirm_public": True}).raise_for_status()
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
        polls, fixed = _list_polls(service, key), load.poll("/not-modified")
        for name, poll in polls.items():
            _contest(table, name, (bare.port, fixed), (service.port, poll), asked)
        assert _ledger(client) == before, "a poll changed the ledger"
    Console().print(table)


def _list_polls(service: servers.Running, key: str) -> dict[str, bytes]:
    """Return a request for each form, and those that are answered with 304: with a bearer, a password and no key."""
    bearer = f"Authorization: Bearer {key}\r\n"
    basic = f"Authorization: Basic {base64.b64encode(f'any:{key}'.encode()).decode()}\r\n"

    def unchanged(path: str, credential: str) -> bytes:
        headers = dict(line.split(": ", 1) for line in credential.splitlines())
        tag = httpx.get(f"http://127.0.0.1:{service.port}{path}", headers=headers).headers["ETag"]
        return load.poll(path, f"{credential}If-None-Match: {tag}\r\n")

    polls = {
        "304": unchanged(PATH, bearer),
        "304, password": unchanged(PATH, basic),
        "304, no key": unchanged(OPEN, ""),
        "304, picture": unchanged(f"{PAGE}.png", bearer),
    }
    polls |= {form: load.poll(f"{PATH}.{form}", bearer) for form in FORMS}
    polls |= {kind: load.poll(f"{PAGE}{suffix}", bearer) for kind, suffix in PICTURES.items()}
    return polls | {"list": load.poll("/v1/figures", bearer), "feed": load.poll("/v1/figures.atom", bearer)}


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
