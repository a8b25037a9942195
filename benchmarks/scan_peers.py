"""Measures OpenDP's Polars context and diffprivlib on a file, and prints the seconds as JSON.

`scan.py` runs this in an environment with both libraries. OpenDP's context has no variance and neither library has a
covariance, so these are not measured.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp
import polars as pl
import pyarrow.parquet as pq
from diffprivlib import tools

warnings.simplefilter("ignore")
dp.enable_features("contrib")

LOWER, UPPER = 0.0, 100.0
MAX_SECONDS = 2  # of all runs of a question: OpenDP's Polars context takes seconds, whatever the number of rows


def by_opendp(path: str, rows: int) -> object:
    """Return OpenDP's mean, with the file scanned by Polars."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=rows, invariant="lengths")],
    )
    column = pl.col("x").fill_nan(50.0).fill_null(50.0)
    return context.query().select(column.dp.mean((LOWER, UPPER))).release().collect()


def column(path: str) -> np.ndarray:
    """Return the column as an array."""
    return pq.read_table(path, columns=["x"]).column("x").to_numpy()


def fastest(question: Callable[[], object]) -> float:
    """Return the seconds of the fastest of three runs after a first one, or of the first if it takes long."""
    times: list[float] = []
    while len(times) < 4 and sum(times) < MAX_SECONDS:
        started = time.perf_counter()
        question()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    """Measure both libraries."""
    path, rows = sys.argv[1], int(sys.argv[2])
    bounded = {"epsilon": 1.0, "bounds": (LOWER, UPPER)}
    found = {
        "opendp": {"mean": fastest(lambda: by_opendp(path, rows))},
        "diffprivlib": {
            "mean": fastest(lambda: tools.mean(column(path), **bounded)),
            "variance": fastest(lambda: tools.var(column(path), **bounded)),
        },
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
