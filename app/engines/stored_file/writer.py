"""Write batches of checked values to one typed Parquet file."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from app.dp.table.columns import Column
from app.engines.atomic_files import write_atomically
from app.engines.ingest.problems import Problems
from app.engines.prepared_sums import write_prepared
from app.engines.stored_columns import build_stored_schema
from app.engines.stored_file.code_columns import CodeColumns

MIN_ROWS = 2
"""A sample variance needs two rows."""

MAX_ROWS_IN_GROUP = 122_880
"""DuckDB divides row groups among its threads; this is its own default size."""

MAX_ROWS_IN_BATCH = 16_384

MAX_CELLS_IN_GROUP = 2**23
"""Limits the memory for a row group of a table with thousands of columns."""

MAX_BYTES_IN_GROUP = 2**26


def write_batches(
    target: Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    problems: Problems,
    prepared: Sequence[Column] = (),
) -> int:
    """Store the batches, which have this schema, as `target`, and count their rows.

    Of the columns `prepared` it also stores the codes, and the sums in a file beside `target`.

    Raises:
        InvalidFile: there are problems, or fewer than two rows; no file remains.
        OSError: it could not be read or written; no file remains.
    """
    n = 0
    code_columns = CodeColumns(prepared)
    written = pa.schema([*schema, *code_columns.fields])
    with (
        write_atomically(target) as file,
        pq.ParquetWriter(
            file,
            written,
            compression="snappy",
            write_statistics=False,  # they would tell values, and are never used
            **_choose_encodings(written),
        ) as writer,
    ):
        for group in _groups(batches, max(1, min(MAX_ROWS_IN_GROUP, MAX_CELLS_IN_GROUP // len(written)))):
            writer.write_table(code_columns.add(group), row_group_size=group.num_rows)
            n += group.num_rows
        problems.refuse_any()
        if n < MIN_ROWS:
            problems.refuse("file", "has fewer than two rows, so no statistic could be released")
        if prepared:
            write_prepared(target, code_columns.finish())
    return n


def read_stored(table: Path, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    """Yield the values of a stored table in batches.

    Raises:
        OSError, pa.ArrowException: the table is gone or cannot be read.
    """
    names = build_stored_schema(columns).names
    with pq.ParquetFile(table) as file:
        for batch in file.iter_batches(batch_size=MAX_ROWS_IN_BATCH, columns=names):
            yield batch.select(names)


def _choose_encodings(schema: pa.Schema) -> dict[str, Any]:
    """Return the encodings of the columns, which their types and declarations alone decide.

    Texts are often repeated, and so are places: they get a dictionary. Whole numbers are stored as differences in as
    few bits as they need, which takes less space and time than 64 bits each. Doubles, and codes of 31 bits, are plain.
    """
    places = {pa.uint8(), pa.uint16()}
    repeated = [field.name for field in schema if pa.types.is_string(field.type) or field.type in places]
    whole = [field.name for field in schema if pa.types.is_int64(field.type)]
    return {
        "use_dictionary": repeated or False,
        "column_encoding": dict.fromkeys(whole, "DELTA_BINARY_PACKED") or None,
    }


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
