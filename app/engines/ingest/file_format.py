"""How the texts of a file are to be read, as its owner declares it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

DELIMITERS = (",", ";", "\t", "|")

Place: TypeAlias = Literal["line", "row"]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format of a text file or a workbook.

    Attributes:
        null_values: the texts that mean a missing value, except where a column declares them as values.
        delimiter: the text between two fields; None to detect it from the header.
        place: whether problems name lines or rows: rows for a stream, because its owner never sees its lines.
        encoding: `windows-1252` or `latin-1`; None for UTF-8, or for UTF-16 with a byte order mark.
        decimal: the decimal point, or the comma in its place.
        thousands: the character between groups of digits; a space stands for all kinds of spaces.
        strip: whether blanks around texts are dropped; None: around all but those of categories and units.
        header_row: the number of the line, or of a sheet's row, with the names of the columns; None for the first that
            is not blank.
        column_names: the names of all columns, if no line has them.
        date_order: the order of day, month and year in dates that are not in ISO 8601.
        sheet: the name of a workbook's sheet, or its place, counted from 1; None for the only one that is visible.
        dates_as_units: whether dates are the numbers that are stored, as an engine copies them.
    """

    null_values: Sequence[str] = ()
    delimiter: str | None = None
    place: Place = "line"
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    strip: bool | None = None
    header_row: int | None = None
    column_names: Sequence[str] = ()
    sheet: str | int | None = None
    date_order: str | None = None
    dates_as_units: bool = False

    @property
    def declared(self) -> dict[str, object]:
        """The members of `format` that the owner declared."""
        names = ("encoding", "decimal", "thousands", "strip", "header_row", "column_names", "sheet", "date_order")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value not in {None, ()} and (name, value) != _POINT}


PLAIN = FileFormat()
"""The format of a file without any declaration."""

_POINT = ("decimal", ".")
