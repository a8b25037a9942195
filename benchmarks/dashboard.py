"""Measures a dashboard's first questions to a table of ten columns beside DuckDB's own SQL for the plain answers.

Run: python benchmarks/dashboard.py [--rows 10000000] [--rounds 5] [--kinds]

The service's engine computes exact sums, without a draw; DuckDB computes the same counts and means from the same
Parquet file, without clamping. Each round has a new copy of the stored table, so that nothing is known from before, and
the ways take turns.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
from gmpy2 import mpq
from registration import COLUMNS, TEXTS, write
from rich.console import Console
from rich.table import Table

from app.dp.statistics import build
from app.dp.table.sums import Needs
from app.engines.prepared_sums import prepared_file
from app.engines.storage.table_files import data_files
from app.engines.storage.tables import Tables

Ask = tuple[Mapping[str, Any], str]
"""A statistic, and SQL for the plain answer."""

INTEGERS, REALS, CATEGORIES = ("i0", "i1", "i2", "i3"), ("r0", "r1", "r2"), ("c0", "c1")


def between(lower: int, upper: int) -> dict[str, tuple[mpq, mpq]]:
    """Return a condition of a request."""
    return {"between": (mpq(lower), mpq(upper))}


def list_questions() -> dict[str, list[Ask]]:
    """Return fifty questions of a dashboard by their kind."""
    counts = "SELECT {0}, count(*) FROM t GROUP BY 1"
    some = ", ".join(f"'{text}'" for text in TEXTS[:3])
    return {
        "histograms of categories, booleans": [
            ({"kind": "histogram", "column": name}, counts.format(name)) for name in (*CATEGORIES, "b")
        ],
        "histograms of integers": [
            ({"kind": "histogram", "column": name, "bins": mpq(bins)}, counts.format(f"{name} // {800 // bins}"))
            for name in INTEGERS
            for bins in (10, 20)
        ],
        "histograms of reals": [
            ({"kind": "histogram", "column": name, "bins": mpq(bins)}, counts.format(f"floor({name} / {80 / bins})"))
            for name in REALS
            for bins in (10, 20)
        ],
        "means": [({"kind": "mean", "column": name}, f"SELECT avg({name}) FROM t") for name in (*INTEGERS, *REALS)],
        "counts with one filter": [
            *(
                (
                    {"kind": "count", "where": {name: between(200 + i, 400 + i)}},
                    f"SELECT count(*) FROM t WHERE {name} BETWEEN {200 + i} AND {400 + i}",
                )
                for i, name in enumerate(INTEGERS)
            ),
            *(
                (
                    {"kind": "count", "where": {name: between(20 + i, 40 + i)}},
                    f"SELECT count(*) FROM t WHERE {name} BETWEEN {20 + i} AND {40 + i}",
                )
                for i, name in enumerate(REALS)
            ),
        ],
        "counts with two filters": [
            (
                {"kind": "count", "where": {"c0": {"one_of": list(TEXTS[:3])}, name: between(30 + i, 60 + i)}},
                f"SELECT count(*) FROM t WHERE c0 IN ({some}) AND {name} BETWEEN {30 + i} AND {60 + i}",
            )
            for i, name in enumerate((*INTEGERS, *REALS))
        ],
        "counts by group, filtered": [
            (
                {"kind": "count", "group_by": group, "where": {name: between(30 + i, 60 + i)}},
                f"SELECT {group}, count(*) FROM t WHERE {name} BETWEEN {30 + i} AND {60 + i} GROUP BY 1",
            )
            for group in CATEGORIES
            for i, name in enumerate(REALS)
        ],
        "sums by group": [
            ({"kind": "sum", "column": name, "group_by": group}, f"SELECT {group}, sum({name}) FROM t GROUP BY 1")
            for group in CATEGORIES
            for name in REALS
        ],
    }


class Service:
    """The service's engine over a stored table, which no call has asked anything yet."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.tables = Tables(folder / "tables")
        with source.open("rb") as file:
            self._stored = self.tables.intake.ingest(file, COLUMNS, []).file_id
        self._path = data_files(folder / "tables", self._stored)[0]
        self.n = pq.read_metadata(self._path).num_rows
        self._declared = {column.name: column for column in COLUMNS}
        self._copies = 0

    def needs(self, asked: Sequence[Ask]) -> list[Needs]:
        """Return what the questions need."""
        return [build(statistic, self._declared, self.n, 1).needs for statistic, _ in asked]

    def as_new(self) -> str:
        """Return the id of a link to the table, of which nothing is in memory."""
        self._copies += 1
        copy = self._path.with_name(f"copy{self._copies}.parquet")
        copy.hardlink_to(self._path)
        shutil.copyfile(prepared_file(self._path), prepared_file(copy))
        return copy.stem

    def one_by_one(self, needs: Sequence[Needs]) -> Callable[[], object]:
        """Return an act that asks one question after the other."""
        file_id = self.as_new()
        return lambda: [self.tables.sums(file_id, each) for each in needs]

    def at_once(self, needs: Sequence[Needs]) -> Callable[[], object]:
        """Return an act that asks all questions in separate calls at the same time."""
        file_id = self.as_new()

        def ask() -> object:
            with ThreadPoolExecutor(len(needs)) as pool:
                return list(pool.map(lambda each: self.tables.sums(file_id, each), needs))

        return ask

    def in_a_batch(self, needs: Sequence[Needs]) -> Callable[[], object]:
        """Return an act that asks all questions in one call."""
        file_id = self.as_new()
        return lambda: self.tables.all_sums(file_id, needs)


