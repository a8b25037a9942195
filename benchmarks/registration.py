"""Measures the registration of a Parquet file of ten columns with prepared sums and codes, and without, in one process.

Both include the report for the owner, which comes from the prepared sums, or from scans.

Run: python benchmarks/registration.py [--rows 10000000]
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gmpy2 import mpq
from rich.console import Console
from rich.table import Table

from app.dp.table.columns import Column, Kind
from app.engines import prepared_sums
from app.engines.storage.tables import Tables
from app.services.datasets.registration_report import make_report

ROWS_AT_A_TIME = 10**6
TEXTS = tuple(f"region {i}" for i in range(20))
COLUMNS = [
    *(Column(f"i{i}", Kind.INTEGER, (mpq(100), mpq(900))) for i in range(4)),
    *(Column(f"r{i}", Kind.REAL, (mpq(10), mpq(90))) for i in range(3)),
    *(Column(f"c{i}", Kind.CATEGORY, categories=TEXTS[:15]) for i in range(2)),
    Column("b", Kind.BOOLEAN),
]


def write(path: Path, rows: int) -> None:
    """Write a file in which some values are missing, clamped or undeclared."""
    random = np.random.default_rng(1)
    types = {Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.CATEGORY: pa.string(), Kind.BOOLEAN: pa.bool_()}
    schema = pa.schema([(column.name, types[column.kind]) for column in COLUMNS])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, rows, ROWS_AT_A_TIME):
            n = min(ROWS_AT_A_TIME, rows - begin)
            values = {
                Kind.INTEGER: lambda n=n: random.integers(0, 1_000, n),
                Kind.REAL: lambda n=n: random.normal(50, 20, n),
                Kind.CATEGORY: lambda n=n: np.array(TEXTS)[random.integers(0, len(TEXTS), n)],
                Kind.BOOLEAN: lambda n=n: random.integers(0, 2, n).astype(bool),
            }
            arrays = [pa.array(values[column.kind](), mask=random.random(n) < 0.05) for column in COLUMNS]
            writer.write_table(pa.table(arrays, schema=schema))


def measure(folder: Path, source: Path) -> tuple[float, float, float, int]:
    """Register a table, and return the seconds, those of a processor, those of the report, and the stored bytes."""
    tables = Tables(folder)
    began, processor = time.perf_counter(), time.process_time()
    with source.open("rb") as file:
        ingested = tables.intake.ingest(file, COLUMNS, [])
    stored = time.perf_counter()
    report = make_report(tables, ingested, COLUMNS)
    done, used = time.perf_counter(), time.process_time() - processor
    tables.close()
    assert report["columns"]["i0"]["missing"] > 0
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return done - began, used, done - stored, size


@contextmanager
def without_preparation() -> Iterator[None]:
    """Register tables as if each had too many columns to be prepared."""
    limit = prepared_sums.MAX_COLUMNS
    prepared_sums.MAX_COLUMNS = 0
    try:
        yield
    finally:
        prepared_sums.MAX_COLUMNS = limit


def main() -> None:
    """Register in turn with and without, and print the medians as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    ways = {"prepared": nullcontext, "not prepared": without_preparation}
    found: dict[str, list[tuple[float, float, float, int]]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.parquet"
        write(source, asked.rows)
        for turn in range(asked.rounds):
            for name, way in ways.items():
                with way():
                    found[name].append(measure(Path(folder) / f"{name} {turn}", source))
        sent = source.stat().st_size
    ours, theirs = ([statistics.median(figures) for figures in zip(*found[name], strict=True)] for name in ways)
    shown = Table("what", *ways, "ratio", title=f"{asked.rows:,} rows, {len(COLUMNS)} columns, {sent / 10**6:.0f} MB")
    for index, what in enumerate(("s", "processor s", "s of these for the report")):
        ratio = f"{ours[index] / theirs[index]:.2f}"
        shown.add_row(what, f"{ours[index]:.2f}", f"{theirs[index]:.2f}", ratio)
    shown.add_row("stored MB", f"{ours[3] / 10**6:.0f}", f"{theirs[3] / 10**6:.0f}", f"{ours[3] / theirs[3]:.2f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
