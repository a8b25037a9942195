"""From an upload to a stored table: the declared columns, checked value by value, in one typed Parquet file."""

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, TypeAlias

import pyarrow as pa

from app.dp.table.columns import Column, Kind
from app.engines.ingest.csv_file import csv_batches, row_batches
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.file_kinds import describe_foreign_kind, is_parquet
from app.engines.ingest.parquet.parquet_file import parquet_batches
from app.engines.ingest.plain_streams import UnreadableStreamError, open_plain
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import SheetRows, is_workbook

Batches: TypeAlias = Callable[[Sequence[Column], Problems], Iterator[pa.RecordBatch]]
"""Yields the declared columns in batches, in their stored types, and adds what is wrong with them to the problems."""


class LargeUnits(NamedTuple):
    """The number of units with too many rows, and the number of rows of the largest unit."""

    units: int
    most_rows: int


class Units(NamedTuple):
    """The units of a table: `column` holds each row's unit, and no unit may have more than `most` rows.

    A table in which a unit has more rows is refused, unless `truncate` keeps only `most` rows of each unit.
    """

    column: str
    most: int
    truncate: bool = False

    @property
    def declared(self) -> Column:
        """The unit column, declared as texts without missing values."""
        return Column(self.column, Kind.CATEGORY, nullable=False)


def batches_of(upload: BinaryIO, form: FileFormat) -> Batches:
    """Return a function that reads an upload in batches. Its content shows which kind of file it is.

    A CSV may be compressed with gzip or zstd, and in another encoding than UTF-8.

    Iterating raises:
        InvalidFile: the file does not match the declaration.
        OSError: it could not be read.
    """

    def read(columns: Sequence[Column], problems: Problems) -> Iterator[pa.RecordBatch]:
        try:
            plain = open_plain(upload, form.encoding)
            if is_workbook(plain):
                _refuse_members(form, ("encoding",), problems)
                yield from row_batches(SheetRows(plain, form, problems), columns, problems, form)
                return
            if what := describe_foreign_kind(plain):
                problems.refuse("file", what)
            if is_parquet(plain):
                _refuse_text_members(columns, form, problems)
                yield from parquet_batches(plain, columns, problems)
            else:
                _refuse_members(form, ("sheet",), problems)
                yield from csv_batches(plain, columns, problems, form)
        except UnreadableStreamError as error:
            problems.refuse("file", str(error))

    return read


def _refuse_members(form: FileFormat, members: Sequence[str], problems: Problems) -> None:
    """Refuse members of the format that mean nothing in this kind of file."""
    for name in members:
        if name in form.declared:
            problems.refuse("format", f"`{name}` means nothing in this kind of file: leave it out")


def _refuse_text_members(columns: Sequence[Column], form: FileFormat, problems: Problems) -> None:
    """Refuse declarations about texts for a file whose columns have types."""
    if form.declared:
        problems.add("format", f"its members {_ONLY_TEXTS}")
    for column in columns:
        if column.true_values or column.false_values or column.symbols:
            problems.add(f"column {column.name}", f"`true_values`, `false_values` and `symbols` {_ONLY_TEXTS}")
    problems.refuse_any()


_ONLY_TEXTS = "are for text files and workbooks: a Parquet file has types, so leave them out"
