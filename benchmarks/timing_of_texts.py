"""Tests whether times reveal undeclared texts: compares scans of tables whose texts are all equal or all different.

Run: python benchmarks/timing_of_texts.py
"""

import argparse
import io
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app.dp.table.bins import CategoryBins
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import BinCounts, CellSums
from app.engines.storage.tables import Tables

TEXTS: dict[str, Callable[[int], str]] = {
    "undeclared, all equal": lambda _: "undeclared 0000000",
    "undeclared, all different": lambda row: f"undeclared {row:07d}",
    "declared": lambda row: f"category {row % 3}",
}


def milliseconds(tables: Tables, file_id: str, needs: BinCounts | CellSums, rounds: int) -> float:
    """Return the median time of a scan in milliseconds, without cached results."""
    found = []
    for _ in range(rounds):
        started = time.perf_counter()
        tables._engine.compute(tables._path(file_id), [needs])  # noqa: SLF001 - bypasses the cache
        found.append(time.perf_counter() - started)
    return 1e3 * statistics.median(found)


def main() -> None:
    """Measure a histogram and a two-way table of the same column."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--categories", type=int, default=3)
    asked = parser.parse_args()
    categories = tuple(f"category {i}" for i in range(asked.categories))
    column = Column("text", Kind.CATEGORY, categories=categories)
    axis = ("text", CategoryBins(categories, missing=column.nullable))
    printed = Table("texts", "histogram, ms", "two-way table, ms")
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(Path(folder), threads=2)
        for name, text_of in TEXTS.items():
            rows = io.BytesIO(("text\n" + "".join(f"{text_of(row)}\n" for row in range(asked.rows))).encode())
            file_id = tables.intake.ingest(rows, [column], [""]).file_id
            times = [
                milliseconds(tables, file_id, needs, asked.rounds)
                for needs in (BinCounts(*axis), CellSums((axis, axis)))
            ]
            printed.add_row(name, *(f"{each:.1f}" for each in times))
        tables.close()
    Console().print(printed)


if __name__ == "__main__":
    main()
