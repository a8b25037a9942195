"""Convert the texts of a CSV column to stored values.

Each kind has one grammar, `read_…`, which also says what is wrong with a text. Where a column of a batch consists of
plain texts only, Python's own conversions agree with the grammars and are used instead: they are several times faster.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from app.dp.table.columns import Column, Kind
from app.dp.table.dates import count_units, parse_moment
from app.engines.ingest.checks import flag_places
from app.engines.ingest.date_spelling import is_unordered, to_iso
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.number_spelling import NumberSpelling, suggest_spelling
from app.engines.stored_columns import INT64_MAX, INT64_MIN, choose_stored_type

MAX_IN_TEXT = 10_000
"""The maximum number of characters of a category."""

MAX_CACHED_DATES = 4_096

TOO_LONG = f"has more than {MAX_IN_TEXT:,} characters"

Value: TypeAlias = int | float | bool | str | None

_PLAIN = bytes(range(ord("0"), ord("9") + 1)) + bytes(range(ord("A"), ord("Z") + 1)) + b"abcdefghijklmnopqrstuvwxyz+-."
"""The characters of plain texts. Python also accepts spaces, underscores and digits of other scripts in numbers."""

_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?")
_REAL = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
_NO_BOOLEAN = "is not true, false, 1 or 0: declare other texts as `true_values` and `false_values`"
_UNDECLARED_BOOLEAN = "is not among the declared `true_values` and `false_values`"
_MAX_DIGITS = len(str(INT64_MAX))


class UnreadableError(ValueError):
    """A text or value does not match its column's kind; the message says why without repeating it."""


class NotANumberError(UnreadableError):
    """A text is not a plain number, but perhaps one in another spelling."""

    def __init__(self) -> None:
        super().__init__("is not a number")


class CellReader:
    """Reads the texts of one column."""

    def __init__(self, column: Column, form: FileFormat) -> None:
        self._column = column
        self._type = choose_stored_type(column)
        # A text that is declared as a value is one, also if it is among the texts that mean a missing value.
        self._nulls = frozenset(form.null_values) - column.category_set
        self._strip = form.strip
        self._spelling = NumberSpelling()
        self._scale = column.scale if column.kind is Kind.DECIMAL else 0
        self._unit: int = 10**self._scale
        self._plain: Callable[[str], Value]
        self._careful: Callable[[str], Value]
        if column.kind is Kind.BOOLEAN:
            meanings = _list_meanings(column)
            self._nulls -= {*column.true_values, *column.false_values}
            self._plain, self._careful = meanings.__getitem__, lambda text: read_boolean(text, meanings)
        elif column.kind.temporal and not form.dates_as_units:
            # A table has few distinct dates.
            self._plain = self._careful = lru_cache(MAX_CACHED_DATES)(
                lambda text: read_moment(text, column, form.date_order)
            )
        else:
            self._spelling = NumberSpelling(form.decimal, form.thousands, column.symbols)
            if column.kind is Kind.REAL:
                self._plain, self._careful = float, read_real
            else:
                self._plain = self._plain_decimal if self._scale else int
                self._careful = lambda text: read_whole(text, self._scale)

    def read(self, texts: Sequence[str]) -> tuple[pa.Array, dict[int, str]]:
        """Return the values, and for each position of a text that cannot be read, what is wrong with it."""
        nulls, plain = self._nulls, self._plain
        if self._column.kind is Kind.CATEGORY:
            return self._read_texts(texts)
        if self._spelling.is_plain and not "".join(texts).encode().translate(None, _PLAIN):
            try:
                return pa.array([None if text in nulls else plain(text) for text in texts], self._type), {}
            except (ValueError, KeyError, OverflowError):
                pass  # a problem, or only an unusual spelling
        return self._read_carefully(texts)

    def _read_texts(self, texts: Sequence[str]) -> tuple[pa.Array, dict[int, str]]:
        nulls, kept = self._nulls, self._column.category_set
        if self._strip:
            texts = [text.strip() for text in texts]
        if self._strip is False or not nulls:
            values = [None if text in nulls else text for text in texts]
        else:
            values = [None if text in nulls or (text.strip() in nulls and text not in kept) else text for text in texts]
        array = pa.array(values, self._type)
        problems = flag_places(pc.greater(pc.utf8_length(array), MAX_IN_TEXT), TOO_LONG)
        return without_undeclared(array, self._column), problems

    def _read_carefully(self, texts: Sequence[str]) -> tuple[pa.Array, dict[int, str]]:
        values: list[Value] = []
        problems: dict[int, str] = {}
        for place, text in enumerate(texts):
            stripped = text if self._strip is False else text.strip()
            value = None
            if text not in self._nulls and stripped not in self._nulls:
                try:
                    value = self._careful(self._spelling.to_plain(stripped))
                except NotANumberError as error:
                    problems[place] = f"{error}{suggest_spelling(stripped) if self._spelling.is_plain else ''}"
                except UnreadableError as error:
                    problems[place] = str(error)
            values.append(value)
        return pa.array(values, self._type), problems

    def _plain_decimal(self, text: str) -> int:
        scale = self._scale
        fraction = text[-scale:]
        if text[-scale - 1 : -scale] == "." and fraction.isdigit():
            return int(text[: -scale - 1] + fraction)
        return int(text) * self._unit


