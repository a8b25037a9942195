"""What the texts of a column may be: numbers in some spelling, dates, booleans or categories."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from app.dp.table.columns import Column, Kind
from app.dp.table.dates import Beyond, count_units, format_units, parse_moment
from app.engines.ingest.cells import UnreadableError, read_real, read_whole
from app.engines.ingest.date_spelling import ORDERS, has_points, to_iso
from app.engines.ingest.number_spelling import SYMBOLS, NumberSpelling

MAX_CATEGORIES = 100
"""A column with more distinct texts probably holds names or remarks, not categories."""

NULL_VALUES = ("", "NA", "NaN", "null")
OTHER_NULL_VALUES = frozenset(
    {".", "-", "?", "N/A", "n/a", "#N/A", "NULL", "None", "<NA>", "NaT", "\\N", "#NULL!", "#DIV/0!"}
)
"""Texts that tools write for missing numbers, dates and booleans. A draft declares those that a file has."""

DECLARABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,255}")
"""The names and categories that can be declared."""

_MAX_BOUND = 1e100
_SECONDS = Column("", Kind.SECONDS, time_zone="UTC")


class Spelling(NamedTuple):
    """The decimal point or comma, and the separator of thousands."""

    decimal: str
    thousands: str | None


POINTS = [Spelling(".", None), Spelling(".", ","), Spelling(".", " "), Spelling(".", "'")]
COMMAS = [Spelling(",", None), Spelling(",", "."), Spelling(",", " ")]
_READERS = {spelling: NumberSpelling(*spelling) for spelling in (*POINTS, *COMMAS)}
_WITH_SYMBOL = NumberSpelling(symbols=SYMBOLS)
_DIGITS = re.compile("[+-]?[0-9]{1,18}")  # the same number in every spelling
_BARE = re.compile("[+-]?[0-9].*[0-9]", re.DOTALL)


@dataclass(slots=True)
class _Range:
    """The smallest and the largest of some values, and whether each is a whole number."""

    least: float = math.inf
    most: float = -math.inf
    whole: bool = True

    @property
    def has_bounds(self) -> bool:
        """Whether a number was added."""
        return self.least <= self.most

    def union(self, other: "_Range") -> "_Range":
        """Return the range of the values of both."""
        return _Range(min(self.least, other.least), max(self.most, other.most), whole=self.whole and other.whole)

    def add(self, value: float) -> None:
        """Add a number; infinite ones and NaN are no bounds."""
        self.whole = self.whole and isinstance(value, int)
        if isinstance(value, int) or math.isfinite(value):
            self.least, self.most = min(self.least, value), max(self.most, value)


@dataclass(slots=True)
class _Times:
    """The bounds of some times in seconds, the units that divide all of them, and whether one has an offset."""

    bounds: _Range = field(default_factory=_Range)
    divisors: list[int] = field(default_factory=lambda: [86_400, 3_600, 60])
    has_zone: bool = False

    def add(self, moment: date) -> None:
        """Add a date or a time."""
        second = count_units(moment, _SECONDS)
        self.has_zone = self.has_zone or getattr(moment, "tzinfo", None) is not None
        self.divisors = [each for each in self.divisors if second % each == 0]
        self.bounds.add(second)


class TextProfile:
    """What the texts of one column have in common."""

    def __init__(self) -> None:
        self.texts: set[str] | None = set()  # without blanks around them; None if they are too many
        self.has_blanks = False
        self.null_values: set[str] = set()
        self._numbers = {spelling: _Range() for spelling in _READERS}
        self._digits = _Range()
        self._symbols: set[str] = set()
        self._times = {order: _Times() for order in (None, *ORDERS)}

    def add(self, texts: Iterable[str]) -> None:
        """Add the texts of a batch."""
        if self.texts is None and not self._numbers and not self._times:
            return
        for text in set(texts):
            stripped = text.strip()
            if text in NULL_VALUES or stripped in NULL_VALUES:
                continue
            self.has_blanks = self.has_blanks or stripped != text
            if self.texts is not None:
                self.texts.add(stripped)
                if len(self.texts) > MAX_CATEGORIES:
                    self.texts = None
            if stripped in OTHER_NULL_VALUES:
                self.null_values.add(stripped)
                continue
            self._add_number(stripped)
            self._add_time(stripped)

    def spellings(self) -> set[Spelling]:
        """Return the spellings in which all texts are numbers."""
        return {each for each, numbers in self._numbers.items() if numbers.has_bounds or self._digits.has_bounds}

    def is_value(self) -> bool:
        """Return whether all texts are numbers or dates."""
        return bool(self.spellings()) or any(times.bounds.has_bounds for times in self._times.values())

    def date_orders(self) -> set[str]:
        """Return the orders of day, month and year in which all texts are dates, unless they are in ISO 8601."""
        return {order for order in self._times if order is not None} if None not in self._times else set()

    def draft(self, spelling: Spelling, order: str | None = None) -> dict[str, Any] | None:
        """Return a declaration of the column, given how the file spells numbers and dates; None if no kind suits it."""
        if spelling in self.spellings():
            return self._draft_numbers(self._numbers[spelling].union(self._digits))
        times = self._times.get(None) or self._times.get(order)
        if times is not None and times.bounds.has_bounds:
            return _draft_dates(times)
        values = {text.lower() for text in (self.texts or set()) - self.null_values}
        if values and values <= {"true", "false"}:
            return {"kind": "boolean"}
        self.null_values = set()  # of a category they are values
        texts = sorted(self.texts or ())
        fits = texts and all(map(DECLARABLE.fullmatch, texts))
        return {"kind": "category", "categories": texts, "unconfirmed": ["categories"]} if fits else None

    def _add_number(self, text: str) -> None:
        if not self._numbers:
            return
        if _DIGITS.fullmatch(text):
            self._digits.add(int(text))
            return
        bare = text if _BARE.fullmatch(text) else _WITH_SYMBOL.to_plain(text)
        values: dict[str, float | None] = {}
        for spelling in list(self._numbers):
            plain = _READERS[spelling].to_plain(bare)
            if plain not in values:
                values[plain] = _read_number(plain)
            value = values[plain]
            if value is None:
                del self._numbers[spelling]
            else:
                self._numbers[spelling].add(value)
        if bare is not text and self._numbers:
            self._symbols |= {symbol for symbol in SYMBOLS if symbol in text}
            if len(self._symbols) > 1:  # amounts in several currencies
                self._numbers = {}

    def _add_time(self, text: str) -> None:
        for order in list(self._times):
            moment = parse_moment(text if order is None else to_iso(text, order))
            if moment is None:
                del self._times[order]
            elif not isinstance(moment, Beyond):
                self._times[order].add(moment)
        if has_points(text):
            self._times.pop(ORDERS[1], None)

    def _draft_numbers(self, numbers: _Range) -> dict[str, Any] | None:
        if numbers.most - numbers.least < 1 / _MAX_BOUND or max(-numbers.least, numbers.most) > _MAX_BOUND:
            return None
        declared: dict[str, Any] = {"kind": "integer" if numbers.whole else "real"}
        if self._symbols:
            declared["symbols"] = sorted(self._symbols)
        return declared | {"bounds": [str(numbers.least), str(numbers.most)], "unconfirmed": ["bounds"]}


def _draft_dates(times: _Times) -> dict[str, Any] | None:
    """Return a date if all times are midnight without an offset, else a timestamp of the coarsest resolution."""
    least, most = times.bounds.least, times.bounds.most
    if least == most:
        return None
    bounds = [format_units(int(second), Kind.SECONDS) for second in (least, most)]
    if 86_400 in times.divisors and not times.has_zone:
        return {"kind": "date", "bounds": [bound[:10] for bound in bounds], "unconfirmed": ["bounds"]}
    resolution = "hour" if 3_600 in times.divisors else "minute" if 60 in times.divisors else "second"
    declared = {"kind": "timestamp", "time_zone": "UTC", "resolution": resolution, "bounds": bounds}
    return declared | {"unconfirmed": ["bounds", "time_zone"]}


def _read_number(plain: str) -> float | None:
    """Return a plain number exactly if it is a whole one of 64 bits, else as a double; None if it is no number."""
    try:
        return read_whole(plain, 0)
    except UnreadableError:
        pass
    try:
        return read_real(plain)
    except UnreadableError:
        return None
