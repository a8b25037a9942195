"""Uploads the public corpus apache/parquet-testing, and compares what is stored with what pyarrow and DuckDB read.

Flat columns that both read have to be stored with the same sums; everything else has to be refused in a sentence. The
corpus is cloned with git, unless a folder is given. Nested columns are left out.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from app.dp.table.columns import Column, Kind
from app.dp.table.dates import first_unit, last_unit
from app.engines.errors import EngineFailure, InvalidFile
from app.engines.ingest.drafting.draft import draft_metadata
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest_process.job import Limits
from app.engines.ingest_process.reader import IngestReader, never

Result = TypeVar("Result")

CORPUS = "https://github.com/apache/parquet-testing"
LIMITS = Limits(memory_bytes=2**29, disk_bytes=2**32, seconds=60)
MAX_SCALE = 18
WIDE = Context(prec=100)
EPOCH = date(1970, 1, 1)
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
KINDS: list[tuple[Callable[[pa.DataType], bool], Kind]] = [
    (types.is_boolean, Kind.BOOLEAN),
    (types.is_integer, Kind.INTEGER),
    (types.is_floating, Kind.REAL),
    (types.is_date, Kind.SECONDS),
    (types.is_timestamp, Kind.SECONDS),
    (types.is_string, Kind.CATEGORY),
    (types.is_large_string, Kind.CATEGORY),
    (types.is_binary, Kind.CATEGORY),
    (types.is_large_binary, Kind.CATEGORY),
    (types.is_fixed_size_binary, Kind.CATEGORY),
    (lambda found: isinstance(found, pa.UuidType), Kind.CATEGORY),
]


def declare(name: str, found: pa.DataType) -> Column | None:
    """Return a declaration that takes every value of a flat column, texts as units; None for other types."""
    if types.is_decimal(found):
        return Column(name, Kind.DECIMAL, scale=found.scale) if found.scale <= MAX_SCALE else Column(name, Kind.REAL)
    kind = next((kind for is_so, kind in KINDS if is_so(found)), None)
    return None if kind is None else Column(name, kind, time_zone="UTC")


def as_stored(value: Any, column: Column) -> Any:  # noqa: ANN401 - of any kind
    """Return a value of another reader as it is stored; times are given in seconds."""
    if value is None:
        return None
    if column.kind is Kind.CATEGORY:
        return value.hex() if isinstance(value, bytes) else str(value)
    if column.kind is Kind.SECONDS:
        seconds = (value - EPOCH).days * 86_400 if isinstance(value, date) else value
        return min(max(seconds, first_unit(column.kind) - 1), last_unit(column.kind) + 1)
    if column.kind is Kind.DECIMAL:
        return Decimal(value).scaleb(column.scale, WIDE)
    return float(value) if column.kind is Kind.REAL else value


def summarise(values: list[Any], column: Column) -> tuple[Any, ...]:
    """Return the number of missing values, and the sum of the others, or how often each text comes."""
    present = [value for value in values if value is not None]
    if column.kind is Kind.CATEGORY:
        return len(values) - len(present), Counter(present)
    finite = [Fraction(value) for value in present if isfinite(value)]
    return len(values) - len(present), len(present) - len(finite), sum(finite)


def read_with_pyarrow(path: Path, column: Column) -> tuple[Any, ...]:
    """Return the summary of what pyarrow reads."""
    file = pq.ParquetFile(path, coerce_int96_timestamp_unit="ms", page_checksum_verification=True)
    array = file.read(columns=[column.name]).column(0)
    if types.is_timestamp(array.type):
        rate = PER_SECOND[array.type.unit]
        values = [None if value is None else value // rate for value in array.cast(pa.int64()).to_pylist()]
    else:
        values = array.to_pylist()
    return summarise([as_stored(value, column) for value in values], column)


def read_with_duckdb(path: Path, column: Column) -> tuple[Any, ...]:
    """Return the summary of what DuckDB reads."""
    name = '"' + column.name.replace('"', '""') + '"'
    with duckdb.connect(":memory:") as connection:
        table = connection.from_query("SELECT * FROM read_parquet($1, hive_partitioning = false)", params=[str(path)])
        kind = str(dict(zip(table.columns, table.types, strict=True))[column.name])
        nanoseconds = kind == "TIMESTAMP_NS"
        if kind.startswith("TIMESTAMP"):
            name = f"epoch_{'ns' if nanoseconds else 'us'}({name})"
        values = [value for (value,) in table.project(name).fetchall()]
    if kind.startswith("TIMESTAMP"):
        values = [None if value is None else value // (10**9 if nanoseconds else 10**6) for value in values]
    return summarise([as_stored(value, column) for value in values], column)


def attempt(call: Callable[[], Result]) -> Result | None:
    """Return the result of another reader; None if it fails."""
    try:
        return call()
    except Exception:  # noqa: BLE001 - whatever they raise
        return None


class Corpus:
    """Uploads files, each in a process of its own, and counts the outcomes."""

    def __init__(self, directory: Path) -> None:
        self._target = directory / "table.parquet"
        self._reader = IngestReader(directory, LIMITS, 1)
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []

    def close(self) -> None:
        """End the processes."""
        self._reader.close()

    def check(self, path: Path) -> str:
        """Upload each flat column of a file, and what `suggest` drafts; return what became of them."""
        schema = attempt(lambda: pq.read_schema(path))
        declared = [] if schema is None else [declare(field.name, field.type) for field in schema]
        told = [self._check_column(path, column) for column in declared if column is not None]
        if not told:
            told = [self._upload(path, [Column("x" if schema is None else schema.names[0], Kind.INTEGER)])]
            self._count("no flat column", told[0])
        self._check_draft(path)
        return "; ".join(f"{what} ({number})" if number > 1 else what for what, number in Counter(told).items())

    def _check_column(self, path: Path, column: Column) -> str:
        others = [attempt(lambda read=read: read(path, column)) for read in (read_with_pyarrow, read_with_duckdb)]
        told = self._upload(path, [column])
        both = all(other is not None for other in others)
        if told:
            self._count("both read it" if both else "not both read it", told)
            if both and "fewer than two rows" not in told:
                self.faults.append(f"{path.name}, {column.name}: both read it, but it {told}")
            return told
        stored = summarise(pq.read_table(self._target).column(0).to_pylist(), column)
        agreeing = [other == stored for other in others if other is not None]
        self._count("both read it" if both else "not both read it", "is stored with the same sums")
        if not any(agreeing):
            self.faults.append(f"{path.name}, {column.name}: stored are other values: {stored} {others}"[:400])
            return "is stored with other sums"
        if not all(agreeing):
            return "is stored with the sums of pyarrow, from which DuckDB's differ"
        return "is stored with the same sums"

    def _check_draft(self, path: Path) -> None:
        try:
            draft = draft_metadata(path)
        except ValueError as error:
            self._count("draft", "is refused in a sentence")
            if not str(error).startswith(f"{path}"):
                self.faults.append(f"{path.name}: the draft fails: {error}")
        else:
            self._count("draft", "is made" if draft.columns else "is made without columns")

    def _upload(self, path: Path, columns: list[Column]) -> str:
        """Return the sentence that refuses a file; an empty one if it is stored as the target."""
        with path.open("rb") as file:
            try:
                self._reader.read_file(self._target, file, FileFormat(), columns, None, never)
            except InvalidFile as error:
                place, _, _ = error.problems[0].where.rpartition(" ")
                return f"is refused: {place or error.problems[0].where} {error.problems[0].what}"
            except EngineFailure:
                self.faults.append(f"{path.name}: the upload fails with a 503")
                return "FAILS"
        return ""

    def _count(self, group: str, told: str) -> None:
        self.outcomes[f"{group}: {told.partition(' (the first')[0]}"] += 1


def find_files(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder."""
    yield from sorted(path for path in folder.rglob("*.parquet*") if path.suffix in {".parquet", ".encrypted"})


def main() -> int:
    """Print a table of all files, and the outcomes with their number; return the number of faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="a checkout of the corpus")
    given = parser.parse_args().folder
    with TemporaryDirectory() as cloned, TemporaryDirectory() as directory:
        if given is None:
            subprocess.run(["git", "clone", "--quiet", "--depth", "1", CORPUS, cloned], check=True)  # noqa: S603, S607
        folder = given or Path(cloned)
        corpus = Corpus(Path(directory))
        print("| file | its flat columns |\n|---|---|")
        for path in find_files(folder):
            print(f"| {path.relative_to(folder)} | {corpus.check(path)} |", flush=True)
        corpus.close()
    print("\n| what | number |\n|---|---:|")
    for what, number in sorted(corpus.outcomes.items()):
        print(f"| {what} | {number} |")
    print("\n" + "\n".join(corpus.faults or ["no fault"]))
    return len(corpus.faults)


if __name__ == "__main__":
    sys.exit(min(1, main()))
