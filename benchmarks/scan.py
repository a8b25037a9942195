"""Measures first releases from 10⁵ to 10⁸ rows of Parquet over HTTP, and the same by other libraries.

Run: python benchmarks/scan.py [--rows 100000 10000000 100000000], after `make bench-setup`
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import servers
from rich.console import Console
from rich.table import Table

BOUNDS = [0, 100]
COLUMNS = {name: {"kind": "real", "bounds": BOUNDS} for name in ("x", "y")}
# Each is about other columns, or has other bounds or conditions, so that none can use the cached sums of another.
STATISTICS: dict[str, list[dict[str, object]]] = {
    "mean": [{"kind": "mean", "column": name} for name in COLUMNS],
    "variance": [{"kind": "variance", "column": name} for name in COLUMNS],
    "covariance": [{"kind": "covariance", "columns": ["x", "y"]}],
    "filtered count": [{"kind": "count", "where": {"x": {"between": [20, 40 + turn]}}} for turn in range(3)],
    "mean, other bounds": [{"kind": "mean", "column": "x", "bounds": [0, 101 + turn]} for turn in range(3)],
    "variance, other bounds": [{"kind": "variance", "column": "x", "bounds": [0, 111 + turn]} for turn in range(3)],
    "covariance, other bounds": [
        {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 120 + turn], [0, 120 + turn]]} for turn in range(3)
    ],
}
PEERS = Path(".venv-bench/bin/python")
ROWS_AT_A_TIME = 10**6
MAX_ROWS_OF_PEERS = 10**7


def write(path: Path, rows: int) -> None:
    """Write a Parquet file with two columns of doubles."""
    random = np.random.default_rng(1)
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, rows, ROWS_AT_A_TIME):
            x = random.normal(50, 20, min(ROWS_AT_A_TIME, rows - begin))
            writer.write_table(pa.table({"x": x, "y": x / 2 + random.normal(25, 15, len(x))}, schema))


def fastest(turns: list[Callable[[], object]]) -> float:
    """Return the seconds of the fastest of several runs."""
    times = []
    for turn in turns:
        started = time.perf_counter()
        turn()
        times.append(time.perf_counter() - started)
    return min(times)


def by_numpy(path: Path) -> dict[str, float]:
    """Return the seconds that numpy takes to read the file, clip and compute, without privacy."""

    def columns(*names: str) -> list[np.ndarray]:
        table = pq.read_table(path, columns=list(names))
        return [np.clip(table.column(name).to_numpy(), *BOUNDS) for name in names]

    def count() -> int:
        (x,) = columns("x")
        return int(np.count_nonzero((x >= 20) & (x <= 40)))

    questions: dict[str, Callable[[], object]] = {
        "mean": lambda: np.mean(*columns("x")),
        "variance": lambda: np.var(*columns("x"), ddof=1),
        "covariance": lambda: np.cov(*columns("x", "y")),
        "filtered count": count,
    }
    return {name: fastest([question] * 3) for name, question in questions.items()}


def by_peers(path: Path, rows: int) -> dict[str, dict[str, float]]:
    """Return the seconds that the other libraries take, in a process and an environment of their own."""
    command = [str(PEERS), str(Path(__file__).with_name("scan_peers.py")), str(path), str(rows)]
    found: dict[str, dict[str, float]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603
    return found


def by_service(folder: Path, path: Path) -> tuple[dict[str, float], dict[str, float], float, float]:
    """Return the seconds of first releases, of releases with cached sums and of the upload, and the peak MiB."""
    with servers.snapledger(folder, MAX_UPLOAD_BYTES=str(2**36)) as service, service.client() as client:
        with path.open("rb") as file:
            metadata = {"name": "t", "epsilon_limit": "1000000", "columns": COLUMNS}
            started = time.perf_counter()
            sent = {"metadata": (None, json.dumps(metadata)), "file": ("table", file)}
            client.post("/v1/datasets", files=sent).raise_for_status()
            upload = time.perf_counter() - started
        client.put("/v1/datasets/t/allowances/admin", json={"epsilon_limit": "1000000"}).raise_for_status()

        def release(statistic: object, key: str) -> Callable[[], object]:
            body = {"statistic": statistic, "epsilon": "1", "reuse": False}
            return lambda: client.post(
                "/v1/datasets/t/releases", json=body, headers={"Idempotency-Key": key}
            ).raise_for_status()

        release({"kind": "count", "where": {"y": {"between": [1, 2]}}}, "to warm up")()
        first = {}
        for name, asked in STATISTICS.items():
            first[name] = fastest([release(one, f"{name} {turn}") for turn, one in enumerate(asked)])
        known = {
            name: fastest([release(asked[0], f"{name} again {turn}") for turn in range(20)])
            for name, asked in STATISTICS.items()
        }
        status = Path(f"/proc/{service.pid}/status").read_text()
        return first, known, upload, int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Measure each size with a new service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**7, 10**8])
    titles = "rows", "statistic", "ours s", "known ms", "numpy s", "OpenDP s", "diffprivlib s", "most MiB", "upload s"
    table = Table(*titles)
    for rows in parser.parse_args().rows:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            path = Path(folder) / "table.parquet"
            write(path, rows)
            first, known, upload, memory = by_service(Path(folder), path)
            plain = by_numpy(path)
            peers = by_peers(path, rows) if rows <= MAX_ROWS_OF_PEERS else {}
        for name in STATISTICS:
            kind = name.partition(",")[0]  # the bounds do not matter to the peers
            of_peers = [peers.get(peer, {}).get(kind) for peer in ("opendp", "diffprivlib")]
            shown = [f"{seconds:.3f}" if seconds is not None else "—" for seconds in of_peers]
            figures = f"{first[name]:.3f}", f"{known[name] * 1000:.1f}", f"{plain[kind]:.3f}", *shown
            table.add_row(f"{rows:,}", name, *figures, f"{memory:.0f}", f"{upload:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
