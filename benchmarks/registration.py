"""Measures the registration of a Parquet file of ten columns, and the report for its owner beside it, in one process.

Run: python benchmarks/registration.py [--rows 10000000]
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from gmpy2 import mpq
from rich.console import Console
from rich.table import Table

from app.dp.table.columns import Column, Kind
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


def measure(act: Callable[[], object]) -> tuple[float, float, object]:
    """Return the seconds that an act takes, those of processor time, and its result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = act()
    return time.perf_counter() - wall, time.process_time() - processor, result


def main() -> None:
    """Print the times as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    rows = parser.parse_args().rows
    shown = Table("act", "s", "processor s", title=f"{rows:,} rows, {len(COLUMNS)} columns")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, rows)
        tables = Tables(Path(folder) / "tables")
        with path.open("rb") as file:
            wall, processor, ingested = measure(lambda: tables.intake.ingest(file, COLUMNS, []))
        shown.add_row("read and store", f"{wall:.2f}", f"{processor:.2f}")
        for turn in ("first", "again"):
            wall, processor, report = measure(lambda: make_report(tables, ingested, COLUMNS))
            shown.add_row(f"report, {turn}", f"{wall:.2f}", f"{processor:.2f}")
        size = sum(file.stat().st_size for file in (Path(folder) / "tables").iterdir() if file.is_file())
        shown.caption = f"{size / 10**6:.0f} MB are stored, {path.stat().st_size / 10**6:.0f} MB were sent"
        tables.close()
    Console().print(shown)
    assert report["columns"]["i0"]["missing"] > 0


if __name__ == "__main__":
    main()
