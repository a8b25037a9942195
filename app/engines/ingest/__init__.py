"""From an upload to a stored table: the declared columns, checked value by value, in one typed Parquet file."""

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, TypeAlias

import pyarrow as pa

from app.dp.table.columns import Column, Kind
from app.engines.ingest.csv_file import CsvFormat, csv_batches
from app.engines.ingest.parquet_file import parquet_batches
from app.engines.ingest.problems import Problems

_PARQUET_MAGIC = b"PAR1", b"PARE"  # plain, encrypted

Batches: TypeAlias = Callable[[Sequence[Column], Problems], Iterator[pa.RecordBatch]]
"""The declared columns as they are stored, batch by batch; what is wrong goes to the problems."""


class Units(NamedTuple):
    """Whose rows are counted: `column` says to which unit a row belongs, and nobody has more than `most` rows.

    Where somebody has more the table is refused, unless `truncate` keeps `most` rows of each.
    """

    column: str
    most: int
    truncate: bool = False

    @property
    def declared(self) -> Column:
        """The column, as texts of which none is missing."""
        return Column(self.column, Kind.CATEGORY, nullable=False)


def batches_of(upload: BinaryIO, texts: CsvFormat) -> Batches:
    """The batches of an upload; CSV and Parquet are told apart by their first bytes.

    Iterating raises:
        InvalidFile: the file does not hold what is declared.
        OSError: it could not be read.
    """
    magic = upload.read(4)
    upload.seek(0)

    def read(columns: Sequence[Column], problems: Problems) -> Iterator[pa.RecordBatch]:
        if magic in _PARQUET_MAGIC:
            return parquet_batches(upload, columns, problems)
        return csv_batches(upload, columns, problems, texts)

    return read