def without_undeclared(texts: pa.Array, column: Column) -> pa.Array:
    """Replace all undeclared texts by one common text, because no release can tell them apart.

    So no undeclared text is stored, and neither time nor size reveals how many of them are distinct. A unit column has
    no categories, and keeps its texts.
    """
    if not column.categories:
        return texts
    other = "other"
    while other in column.categories:
        other += "_"
    declared = pc.is_in(texts, value_set=pa.array(column.categories, texts.type))
    return pc.if_else(pc.or_(declared, pc.is_null(texts)), texts, pa.scalar(other, texts.type))


def read_whole(text: str, scale: int) -> int:
    """Return a decimal in units of 10^-scale, exactly.

    Raises:
        UnreadableError: it is not a number, not a multiple of the unit, or needs more than 64 bits.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise NotANumberError
    sign, before, after, exponent = match[1], match[2], match[3] or "", int(match[4] or 0)
    digits = (before + after).lstrip("0")
    significant = digits.rstrip("0")
    zeros = exponent + scale - len(after) + len(digits) - len(significant)
    if not significant:
        return 0
    if zeros < 0:
        raise UnreadableError(f"has more than {scale} decimals" if scale else "is not a whole number")
    # Count the digits before computing the number: 1e999999999 is a short text.
    if len(significant) + zeros <= _MAX_DIGITS:
        value = int(f"{sign}{significant}{'0' * zeros}")
        if INT64_MIN <= value <= INT64_MAX:
            return value
    raise UnreadableError("is beyond the range of 64-bit whole numbers")


def read_real(text: str) -> float:
    """Return the double nearest to a number; infinity if it is larger than all doubles.

    Raises:
        UnreadableError: it is not a number.
    """
    if _REAL.fullmatch(text) is None:
        raise NotANumberError
    return float(text)


def _list_meanings(column: Column) -> Mapping[str, bool]:
    """Return what the texts of a boolean column mean, in lower case."""
    declared = {text.lower(): True for text in column.true_values}
    return declared | {text.lower(): False for text in column.false_values} or _BOOLEANS


def read_boolean(text: str, meanings: Mapping[str, bool]) -> bool:
    """Return the boolean that a text stands for in upper or lower case.

    Raises:
        UnreadableError: it is none of these.
    """
    value = meanings.get(text.lower())
    if value is None:
        raise UnreadableError(_NO_BOOLEAN if meanings is _BOOLEANS else _UNDECLARED_BOOLEAN)
    return value


def read_moment(text: str, column: Column, order: str | None = None) -> int:
    """Return the number that a column stores for a date or time; a date column drops the time of the day.

    The text is in ISO 8601, or in the declared order of day, month and year.

    Raises:
        UnreadableError: it is not a date or a time, or it has an offset in a column without a time zone.
    """
    moment = parse_moment(text if order is None else to_iso(text, order))
    if moment is None:
        hint = ": declare `date_order` in `format`" if order is None and is_unordered(text) else ""
        raise UnreadableError(f"is not an ISO date or time such as 2021-03-31 or 2021-03-31T14:00{hint}")
    if isinstance(moment, datetime) and moment.tzinfo is not None and not column.time_zone:
        raise UnreadableError("has an offset from UTC: declare the column as a timestamp with a time zone")
    return count_units(moment, column)
