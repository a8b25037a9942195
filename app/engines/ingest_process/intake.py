"""Write checked rows to a stored table. If units are counted, the rows are first written to another file."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import uuid4

import pyarrow as pa

from app.dp.table.columns import Column
from app.engines.backends.duckdb_engine import DuckDBEngine
from app.engines.ingest import Batches, LargeUnits, Units, batches_of
from app.engines.ingest.csv_file import csv_batches
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.parquet.parquet_parts import Part, parts_batches
from app.engines.ingest.problems import Problems
from app.engines.stored_columns import UNIT, build_stored_schema
from app.engines.stored_file.writer import write_batches


class Counting(NamedTuple):
    """What is needed to count units: a directory that the engine can read, and a function that opens the engine."""

    scratch: Path
    open_engine: Callable[[], DuckDBEngine]


def ingest_file(  # noqa: PLR0913, PLR0917 - what a file is and how it is declared
    counting: Counting,
    target: Path,
    upload: BinaryIO,
    form: FileFormat,
    columns: Sequence[Column],
    units: Units | None,
) -> tuple[int, str]:
    """Store the declared columns of a file as `target`; return the row count and the SHA-256 of the file.

    Raises:
        As `store_batches`.
    """
    upload.seek(0)
    digest = file_digest(upload, "sha256").hexdigest()  # type: ignore[arg-type]  # a file, in whatever class
    upload.seek(0)
    return store_batches(counting, target, batches_of(upload, form), columns, units), digest


def ingest_stream(  # noqa: PLR0913, PLR0917 - as above
    counting: Counting,
    target: Path,
    stream: BinaryIO,
    form: FileFormat,
    columns: Sequence[Column],
    units: Units | None,
) -> int:
    """Store the declared columns of a CSV that can be read only once as `target`; return the row count.

    Raises:
        As `store_batches`.
    """
    return store_batches(counting, target, partial(csv_batches, stream, form=form), columns, units)


def ingest_parts(  # noqa: PLR0913, PLR0917 - as above
    counting: Counting,
    target: Path,
    upload: BinaryIO,
    parts: Sequence[Part],
    columns: Sequence[Column],
    units: Units | None,
) -> int:
    """Store the declared columns of Parquet files, which stand one after the other in `upload`; return the row count.

    Raises:
        As `store_batches`.
    """
    return store_batches(counting, target, partial(parts_batches, upload, parts), columns, units)


def store_batches(
    counting: Counting,
    target: Path,
    batches: Batches,
    columns: Sequence[Column],
    units: Units | None,
) -> int:
    """Store the declared columns as `target`, with their codes and, beside it, their sums; return the row count.

    If this raises, no file remains.

    Raises:
        InvalidFile: the columns do not match the declaration, or a unit has too many rows.
        MemoryError: they take too much memory.
        EngineFailure, OSError: they could not be read or written.
    """
    problems, schema = Problems(), build_stored_schema(columns)
    if units is None:
        return write_batches(target, schema, batches(columns, problems), problems, columns)
    with_units = schema.append(pa.field(UNIT, pa.string()))
    staged = counting.scratch / f"{uuid4().hex}.parquet"
    try:
        rows = _name_stored_columns(batches([*columns, units.declared], problems), with_units)
        n = write_batches(staged, with_units, rows, problems)
        engine = counting.open_engine()
        if not units.truncate:
            refuse_units_over(engine.find_large_units(staged, units.most), units)
        most = units.most if units.truncate else n
        return write_batches(target, schema, engine.rows_of_units(staged, schema, most), problems, columns)
    finally:
        staged.unlink(missing_ok=True)


def refuse_units_over(found: LargeUnits, units: Units) -> None:
    """Refuse a table in which some units have too many rows.

    Raises:
        InvalidFile: there are such units. The problem says how many, and how many rows the largest has.
    """
    if found.units:
        told = "1 unit has" if found.units == 1 else f"{found.units:,} units have"
        what = (
            f"{told} more than {units.most:,} rows (`rows_per_unit`), and the largest has {found.most_rows:,}: "
            "raise `rows_per_unit`, or set `truncate`"
        )
        Problems().refuse(f"column {units.column}", what)


def _name_stored_columns(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