def by_duckdb(source: Path, asked: Sequence[Ask]) -> Callable[[], object]:
    """Return an act that asks DuckDB's own SQL, one statement after the other."""
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW t AS FROM read_parquet('{source}')")
    return lambda: [connection.execute(query).fetchall() for _, query in asked]


def by_numpy(source: Path) -> dict[str, Callable[[], object]]:
    """Return acts that read columns of the file, clip them and compute, in numpy."""

    def read(*names: str) -> list[np.ndarray]:
        table = pq.read_table(source, columns=list(names))
        return [np.clip(np.nan_to_num(table.column(name).to_numpy(), nan=50), 10, 90) for name in names]

    def count() -> int:
        (values,) = read("r0")
        return int(np.count_nonzero((values >= 20) & (values <= 40)))

    return {
        "mean": lambda: np.mean(*read("r0")),
        "variance": lambda: np.var(*read("r0"), ddof=1),
        "covariance": lambda: np.cov(*read("r0", "r1")),
        "filtered count": count,
        "mean, other bounds": lambda: np.mean(*read("r0")),
    }


SINGLE: dict[str, Mapping[str, Any]] = {
    "mean": {"kind": "mean", "column": "r0"},
    "variance": {"kind": "variance", "column": "r0"},
    "histogram of a category": {"kind": "histogram", "column": "c0"},
    "covariance": {"kind": "covariance", "columns": ("r0", "r1")},
    "filtered count": {"kind": "count", "where": {"r0": between(20, 40)}},
    "mean, other bounds": {"kind": "mean", "column": "r0", "bounds": (mpq(0), mpq(100))},
}


def measure(rounds: int, ways: Mapping[str, Callable[[], Callable[[], object]]]) -> dict[str, float]:
    """Return the median milliseconds of each way; the ways take turns, after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, prepare in ways.items():
            act = prepare()
            started = time.perf_counter()
            act()
            if turn:
                times[name].append(1_000 * (time.perf_counter() - started))
    return {name: statistics.median(each) for name, each in times.items()}


def show(title: str, rows: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> None:
    """Print milliseconds as a table."""
    table = Table("median ms", *names, title=title)
    for what, found in rows.items():
        table.add_row(what, *(f"{found[name]:.1f}" if name in found else "—" for name in names))
    Console().print(table)


def main() -> None:
    """Measure single questions beside numpy, then fifty questions beside DuckDB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", action="store_true", help="the questions of each kind too, not only all together")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "rows.parquet"
        write(source, given.rows)
        service = Service(Path(name), source)
        plain, single = by_numpy(source), {}
        for what, statistic in SINGLE.items():
            needs = service.needs([(statistic, "")])
            ways = {"ours": lambda needs=needs: service.one_by_one(needs)}
            if what in plain:
                ways["numpy"] = lambda what=what: plain[what]
            single[what] = measure(given.rounds, ways)
        show(f"a first question, {given.rows:,} rows", single, ["ours", "numpy"])
        questions, together = list_questions(), {}
        kinds = questions if given.kinds else {}
        for what, asked in [*kinds.items(), ("all", [each for some in questions.values() for each in some])]:
            needs = service.needs(asked)
            together[f"{len(asked)} {what}"] = measure(
                given.rounds,
                {
                    "one by one": lambda needs=needs: service.one_by_one(needs),
                    "at once": lambda needs=needs: service.at_once(needs),
                    "batch": lambda needs=needs: service.in_a_batch(needs),
                    "DuckDB": lambda asked=asked: by_duckdb(source, asked),
                },
            )
        service.tables.close()
    show(f"first questions of a dashboard, {given.rows:,} rows", together, ["one by one", "at once", "batch", "DuckDB"])


if __name__ == "__main__":
    main()
