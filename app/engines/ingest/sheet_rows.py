"""Read the rows of a sheet of an Excel workbook (.xlsx) as texts. docs/decisions says how, and which reader."""

import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO, Final, cast

import python_calamine
from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.file_kinds import ZIP, peek
from app.engines.ingest.plain_streams import FREE_PLAIN_BYTES, MAX_RATIO
from app.engines.ingest.problems import Problems

MAX_MEMBERS = 10_000
"""The maximum number of files inside a workbook; one with hundreds of sheets has fewer."""

_WORKBOOK: Final = "xl/workbook.xml"
_SHOWN_SHEETS = 10
_SHOWN_CHARACTERS = 31  # the longest name that Excel allows
_MOST_EXACT = 2**53
_DIGITS = 15

_DAMAGED: Final = "is not a readable Excel workbook: it is truncated, damaged or protected by a password"


def is_workbook(file: BinaryIO) -> bool:
    """Return whether a file is a workbook of Excel 2007 or later. It is rewound."""
    if peek(file, len(ZIP)) != ZIP:
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return _WORKBOOK in archive.NameToInfo
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        return False
    finally:
        file.seek(0)


class SheetRows:
    """The rows of a sheet that are not empty, as texts. `line` is the number of the latest row, and `size` its length.

    Every row has `width` texts, or all up to the last that is not empty if there are more or `width` is 0.

    Args:
        file: the workbook.
        form: says which sheet, and how a text spells a number.
        problems: takes what is wrong with the workbook.

    Raises:
        InvalidFile: it cannot be read, or has several sheets of which none is declared.
    """

    place: Final = "row"

    def __init__(self, file: BinaryIO, form: FileFormat, problems: Problems) -> None:
        self.line = self.size = self.width = 0
        self._problems = problems
        self._decimal = form.decimal
        _check_sizes(file, problems)
        sheet = self._run(lambda: _open_sheet(file, form, problems))
        self._rows = self._run(sheet.iter_rows)

    def __iter__(self) -> Iterator[list[str]]:
        while (row := self._run(lambda: next(self._rows, None))) is not None:
            self.line += 1
            texts = [self._to_text(value) for value in row]
            while texts and not texts[-1]:
                texts.pop()
            if texts:
                self.size = sum(map(len, texts))
                yield texts + [""] * (self.width - len(texts))

    def _to_text(self, value: Any) -> str:  # noqa: ANN401 - of any type that a cell may have
        if isinstance(value, str):
            return value
        if isinstance(value, float):
            return _spell(value).replace(".", self._decimal)
        return _TEXTS[type(value)](value)

    def _run(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the call returns
        """Return what a call of the reader returns.

        Raises:
            InvalidFile: it cannot read the workbook.
        """
        try:
            return call()
        except (CalamineError, OverflowError):
            return self._problems.refuse("file", _DAMAGED)
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of the reader's language, which exports no class for it
                raise
            return self._problems.refuse("file", _DAMAGED)


def _spell(number: float) -> str:
    """Return a whole number of at most 2⁵³ as it is, and any other with 15 significant digits, as Excel shows it."""
    if number.is_integer() and abs(number) <= _MOST_EXACT:
        return str(int(number))
    return f"{number:.{_DIGITS}g}"


_TEXTS: Final[dict[type, Callable[[Any], str]]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    date: date.isoformat,
    datetime: lambda value: datetime.isoformat(value.replace(microsecond=0)),
    time: lambda value: time.isoformat(value.replace(microsecond=0)),
    timedelta: str,
}


def _check_sizes(file: BinaryIO, problems: Problems) -> None:
    """Refuse a workbook whose content is much larger than the file."""
    size = file.seek(0, 2)
    most = FREE_PLAIN_BYTES + MAX_RATIO * size
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    file.seek(0)
    if len(members) > MAX_MEMBERS:
        problems.refuse("file", f"is a workbook of more than {MAX_MEMBERS:,} files: save it again with one sheet")
    if sum(member.file_size for member in members) > most:
        problems.refuse("file", f"is a workbook of more than {most:,} bytes when it is decompressed: save it as CSV")


def _open_sheet(file: BinaryIO, form: FileFormat, problems: Problems) -> python_calamine.CalamineSheet:
    workbook = CalamineWorkbook.from_filelike(cast("Any", file))
    sheets = [sheet for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    names = [sheet.name for sheet in sheets]
    shown = ", ".join(f"`{name[:_SHOWN_CHARACTERS]}`" for name in names[:_SHOWN_SHEETS])
    more = f" and {len(names) - _SHOWN_SHEETS:,} more" if len(names) > _SHOWN_SHEETS else ""
    if isinstance(form.sheet, int):
        names = names[form.sheet - 1 : form.sheet]
    elif form.sheet is not None:
        names = [name for name in names if name == form.sheet]
    else:
        names = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible]
    if len(names) != 1:
        what = "has no such sheet" if form.sheet is not None else f"has {len(names)} visible sheets"
        problems.refuse("file", f"{what}: declare as `sheet` in `format`, or draft with --sheet, one of {shown}{more}")
    return workbook.get_sheet_by_name(names[0])
