"""Tests whether times reveal the noise: Welch's t between draws with much noise and draws with little noise.

Run: python benchmarks/timing_leak.py

A t beyond ±4.5 is the usual sign of a leak (TVLA, Goodwill et al. 2011); by chance, one test in 150,000 exceeds it.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import servers
from gmpy2 import mpq
from rich.console import Console
from rich.table import Table

from app.dp.mechanism.draw import draw
from app.dp.mechanism.parameters import derive_parameters
from app.dp.numbers.random_bits import SystemBits

SUSPECT = 4.5
ROWS = 344


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Welch's t of two samples."""
    spread = statistics.variance(one) / len(one) + statistics.variance(other) / len(other)
    return (statistics.fmean(one) - statistics.fmean(other)) / spread**0.5


def split(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the times of the half with more noise and of the other half, each without its slowest 5 %.

    The slowest times are interruptions of the machine, whose variance would hide a small difference.

    Args:
        pairs: the size of the noise and the time in seconds of each draw.
    """
    middle = statistics.median(noise for noise, _ in pairs)
    sides = [sorted(time_ for noise, time_ in pairs if (noise > middle) is large) for large in (True, False)]
    larger, smaller = (side[: len(side) * 19 // 20] for side in sides)
    return larger, smaller


def of_draws(count: int) -> list[tuple[float, float]]:
    """Return the size of the noise and the seconds of single draws."""
    bits, x = SystemBits(), mpq(3)
    parameters = derive_parameters(
        mpq(1), mpq(ROWS, 2), mpq(1, 20), 10
    )  # a fine grid, so that few draws have the same noise
    found = []
    for _ in range(count):
        started = time.perf_counter()
        z = draw(x, parameters, bits)
        found.append((float(abs(z - x)), time.perf_counter() - started))
    return found


def of_requests(client: httpx.Client, truth: float, count: int) -> list[tuple[float, float]]:
    """Return the size of the noise and the response time in seconds of releases."""
    asked = {"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.01", "grid_refinement": 10, "reuse": False}
    body, found = json.dumps(asked), []
    for number in range(count):
        headers = {"Idempotency-Key": f"{number}", "Content-Type": "application/json"}
        started = time.perf_counter()
        answer = client.post("/v1/datasets/t/releases", content=body, headers=headers)
        passed = time.perf_counter() - started
        found.append((abs(answer.raise_for_status().json()["value"] - truth), passed))
    return found


def main() -> None:
    """Measure draws alone, then whole requests to a service on this machine, where no network disturbs the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000)
    parser.add_argument("--requests", type=int, default=100_000)
    asked = parser.parse_args()
    measured = {"the draw alone": of_draws(asked.draws)}
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, servers.snapledger(Path(folder)) as service:
        values = [number % 101 for number in range(ROWS)]
        rows = "x\n" + "".join(f"{value}\n" for value in values)
        servers.register(service, "t", {"x": {"kind": "integer", "bounds": [0, 100]}}, rows.encode())
        with service.client() as client:
            measured["a whole request"] = of_requests(client, statistics.fmean(values), asked.requests)
    table = Table("timed", "times", "large noise, mean µs", "small noise, mean µs", "Welch's t", "suspect")
    for name, pairs in measured.items():
        larger, smaller = split(pairs)
        t = welch(larger, smaller)
        means = (f"{1e6 * statistics.fmean(side):.3f}" for side in (larger, smaller))
        table.add_row(name, f"{len(pairs):,}", *means, f"{t:.2f}", "yes" if abs(t) > SUSPECT else "no")
    Console().print(table)
    Console().print(f"load average {os.getloadavg()[0]:.1f}: on a busy machine a difference is harder to see")


if __name__ == "__main__":
    main()
