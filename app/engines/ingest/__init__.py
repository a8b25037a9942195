"""From an upload to a stored table: the declared columns, checked value by value, in one typed Parquet file."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from app.dp.columns import Column
from app.engines.ingest.csv_file import csv_batches
from app.engines.ingest.parquet_file import parquet_batches
from app.engines.ingest.problems import Problems
from app.engines.ingest.writer import write_batches

_PARQUET_MAGIC = b"PAR1", b"PARE"  # plain, encrypted


def ingest(upload: BinaryIO, columns: Sequence[Column], null_values: Sequence[str], target: Path) -> int:
    """Store the declared columns of an upload as `target`, and count its rows.

    CSV and Parquet are told apart by their first bytes. `null_values` are the texts that mean a missing value in a CSV.

    Raises:
        InvalidFile: the file does not hold what is declared; nothing is left behind.
        OSError: it could not be read or written; nothing is left behind.
    """
    problems = Problems()
    magic = upload.read(4)
    upload.seek(0)
    if magic in _PARQUET_MAGIC:
        batches = parquet_batches(upload, columns, problems)
    else:
        batches = csv_batches(upload, columns, null_values, problems)
    return write_batches(target, columns, batches, problems)
