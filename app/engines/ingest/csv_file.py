"""CSV as RFC 4180 has it: UTF-8, a header, quoted fields that may span lines."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa

from app.dp.columns import Column
from app.engines.ingest.cells import CellReader
from app.engines.ingest.checks import missing_values
from app.engines.ingest.problems import Problems
from app.engines.stored import stored_schema

MOST_IN_FIELD = 131_072
"""Characters of a field, csv's own limit."""

MOST_IN_ROW = 2**23
"""Bytes of a row, and of the lines that a row spans: memory is bounded whatever is sent."""

MOST_ROWS_IN_BATCH = 4_096
MOST_BYTES_IN_BATCH = 2**22

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def csv_batches(
    upload: BinaryIO, columns: Sequence[Column], null_values: Sequence[str], problems: Problems
) -> Iterator[pa.RecordBatch]:
    """The declared columns of a CSV file, batch by batch; what is wrong goes to `problems`.

    Raises:
        InvalidFile: the file is no CSV, lacks a column, or has as many problems as are told at a time.
    """
    csv.field_size_limit(MOST_IN_FIELD)
    rows = _Rows(upload, problems)
    header = next(iter(rows), [])
    places = _places(header, columns, problems)
    readers = [CellReader(column, null_values) for column in columns]
    schema = stored_schema(columns)
    for lines, batch in _batches(rows, len(header), problems):
        arrays = []
        cells: dict[tuple[int, str], str] = {}
        for column, place, reader in zip(columns, places, readers, strict=True):
            array, unreadable = reader.read([row[place] for row in batch])
            arrays.append(array)
            found = missing_values(array, column) | unreadable
            cells.update({(row, column.name): what for row, what in found.items()})
        problems.add_cells("line", lines, cells)
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Rows:
    """The rows of a file: `line` is the line on which the latest one begins, `size` its length in bytes."""

    def __init__(self, upload: BinaryIO, problems: Problems) -> None:
        self._upload = upload
        self._problems = problems
        self._lines_read = 0
        self._reader = csv.reader(self._lines(), strict=True)
        self.line = 0
        self.size = 0

    def __iter__(self) -> Iterator[list[str]]:
        while True:
            self.line, self.size = self._lines_read + 1, 0
            try:
                row = next(self._reader, None)
            except csv.Error:
                what = "is malformed from here on: a quote out of place or left open, or a field too long"
                self._problems.refuse(f"line {self.line}", what)
            if row is None:
                return
            yield row

    def _lines(self) -> Iterator[str]:
        mark = _BYTE_ORDER_MARK
        while line := self._upload.readline(MOST_IN_ROW + 1):
            self._lines_read += 1
            self.size += len(line)
            if self.size > MOST_IN_ROW:
                self._problems.refuse(f"line {self._lines_read}", f"ends a row of more than {MOST_IN_ROW:,} bytes")
            try:
                text = line.removeprefix(mark).decode()
            except UnicodeDecodeError:
                self._problems.refuse(f"line {self._lines_read}", "is not UTF-8")
            mark = b""
            yield text


def _places(header: Sequence[str], columns: Sequence[Column], problems: Problems) -> list[int]:
    """Where in a row each declared column stands."""
    if not header:
        problems.refuse("file", "has no header")
    occurrences = Counter(header)
    for column in columns:
        if occurrences[column.name] != 1:
            times = "more than once" if occurrences[column.name] else "nowhere"
            problems.add(f"column {column.name}", f"is {times} in the header")
    problems.refuse_any()
    place = {name: i for i, name in enumerate(header)}
    return [place[column.name] for column in columns]


def _batches(rows: _Rows, width: int, problems: Problems) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Rows as wide as the header, and the lines on which they begin."""
    lines: list[int] = []
    batch: list[list[str]] = []
    size = 0
    for row in rows:
        fields = row or [""]
        if not row and width > 1:
            continue  # a blank line; in a table of one column it is a row
        if len(fields) != width:
            if batch:  # what is wrong in earlier rows comes first
                yield lines, batch
                lines, batch, size = [], [], 0
            problems.add(f"line {rows.line}", f"has {len(fields)} fields where the header has {width}")
            continue
        lines.append(rows.line)
        batch.append(fields)
        size += rows.size
        if len(batch) == MOST_ROWS_IN_BATCH or size >= MOST_BYTES_IN_BATCH:
            yield lines, batch
            lines, batch, size = [], [], 0
    if batch:
        yield lines, batch
