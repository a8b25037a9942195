"""The owner's declaration of a column: public facts, none of which is computed from its values."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from app.dp.numbers.exact import Rational

_FIRST_YEAR, _LAST_YEAR = 1000, 2999
_NAMES_YEARS = re.compile(r"(?:(?<![A-Za-z])y|Y)ears?(?![a-z])|(?<![A-Za-z])YEARS?(?![A-Za-z])")


class Kind(StrEnum):
    """The kinds of values that a column may hold."""

    INTEGER = "integer"
    REAL = "real"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    DATE = "date"
    # One for each resolution of a timestamp: the unit of its numbers is a part of the kind.
    DAYS = "timestamp_day"
    HOURS = "timestamp_hour"
    MINUTES = "timestamp_minute"
    SECONDS = "timestamp_second"

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers, or dates as numbers, which need bounds."""
        return self not in {Kind.BOOLEAN, Kind.CATEGORY}

    @property
    def temporal(self) -> bool:
        """Whether the values are dates or times: whole numbers of a unit since 1970-01-01."""
        return self in _SECONDS

    @property
    def unit(self) -> str:
        """The unit of dates or times, as a word."""
        return "days" if self is Kind.DATE else f"{self.removeprefix('timestamp_')}s"

    @property
    def seconds(self) -> int:
        """The length in seconds of the unit of dates or times."""
        return _SECONDS[self]


_SECONDS = {Kind.DATE: 86_400, Kind.DAYS: 86_400, Kind.HOURS: 3_600, Kind.MINUTES: 60, Kind.SECONDS: 1}


@dataclass(frozen=True)
class Column:
    """A column as declared.

    Attributes:
        name: the column's name in the file.
        kind: the kind of its values.
        bounds: the lower and upper bound of a numeric column, exactly as written; of dates, as numbers of units.
        scale: digits after the decimal point of a decimal column.
        categories: the declared values of a category column.
        nullable: whether rows without a value are allowed.
        null_value: the value that replaces a missing one (0 or 1 for booleans); by default the midpoint of the bounds,
        or 0.
        unit: the unit of the values, to be shown.
        time_zone: the IANA name of the zone whose clocks give the times of a timestamp column.
        true_values, false_values: the texts of a file that a boolean column reads, if they are declared.
        symbols: texts that a file may have before or after a number, such as a currency.
    """

    name: str
    kind: Kind
    bounds: tuple[Rational, Rational] | None = None
    scale: int = 0
    categories: tuple[str, ...] = ()
    nullable: bool = True
    null_value: Rational | None = None
    time_zone: str = ""
    unit: str = ""
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    @cached_property
    def category_set(self) -> frozenset[str]:
        """The declared categories as a set, for fast lookup."""
        return frozenset(self.categories)

    @property
    def holds_years(self) -> bool:
        """Whether the values are calendar years, which people write without separators: `2020`, not `2,020`.

        They are if the bounds are within 1000 to 2999, and the unit is `year`, or there is none and the name says year.
        """
        if self.bounds is None or self.kind.temporal:
            return False
        says_year = self.unit == "year" if self.unit else _NAMES_YEARS.search(self.name) is not None
        return says_year and self.bounds[0] >= _FIRST_YEAR and self.bounds[1] <= _LAST_YEAR
