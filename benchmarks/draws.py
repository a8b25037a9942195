"""Measures nanoseconds per draw, one at a time and in bulk, and the same of OpenDP and diffprivlib.

Run: make bench-setup, then .venv-bench/bin/python benchmarks/draws.py
"""

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp
from diffprivlib.mechanisms import Snapping
from gmpy2 import mpq
from rich.console import Console
from rich.table import Table

from app.dp.mechanism.bulk_draw import draw_whole_numbers
from app.dp.mechanism.draw import draw
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.numbers.random_bits import SystemBits

ROUNDS = 5
SINGLE = 5_000
SIZES = (10**3, 10**4, 10**5, 10**6)
MAX_OF_PEERS = 10**4  # peers that take tens of microseconds per draw are measured up to this size


def seconds(work: Callable[[], object]) -> float:
    """Return the median time of some runs."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def parameters_for(rows: int) -> Parameters:
    """Return the mechanism's parameters for a count of so many rows, with ε = 1."""
    return derive_parameters(mpq(1), mpq(rows, 2), mpq(1, 20), 0)


def opendp_laplace(size: int) -> Callable[[], object]:
    """Return a function that adds Laplace noise of scale 1 to a vector of `size` floats."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=1.0)
    values = [0.0] * size
    return lambda: measurement(values)


def diffprivlib_snapping(size: int) -> Callable[[], object]:
    """Return a function that makes `size` draws one after the other, since the library has no vectors."""
    mechanism = Snapping(epsilon=1.0, sensitivity=1.0, lower=-172.0, upper=172.0)
    return lambda: [mechanism.randomise(3.0) for _ in range(size)]


def main() -> None:
    """Measure our draws and the peers' at each size."""
    dp.enable_features("contrib")
    warnings.simplefilter("ignore")
    bits, table = SystemBits(), Table("draws at once", "snapledger ns", "OpenDP ns", "diffprivlib ns", "least ratio")
    one = parameters_for(344)
    measured = [
        (
            "1",
            seconds(lambda: [draw(mpq(3), one, bits) for _ in range(SINGLE)]) / SINGLE,
            seconds(lambda: [laplace() for _ in range(SINGLE)]) / SINGLE if (laplace := opendp_laplace(1)) else 0,
            seconds(diffprivlib_snapping(SINGLE)) / SINGLE,
        )
    ]
    for size in SIZES:
        counts, parameters, peers = np.arange(size) % 300 - 150, parameters_for(size), min(size, MAX_OF_PEERS)
        measured.append(
            (
                f"{size:,}",
                seconds(lambda: draw_whole_numbers(counts, parameters, bits)) / size,  # noqa: B023 - called in this iteration
                seconds(opendp_laplace(peers)) / peers,
                seconds(diffprivlib_snapping(peers)) / peers,
            )
        )
    for size, ours, *others in measured:
        nanoseconds = (f"{1e9 * each:,.0f}" for each in (ours, *others))
        table.add_row(size, *nanoseconds, f"{min(others) / ours:.1f} × as fast")
    Console().print(table)


if __name__ == "__main__":
    main()
