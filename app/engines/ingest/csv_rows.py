"""Split a CSV file into rows as defined by RFC 4180, and find its delimiter and its header."""

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

from app.dp.table.columns import Column
from app.dp.table.dates import parse_moment
from app.engines.errors import InvalidFile
from app.engines.ingest.file_format import DELIMITERS, FileFormat, Place
from app.engines.ingest.file_kinds import peek
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import SheetRows

MAX_IN_FIELD = 131_072
"""The maximum number of characters of a field, which is the default limit of the csv module."""

MAX_IN_ROW = 2**23
"""The maximum number of bytes of a row, including all lines that it spans. It limits the memory that a row can take."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SEP_LINE = re.compile(rb'"?sep=(.)"?\r?\n', re.IGNORECASE | re.DOTALL)
_MAX_SEP_LINE = len(_BYTE_ORDER_MARK + b'"sep=;"\r\n')
UNDEFINED_IN_WINDOWS_1252: Final = b"\x81\x8d\x8f\x90\x9d"

_CSV_ERRORS: Final = {
    "field larger": f"a field has more than {MAX_IN_FIELD:,} characters, unless a quote before it is not closed",
    "new-line character": "a carriage return (CR) is inside a line, and no quotes are around it",
    "unexpected end": "a quote is not closed",
}
_CSV_ERROR: Final = (
    "a quote is inside a field that does not begin with one, or characters follow a closing quote; a quote inside a "
    "field must be doubled"
)

_DATA_AS_HEADER = (
    "{what}. If the file has no header, list the names of all its columns in `column_names` in `format`, as they are "
    "in order; if this is the header, declare its line as `header_row` in `format`"
)


class Rows:
    """The rows of a file. `line` is the line on which the latest row begins, and `size` is its length in bytes.

    If `place` is "row", `line` is the number of the row instead, counted from 1 after the header.
    """

    def __init__(self, upload: BinaryIO, problems: Problems, delimiter: str, place: Place = "line") -> None:
        csv.field_size_limit(MAX_IN_FIELD)
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
            except csv.Error as error:
                what = next((told for start, told in _CSV_ERRORS.items() if start in str(error)), _CSV_ERROR)
                self._problems.refuse(f"{self.place} {self.line}", f"is malformed from here on: {what}")
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
            line = line.removeprefix(mark)
            if mark and self.place == "line" and _SEP_LINE.fullmatch(line):
                mark = b""
                yield "\n"  # a blank line in its place, so that lines keep their numbers
                continue
            mark = b""
            try:
                text = line.decode()
            except UnicodeDecodeError:
                self._problems.refuse(self._here(), _describe_encoding(line))
            yield text

    def _here(self) -> str:
        return f"line {self._lines_read}" if self.place == "line" else f"row {self.line}"


def read_header(rows: Rows | SheetRows, problems: Problems, form: FileFormat) -> list[str]:
    """Return the names of the columns: as declared, or from the declared line, or from the first with any text.

    Raises:
        InvalidFile: there are none.
    """
    if form.column_names:
        names = list(form.column_names)
    else:
        first = form.header_row or 1
        names = next((row for row in rows if form.place == "row" or (row and rows.line >= first)), [])
        if not names:
            problems.refuse("file", "has no header")
    if isinstance(rows, SheetRows):
        rows.width = len(names)
    return names


def _describe_encoding(line: bytes) -> str:
    """Return which encoding to declare for a line that is not UTF-8."""
    encoding = "latin-1" if {*UNDEFINED_IN_WINDOWS_1252} & {*line} else "windows-1252"
    return f"is not UTF-8: save the file as UTF-8, or declare its encoding in `format`, probably `{encoding}`"


def choose_delimiter(upload: BinaryIO, score: Callable[[Rows], Any]) -> str:
    """Return the delimiter that the file's line `sep=` names, or the one whose rows have the best score.

    It is a comma, unless another one is better. The file is rewound.
    """
    first = _SEP_LINE.match(peek(upload, _MAX_SEP_LINE).removeprefix(_BYTE_ORDER_MARK))
    if first and first[1].decode("latin-1") in DELIMITERS:
        return first[1].decode()

    def found(delimiter: str) -> tuple[bool, Any]:
        upload.seek(0)
        try:
            return True, score(Rows(upload, Problems(), delimiter))
        except InvalidFile:
            return False, 0

    delimiter = max(DELIMITERS, key=found)
    upload.seek(0)
    return delimiter


def look_like_data(numeric: Sequence[str], texts: Mapping[str, Collection[str]]) -> bool:
    """Return whether a header looks like a row of values.

    Args:
        numeric: the names of columns of numbers or dates. If there are any, they decide: all must look like values.
        texts: the texts of other columns, by their names. Otherwise one of them must have its name as a text.
    """
    present = [name.strip() for name in numeric if name.strip() not in _NULL_TEXTS]
    if present:
        return all(map(_looks_like_value, present))
    return any(name in found for name, found in texts.items())


def _looks_like_value(name: str) -> bool:
    digits = name.strip(" +-%$€£\u00a0").translate(_WITHOUT_SEPARATORS)
    return (digits.isascii() and digits.isdigit()) or parse_moment(name) is not None


_NULL_TEXTS = frozenset({"", "NA", "NaN", "null", ".", "-"})
_WITHOUT_SEPARATORS = dict.fromkeys(map(ord, ".,' \u00a0\u202f\u2019"))


def refuse_data_as_header(
    header: Sequence[str], columns: Sequence[Column], form: FileFormat, problems: Problems
) -> None:
    """Refuse a header that looks like the first row of a file without one: its values would become public names.

    Raises:
        InvalidFile: it looks like a row, and the owner has not declared otherwise.
    """
    if form.place == "row" or form.header_row or form.column_names:
        return
    if not {column.name for column in columns} <= {*header} and any(map(_looks_like_value, header)):
        problems.refuse("file", _DATA_AS_HEADER.format(what="its first line has values where names are expected"))
    texts = {column.name: column.categories for column in columns}
    if look_like_data([column.name for column in columns if column.kind.numeric], texts):
        problems.refuse("file", _DATA_AS_HEADER.format(what="the names in its first line look like values"))
