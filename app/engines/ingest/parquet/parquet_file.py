"""Read Parquet files from any writer."""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from app.dp.table.columns import Column, Kind
from app.engines.ingest.arrays import to_stored_array, unsuitable_type
from app.engines.ingest.checks import find_missing_values
from app.engines.ingest.parquet.footer import TooLargeError, read_row_groups
from app.engines.ingest.parquet.page_sizes import examine_pages
from app.engines.ingest.parquet.thrift import MalformedError
from app.engines.ingest.problems import Problems
from app.engines.stored_columns import build_stored_schema
from app.spelling import suggest_name

MAX_ROWS = 2**32
"""Repeated values take almost no space in Parquet: a file of a kilobyte can have more rows than can ever be read."""

MAX_BYTES_IN_CHUNK = 2**30
"""The maximum size of a column in a row group, decompressed, on average over the columns."""

MAX_BYTES_IN_PAGES = 2**30
"""The maximum size, according to their headers, of a page and the dictionary of every declared column together."""

MAX_ROWS_IN_BATCH = 16_384
MAX_CELLS_IN_BATCH = 2**22
_MAX_ROWS_OF_DELTA_TEXTS = 1_024  # each may repeat a long one, and none is in a dictionary

_MAX_BYTES_IN_READER = 2**24
"""Opening a reader takes 0.3 ms, which is much for a small row group."""

_UNREADABLE = "is not a readable Parquet file: it is truncated, damaged, encrypted or of an unknown format"


def parquet_batches(
    upload: BinaryIO, columns: Sequence[Column], problems: Problems, first: int = 1
) -> Iterator[pa.RecordBatch]:
    """Yield the declared columns of a Parquet file in batches, and add what is wrong with them to `problems`.

    `first` is the number of the first row.

    Raises:
        InvalidFile: the file is not a Parquet file, lacks a column, has one of the wrong type, or has `MAX_PROBLEMS`
            problems.
        MemoryError: it takes more memory than is available.
    """
    schema = build_stored_schema(columns)
    for batch in _batches(upload, columns, problems):
        arrays = []
        numbers = range(first, first + batch.num_rows)
        for column in columns:
            array, unreadable = to_stored_array(batch.column(column.name), column)
            arrays.append(array)
            problems.add_cells("row", numbers, column.name, find_missing_values(array, column) | unreadable)
        first += batch.num_rows
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _batches(upload: BinaryIO, columns: Sequence[Column], problems: Problems) -> Iterator[pa.RecordBatch]:
    """Yield the file's batches, validated: a text that is not UTF-8 would make queries fail later."""
    try:
        row_groups = read_row_groups(upload)
        file = pq.ParquetFile(upload, arrow_extensions_enabled=True)
        _check_schema(file.schema_arrow, columns, problems)
        _check_sizes(file.metadata, problems)
        names = dict.fromkeys(column.name for column in columns)
        pages = examine_pages(upload, row_groups, names)
        del row_groups
        if pages.most_bytes > MAX_BYTES_IN_PAGES:
            problems.refuse("file", "has pages that are too large: write smaller ones")
        categories = {column.name for column in columns if column.kind is Kind.CATEGORY}
        # Texts stay dictionary-encoded, so that a long one that is repeated a million times is in memory once.
        texts = [name for name in names if name in categories and name not in pages.delta_texts]
        file = pq.ParquetFile(
            upload,
            metadata=file.metadata,
            read_dictionary=texts,
            buffer_size=2**20,
            pre_buffer=False,
            arrow_extensions_enabled=True,  # for UUIDs
            coerce_int96_timestamp_unit="s",  # in nanoseconds, years before 1678 and after 2262 would be others
            page_checksum_verification=True,  # where there are checksums
        )
        rows = _MAX_ROWS_OF_DELTA_TEXTS if pages.delta_texts & categories else MAX_ROWS_IN_BATCH
        size = max(1, min(rows, MAX_CELLS_IN_BATCH // len(columns)))
        for groups in _combine_groups(pages.bytes_by_group):
            for batch in file.iter_batches(batch_size=size, columns=[*names], row_groups=groups):
                batch.validate(full=True)
                yield batch
    except TooLargeError as error:
        problems.refuse("file", str(error))
    except MemoryError:  # Arrow's own is also an ArrowException
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, MalformedError):
        problems.refuse("file", _UNREADABLE)


def _combine_groups(bytes_by_group: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of row groups that one of Arrow's readers reads: it keeps the dictionaries of all of them."""
    together: list[int] = []
    total = 0
    for number, claimed in enumerate(bytes_by_group):
        if together and total + claimed > _MAX_BYTES_IN_READER:
            yield together
            together, total = [], 0
        together.append(number)
        total += claimed
    if together:
        yield together


def _check_schema(schema: pa.Schema, columns: Sequence[Column], problems: Problems) -> None:
    for column in columns:
        found = schema.get_all_field_indices(column.name)
        if len(found) != 1:
            missing = f"is missing from the file{suggest_name(column.name, schema.names)}"
            problems.add(f"column {column.name}", "is in the file more than once" if found else missing)
        elif what := unsuitable_type(schema.field(found[0]).type, column):
            problems.add(f"column {column.name}", what)
    problems.refuse_any()


def _check_sizes(metadata: pq.FileMetaData, problems: Problems) -> None:
    """Refuse a file that would not fit into memory or would take too long.

    The metadata of single columns is not used: if it is damaged, pyarrow 26 crashes the process.
    """
    if metadata.num_rows > MAX_ROWS:
        problems.refuse("file", f"has too many rows: at most {MAX_ROWS:,} are allowed")
    most = MAX_BYTES_IN_CHUNK * metadata.num_columns
    if any(metadata.row_group(i).total_byte_size > most for i in range(metadata.num_row_groups)):
        problems.refuse("file", "has row groups that are too large: write smaller ones")
