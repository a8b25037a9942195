"""Detect the format of a text file, and draft its columns. The texts are read as an upload reads them."""

import codecs
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from app.engines.errors import InvalidFile
from app.engines.ingest.csv_file import batch_rows
from app.engines.ingest.csv_rows import UNDEFINED_IN_WINDOWS_1252, Rows, choose_delimiter, look_like_data, read_header
from app.engines.ingest.drafting.text_profile import COMMAS, NULL_VALUES, POINTS, Spelling, TextProfile
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.plain_streams import open_plain
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import SheetRows, is_workbook

NO_KIND = "looks like names, remarks, times or a constant"
AMBIGUOUS_DATES = "has dates whose day and month cannot be told apart: declare `date_order` (--date-order)"

CheckNames: TypeAlias = Callable[[Sequence[str]], None]
"""Refuses a file whose columns have too many or too long names, before the work for each of them."""

_PIECE_BYTES = 2**20


class TextDraft(NamedTuple):
    """The format of a text file, its header, and a declaration of each column, or why it has none."""

    form: FileFormat
    header: list[str]
    columns: list[dict[str, Any] | str]


def draft_texts(file: BinaryIO, form: FileFormat, check: CheckNames, *, has_header: bool) -> TextDraft:
    """Draft the columns of a text file, and complete what is known of its format.

    `check` is called with the names of the columns before any of them is examined.

    Raises:
        InvalidFile: a row has more or fewer fields than the header, or the header looks like a row of values.
    """
    plain = _open(file, form)
    of_sheet = is_workbook(plain)
    if not of_sheet:
        if form.encoding is None:
            form = replace(form, encoding=_detect_encoding(plain))
            plain = _open(file, form)
        form = replace(form, delimiter=form.delimiter or _guess_delimiter(plain, form, has_header=has_header))
    if not has_header:
        first = next(filter(None, _open_rows(file, form, Problems())), [])
        form = replace(form, column_names=tuple(f"column_{place}" for place in range(1, len(first) + 1)))
    header, profiles = _profile(file, form, check)
    spelling = _choose_spelling(profiles, POINTS if of_sheet else _list_spellings(form))
    order = form.date_order or _choose_order(profiles)
    columns = [
        AMBIGUOUS_DATES if order is None and profile.date_orders() else profile.draft(spelling, order) or NO_KIND
        for profile in profiles
    ]
    _refuse_data_as_header(header, profiles, columns, form)
    drafted = [profile for profile, column in zip(profiles, columns, strict=True) if isinstance(column, dict)]
    nulls = set[str]().union(*(profile.null_values for profile in drafted))
    categories = [
        profile
        for profile, column in zip(profiles, columns, strict=True)
        if isinstance(column, dict) and column["kind"] == "category"
    ]
    form = replace(
        form,
        null_values=(*NULL_VALUES, *sorted(nulls)),
        decimal=spelling.decimal,
        thousands=spelling.thousands,
        date_order=order,
        strip=True if any(profile.has_blanks for profile in categories) else None,
    )
    return TextDraft(form, header, columns)


def _open(file: BinaryIO, form: FileFormat) -> BinaryIO:
    file.seek(0)
    return open_plain(file, form.encoding)


def _open_rows(file: BinaryIO, form: FileFormat, problems: Problems) -> Rows | SheetRows:
    plain = _open(file, form)
    return SheetRows(plain, form, problems) if is_workbook(plain) else Rows(plain, problems, form.delimiter or ",")


def _detect_encoding(plain: BinaryIO) -> str | None:
    """Return the encoding to declare for a file that is not UTF-8; None for UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf_8, undefined = True, False
    while piece := plain.read(_PIECE_BYTES):
        if is_utf_8:
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                is_utf_8 = False
        undefined = undefined or len(piece.translate(None, UNDEFINED_IN_WINDOWS_1252)) < len(piece)
    if is_utf_8:
        return None
    return "latin-1" if undefined else "windows-1252"


def _guess_delimiter(plain: BinaryIO, form: FileFormat, *, has_header: bool) -> str:
    """Return the delimiter that splits the first row into the most fields.

    One that splits it and the next row into the same number of fields, at least two, is preferred. In a file without a
    header, one that leaves no other delimiter inside a field is too, since a comma may be in numbers.
    """

    def width(rows: Rows) -> tuple[bool, bool, int]:
        first = read_header(rows, Problems(), form)
        try:
            row: Sequence[str] = next(filter(None, rows), [])
        except InvalidFile:  # reported below, when the whole file is read
            row = []
        is_clean = has_header or not any(each in field for field in first for each in (";", "\t", "|"))
        return len(first) == len(row) > 1, is_clean, len(first)

    return choose_delimiter(plain, width)


def _profile(file: BinaryIO, form: FileFormat, check: CheckNames) -> tuple[list[str], list[TextProfile]]:
    problems = Problems()
    rows = _open_rows(file, form, problems)
    header = read_header(rows, problems, form)
    check(header)
    profiles = [TextProfile() for _ in header]
    for _, batch in batch_rows(rows, len(header), problems):
        for profile, texts in zip(profiles, zip(*batch, strict=True), strict=True):
            profile.add(texts)
    problems.refuse_any()
    return header, profiles


def _refuse_data_as_header(
    header: Sequence[str],
    profiles: Sequence[TextProfile],
    columns: Sequence[dict[str, Any] | str],
    form: FileFormat,
) -> None:
    """Refuse a header of values: numbers or dates above numbers or dates, or a text that its column has too."""
    if form.header_row is not None or form.column_names:
        return
    named = list(zip(header, profiles, columns, strict=True))
    numeric = [name for name, _, column in named if isinstance(column, dict) and "bounds" in column]
    texts = {
        name: column["categories"] for name, _, column in named if isinstance(column, dict) and "categories" in column
    }
    constant = [name for name, profile, column in named if isinstance(column, str) and profile.is_value()]
    if look_like_data(numeric, texts) or look_like_data([*numeric, *constant], {}):
        what = (
            "its first line has values like the lines below it, and would become public as names. If it is a row, set "
            "`has_header` to false (--no-header), and name the columns in `column_names` in `format`; if it is the "
            "header, set `header_row` to 1 (--header-row 1)"
        )
        Problems().refuse("file", what)


def _list_spellings(form: FileFormat) -> list[Spelling]:
    """Return all spellings: a semicolon between fields speaks for a decimal comma, and anything else for a point."""
    return [POINTS[0], *COMMAS, *POINTS[1:]] if form.delimiter == ";" else [*POINTS, *COMMAS]


def _choose_spelling(profiles: Sequence[TextProfile], order: Sequence[Spelling]) -> Spelling:
    """Return the first spelling in which the most columns are numbers."""
    readable = [profile.spellings() for profile in profiles]
    return max(order, key=lambda spelling: sum(spelling in each for each in readable))


def _choose_order(profiles: Sequence[TextProfile]) -> str | None:
    """Return the order of day, month and year that some column's dates must have, and all others can have.

    Where a column's dates can be read in both orders, and nothing else decides, none is chosen: a guess would be wrong
    without anybody's notice.
    """
    readable = [orders for profile in profiles if (orders := profile.date_orders())]
    common = set.intersection(*readable) if readable else set()
    return next(iter(common)) if len(common) == 1 else None
