"""Write batches of checked values to one typed Parquet file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from app.engines.atomic_files import write_atomically
from app.engines.ingest.problems import Problems

MIN_ROWS = 2
"""A sample variance needs two rows."""

MAX_ROWS_IN_GROUP = 122_880
"""DuckDB divides row groups among its threads; this is its own default size."""

MAX_CELLS_IN_GROUP = 2**23
"""Limits the memory for a row group of a table with thousands of columns."""

MAX_BYTES_IN_GROUP = 2**26


def write_batches(target: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], problems: Problems) -> int:
    """Store the batches, which have this schema, as `target`, and count their rows.

    Raises:
        InvalidFile: there are problems, or fewer than two rows; no file remains.
        OSError: it could not be read or written; no file remains.
    """
    n = 0
    # Texts are often repeated. Numbers seldom are, and are read faster without a dictionary. Statistics are never used.
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with (
        write_atomically(target) as file,
        pq.ParquetWriter(
            file, schema, compression="snappy", use_dictionary=texts or False, write_statistics=False
        ) as writer,
    ):
        for group in _groups(batches, max(1, min(MAX_ROWS_IN_GROUP, MAX_CELLS_IN_GROUP // len(schema)))):
            writer.write_table(group, row_group_size=group.num_rows)
            n += group.num_rows
        problems.refuse_any()
        if n < MIN_ROWS:
            problems.refuse("file", "has fewer than two rows, so no statistic could be released")
    return n


def _groups(batches: Iterable[pa.RecordBatch], most_rows: int) -> Iterator[pa.Table]:
    """Combine the batches into row groups."""
    gathered: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        gathered.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= most_rows or size >= MAX_BYTES_IN_GROUP:
            yield pa.Table.from_batches(gathered)
            gathered, rows, size = [], 0, 0
    if gathered:
        yield pa.Table.from_batches(gathered)
