"""Measures histograms of 10 to 1,000,000 bins over HTTP: seconds, and the memory of the service.

Run: python benchmarks/bulk.py
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import servers
from rich.console import Console
from rich.table import Table

ROWS = 10**6


def main() -> None:
    """Request two fresh histograms of each size, and compare with numpy's counting without privacy."""
    values = np.random.default_rng(1).normal(50, 20, ROWS)
    table = Table("bins", "first s", "again, counts kept s", "answer MiB", "service MiB", "numpy counts s")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        file = Path(folder) / "table.parquet"
        pq.write_table(pa.table({"x": values}), file)
        with servers.snapledger(Path(folder)) as service, service.client() as client:
            servers.register(service, "t", {"x": {"kind": "real", "bounds": [0, 100]}}, file.read_bytes())
            for bins in (10**size for size in range(1, 7)):
                body = {
                    "statistic": {"kind": "histogram", "column": "x", "bins": bins},
                    "epsilon": "1",
                    "reuse": False,
                }
                times = []
                for turn in range(2):
                    started = time.perf_counter()
                    headers = {"Idempotency-Key": f"{bins} {turn}"}
                    answer = client.post("/v1/datasets/t/releases", json=body, headers=headers)
                    answer.raise_for_status()
                    times.append(time.perf_counter() - started)
                started = time.perf_counter()
                np.histogram(values, bins=bins, range=(0, 100))
                counted = time.perf_counter() - started
                size = len(answer.content) / 2**20
                figures = f"{times[0]:.3f}", f"{times[1]:.3f}", f"{size:.1f}", f"{service.memory_mib():.0f}"
                table.add_row(f"{bins:,}", *figures, f"{counted:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
