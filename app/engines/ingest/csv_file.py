"""Read CSV as defined by RFC 4180: UTF-8, a header, and quoted fields that may span lines."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

import pyarrow as pa

from app.dp.table.columns import Column
from app.engines.errors import InvalidFile
from app.engines.ingest.cells import CellReader
from app.engines.ingest.checks import find_missing_values
from app.engines.ingest.problems import Problems
from app.engines.stored_columns import build_stored_schema
from app.spelling import suggest_name

MAX_IN_FIELD = 131_072
"""The maximum number of characters of a field, which is the default limit of the csv module."""

MAX_IN_ROW = 2**23
"""The maximum number of bytes of a row, including all lines that it spans. It limits the memory that a row can take."""

DELIMITERS = (",", ";", "\t", "|")

MAX_ROWS_IN_BATCH = 4_096
MAX_BYTES_IN_BATCH = 2**22

Place: TypeAlias = Literal["line", "row"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """The format of a CSV file.

    Attributes:
        null_values: the texts that mean a missing value.
        delimiter: the text between two fields; None to detect it from the header.
        place: whether problems name lines or rows: rows for a stream, because its owner never sees its lines.
    """

    null_values: Sequence[str] = ()
    delimiter: str | None = None
    place: Place = "line"


def csv_batches(
    upload: BinaryIO,
    columns: Sequence[Column],
    problems: Problems,
    texts: CsvFormat,
) -> Iterator[pa.RecordBatch]:
    """Yield the declared columns of a CSV file in batches, and add what is wrong with them to `problems`.

    Raises:
        InvalidFile: the file is not a CSV, lacks a column, or has `MAX_PROBLEMS` problems.
    """
    csv.field_size_limit(MAX_IN_FIELD)
    rows = _Rows(upload, problems, texts.delimiter or detect_delimiter(upload, columns), texts.place)
    header = next(iter(rows), [])
    places = _places(header, columns, problems)
    readers = [CellReader(column, texts.null_values) for column in columns]
    schema = build_stored_schema(columns)
    for lines, batch in _batches(rows, len(header), problems):
        arrays = []
        for column, place, reader in zip(columns, places, readers, strict=True):
            array, unreadable = reader.read([row[place] for row in batch])
            arrays.append(array)
            problems.add_cells(texts.place, lines, column.name, find_missing_values(array, column) | unreadable)
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def detect_delimiter(upload: BinaryIO, columns: Sequence[Column]) -> str:
    """Return the delimiter with which the header contains the most declared columns.

    It is a comma, unless another delimiter finds more. The file is rewound.
    """
    names = {column.name for column in columns}
    return _best_delimiter(upload, lambda rows: len(names.intersection(next(rows, ()))))


class UndeclaredCsv(NamedTuple):
    """The format of a CSV file without any declaration."""

    delimiter: str
    header: list[str]


def examine_undeclared(upload: BinaryIO) -> UndeclaredCsv:
    """Return the header of a file, and the delimiter that splits it into the most fields.

    A delimiter that splits the header and the next row into the same number of fields, at least two, is preferred.

    Raises:
        InvalidFile: the file is not a CSV, or a row has more or fewer fields than the header.
    """

    def width(rows: Iterator[list[str]]) -> tuple[bool, int]:
        present = filter(None, rows)
        header = next(present, [])
        try:
            row = next(present, [])
        except InvalidFile:  # reported below, when the whole file is read
            row = []
        return len(header) == len(row) > 1, len(header)

    delimiter = _best_delimiter(upload, width)
    problems = Problems()
    rows = _Rows(upload, problems, delimiter)
    header = next(iter(rows), [])
    if not header:
        problems.refuse("file", "has no header")
    for _ in _batches(rows, len(header), problems):
        pass
    problems.refuse_any()
    upload.seek(0)
    return UndeclaredCsv(delimiter, header)


def _best_delimiter(upload: BinaryIO, score: Callable[[Iterator[list[str]]], Any]) -> str:
    """Return the delimiter with the best score: a comma, unless another one is better. Rewind the file."""
    csv.field_size_limit(MAX_IN_FIELD)

    def found(delimiter: str) -> tuple[bool, Any]:
        upload.seek(0)
        try:
            return True, score(iter(_Rows(upload, Problems(), delimiter)))
        except InvalidFile:
            return False, 0

    delimiter = max(DELIMITERS, key=found)
    upload.seek(0)
    return delimiter


class _Rows:
    """The rows of a file. `line` is the line on which the latest row begins, and `size` is its length in bytes.

    If `place` is "row", `line` is the number of the row instead, counted from 1 after the header.
    """

    def __init__(self, upload: BinaryIO, problems: Problems, delimiter: str, place: Place = "line") -> None:
        self._upload = upload
        self._problems = problems
        self.place = place
        self._lines_read = 0
        self._rows_read = -1
        self._reader = csv.reader(self._lines(), delimiter=delimiter, strict=True)
        self.line = 0
        self.size = 0

    def __iter__(self) -> Iterator[list[str]]:
        while True:
            self._rows_read += 1
            self.line = self._lines_read + 1 if self.place == "line" else self._rows_read
            self.size = 0
            try:
                row = next(self._reader, None)
            except csv.Error:
                what = "is malformed from here on: a quote is misplaced or not closed, or a field is too long"
                self._problems.refuse(f"{self.place} {self.line}", what)
            if row is None:
                return
            yield row

    def _lines(self) -> Iterator[str]:
        mark = _BYTE_ORDER_MARK
        while line := self._upload.readline(MAX_IN_ROW + 1):
            self._lines_read += 1
            self.size += len(line)
            if self.size > MAX_IN_ROW:
                self._problems.refuse(
                    self._here(), f"ends a row that is too long: at most {MAX_IN_ROW:,} bytes are allowed"
                )
            try:
                text = line.removeprefix(mark).decode()
            except UnicodeDecodeError:
                self._problems.refuse(self._here(), "is not UTF-8")
            mark = b""
            yield text

    def _here(self) -> str:
        return f"line {self._lines_read}" if self.place == "line" else f"row {self.line}"


def _places(header: Sequence[str], columns: Sequence[Column], problems: Problems) -> list[int]:
    """Return the position in a row of each declared column."""
    if not header:
        problems.refuse("file", "has no header")
    occurrences = Counter(header)
    for column in columns:
        if occurrences[column.name] != 1:
            missing = f"is missing from the header{suggest_name(column.name, occurrences)}"
            what = "is in the header more than once" if column.name in occurrences else missing
            problems.add(f"column {column.name}", what)
    problems.refuse_any()
    place = {name: i for i, name in enumerate(header)}
    return [place[column.name] for column in columns]


def _batches(rows: _Rows, width: int, problems: Problems) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield batches of the rows that have as many fields as the header, with the numbers of their lines."""
    lines: list[int] = []
    batch: list[list[str]] = []
    size = 0
    for row in rows:
        fields = row or [""]
        if not row and width > 1:
            continue  # a blank line; in a table of one column it is a row with an empty field
        if len(fields) != width:
            if batch:  # first report the problems of earlier rows
                yield lines, batch
                lines, batch, size = [], [], 0
            problems.add_line(rows.place, rows.line, f"has {len(fields)} fields where the header has {width}")
            continue
        lines.append(rows.line)
        batch.append(fields)
        size += rows.size
        if len(batch) == MAX_ROWS_IN_BATCH or size >= MAX_BYTES_IN_BATCH:
            yield lines, batch
            lines, batch, size = [], [], 0
    if batch:
        yield lines, batch
