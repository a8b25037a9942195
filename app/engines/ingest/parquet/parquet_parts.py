"""Read several Parquet files as one table; in one file they stand one after the other."""

import io
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq

from app.dp.table.columns import Column
from app.engines.errors import InvalidFile, Problem
from app.engines.ingest.file_kinds import is_parquet
from app.engines.ingest.parquet.footer import read_row_groups
from app.engines.ingest.parquet.parquet_file import parquet_batches
from app.engines.ingest.parquet.thrift import MalformedError
from app.engines.ingest.problems import Problems

_SHOWN_NAMES = 3


class Part(NamedTuple):
    """One of the files: its name for the owner, and its size."""

    name: str
    size: int


def parts_batches(
    upload: BinaryIO, parts: Sequence[Part], columns: Sequence[Column], problems: Problems
) -> Iterator[pa.RecordBatch]:
    """Yield the declared columns of all files in batches, and add what is wrong with them to `problems`.

    Rows are counted over all files.

    Raises:
        InvalidFile: as `parquet_batches`; a file is not a Parquet file, or has other columns than the first one.
        MemoryError: as `parquet_batches`.
    """
    offset, rows = 0, 0
    first: pa.Schema | None = None
    for part in parts:
        file = cast("BinaryIO", io.BufferedReader(_Window(upload.fileno(), offset, part.size), 2**16))
        offset += part.size
        if not is_parquet(file):
            problems.refuse(f"file {part.name}", "is not a Parquet file, as all files of the table must be")
        schema = _read_schema(file)
        first = schema if first is None else first
        if schema is not None and first is not None:
            _refuse_difference(first, schema, part, [column.name for column in columns], problems)
        try:
            for batch in parquet_batches(file, columns, problems, rows + 1):
                rows += batch.num_rows
                yield batch
        except InvalidFile as error:
            raise InvalidFile([_name_file(problem, part) for problem in error.problems]) from None


def _read_schema(file: BinaryIO) -> pa.Schema | None:
    """Return the file's columns, or None if reading its rows will refuse it. It is rewound."""
    try:
        read_row_groups(file)
        return pq.ParquetFile(file, arrow_extensions_enabled=True).schema_arrow
    except MemoryError:  # Arrow's own is also an ArrowException
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, MalformedError):
        return None
    finally:
        file.seek(0)


def _refuse_difference(
    first: pa.Schema, schema: pa.Schema, part: Part, declared: Sequence[str], problems: Problems
) -> None:
    """Refuse a file that has other columns than the first one, or a declared column of another type."""
    for others, without, what in ((first, schema, "lacks"), (schema, first, "also has")):
        names = sorted(set(others.names) - set(without.names))
        if names:
            told = ", ".join(f"`{name}`" for name in names[:_SHOWN_NAMES]) + ("…" if names[_SHOWN_NAMES:] else "")
            problems.refuse(f"file {part.name}", f"has other columns than the first file: it {what} {told}")
    for name in declared:
        types = [each.field(name).type for each in (first, schema) if each.get_field_index(name) >= 0]
        values = {type_.value_type if pa.types.is_dictionary(type_) else type_ for type_ in types} - {pa.null()}
        if len(values) > 1:
            problems.refuse(f"file {part.name}, column {name}", f"is {types[1]}, and {types[0]} in the first file")


class _Window(io.RawIOBase):
    """A part of a file; several windows of one file do not disturb each other."""

    def __init__(self, descriptor: int, start: int, size: int) -> None:
        self._descriptor, self._start, self._size = descriptor, start, size
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, and return it."""
        self._position = max(0, {0: 0, 1: self._position, 2: self._size}[whence] + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer
        """Fill the buffer, and return the number of bytes, 0 at the end."""
        wanted = max(0, min(len(buffer), self._size - self._position))
        piece = os.pread(self._descriptor, wanted, self._start + self._position)
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


def _name_file(problem: Problem, part: Part) -> Problem:
    """Say which file a problem is about, unless it is about rows, which are counted over all files."""
    if problem.where == "file":
        return Problem(f"file {part.name}", problem.what)
    is_whole = problem.where.startswith("column ")
    return Problem(f"file {part.name}, {problem.where}", problem.what) if is_whole else problem
