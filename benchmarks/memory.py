"""Measures the service's memory during 200,000 requests: plans, reused releases and fresh releases.

Run: python benchmarks/memory.py
"""

import argparse
import itertools
import json
import tempfile
from pathlib import Path

import load
import servers
from rich.console import Console
from rich.table import Table

STEPS = 10


def main() -> None:
    """Send the requests in ten parts, a third of each kind, and measure the memory after each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--statistics", type=int, default=5_000, help="the number of different statistics")
    asked = parser.parse_args()
    table, numbers = Table("requests", "requests/s", "service MiB"), itertools.count()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, servers.snapledger(Path(folder)) as service:
        rows = "x\n" + "".join(f"{number % 101}\n" for number in range(344))
        servers.register(service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())

        def make() -> bytes:
            number = next(numbers)
            statistic = {"kind": "mean", "column": "x", "bounds": [0, 50 + number % asked.statistics]}
            question = {"statistic": statistic, "epsilon": "0.001", "reuse": number % 3 != 0}
            path = "/v1/datasets/t/" + ("plan" if number % 3 == 1 else "releases")
            body = json.dumps(question).encode()
            return load.request(path, service.key, body, f"Idempotency-Key: {number}\r\n")

        for step in range(STEPS):
            measured = load.measure(service.port, make, clients=asked.clients, most=asked.requests // STEPS)
            done = asked.requests // STEPS * (step + 1)
            table.add_row(f"{done:,}", f"{measured.rate:,.0f}", f"{service.memory_mib():.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
