"""Read the declared columns of a CSV file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import pyarrow as pa

from app.dp.table.columns import Column
from app.engines.ingest.cells import CellReader
from app.engines.ingest.checks import find_missing_values
from app.engines.ingest.csv_rows import Rows, choose_delimiter, read_header, refuse_data_as_header
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import SheetRows
from app.engines.stored_columns import build_stored_schema
from app.spelling import suggest_name

MAX_ROWS_IN_BATCH = 4_096
MAX_BYTES_IN_BATCH = 2**22
_ROWS_OF_SAMPLE = 20
_TITLES = ": if titles stand above the header, declare its line as `header_row` in `format`"


def csv_batches(
    upload: BinaryIO,
    columns: Sequence[Column],
    problems: Problems,
    form: FileFormat,
) -> Iterator[pa.RecordBatch]:
    """Yield the declared columns of a CSV file in batches, and add what is wrong with them to `problems`.

    Raises:
        InvalidFile: the file is not a CSV, lacks a column, or has `MAX_PROBLEMS` problems.
    """
    rows = Rows(upload, problems, form.delimiter or detect_delimiter(upload, columns, form), form.place)
    yield from row_batches(rows, columns, problems, form)


def row_batches(
    rows: Rows | SheetRows, columns: Sequence[Column], problems: Problems, form: FileFormat
) -> Iterator[pa.RecordBatch]:
    """Yield the declared columns of rows of texts in batches.

    Raises:
        As `csv_batches`.
    """
    header = read_header(rows, problems, form)
    refuse_data_as_header(header, columns, form, problems)
    places = _places(header, columns, problems)
    readers = [CellReader(column, form) for column in columns]
    schema = build_stored_schema(columns)
    for lines, batch in batch_rows(rows, len(header), problems):
        arrays = []
        for column, place, reader in zip(columns, places, readers, strict=True):
            array, unreadable = reader.read([row[place] for row in batch])
            arrays.append(array)
            problems.add_cells(rows.place, lines, column.name, find_missing_values(array, column) | unreadable)
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def detect_delimiter(upload: BinaryIO, columns: Sequence[Column], form: FileFormat) -> str:
    """Return the delimiter with which the header has the most declared columns, or the first rows their number.

    It is a comma, unless another delimiter finds more. The file is rewound.
    """
    names = {column.name for column in columns}

    def score(rows: Rows) -> int:
        if form.column_names:
            return sum(len(row) == len(form.column_names) for row in islice(filter(None, rows), _ROWS_OF_SAMPLE))
        return len(names.intersection(read_header(rows, Problems(), form)))

    return choose_delimiter(upload, score)


def _places(header: Sequence[str], columns: Sequence[Column], problems: Problems) -> list[int]:
    """Return the position in a row of each declared column."""
    occurrences = Counter(header)
    for column in columns:
        if occurrences[column.name] != 1:
            missing = f"is missing from the header{suggest_name(column.name, occurrences)}"
            what = "is in the header more than once" if column.name in occurrences else missing
            problems.add(f"column {column.name}", what)
    problems.refuse_any()
    place = {name: i for i, name in enumerate(header)}
    return [place[column.name] for column in columns]


def batch_rows(rows: Rows | SheetRows, width: int, problems: Problems) -> Iterator[tuple[list[int], list[list[str]]]]:
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
            hint = _TITLES if width == 1 else ""
            problems.add_line(rows.place, rows.line, f"has {len(fields)} fields where the header has {width}{hint}")
            continue
        lines.append(rows.line)
        batch.append(fields)
        size += rows.size
        if len(batch) == MAX_ROWS_IN_BATCH or size >= MAX_BYTES_IN_BATCH:
            yield lines, batch
            lines, batch, size = [], [], 0
    if batch:
        yield lines, batch
