"""The base class of statistics: a public range, a sensitivity, the sums it needs and its exact value from them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Self, TypeVar

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, json_number, round_down, round_up
from app.dp.table.cells import Partition
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import Beyond, format_down, require_units
from app.dp.table.sums import Answer, CrossMoments, Moments, Needs, Total

Sums = TypeVar("Sums", Moments, Total, CrossMoments)

_MAX_IDENTITY_LENGTH = 255


@dataclass(frozen=True)
class Statistic(ABC):
    """A statistic of the `n` rows of a dataset in which one person has up to `rows_per_unit` rows.

    Neighbouring datasets differ in the values of up to `rows_per_unit` rows (`replace_one`).
    """

    n: int
    rows_per_unit: int

    kind: ClassVar[str]
    members: ClassVar[frozenset[str]]
    """The members that a request of this kind may have besides `kind`."""

    @classmethod
    @abstractmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the statistic that a request asks for; raise InvalidStatistic if it is invalid."""

    @property
    @abstractmethod
    def needs(self) -> Needs:
        """The sums or counts that the engine must compute."""

    @property
    @abstractmethod
    def lower(self) -> Rational:
        """The lower end of the public range, in the statistic's units."""

    @property
    @abstractmethod
    def upper(self) -> Rational:
        """The upper end of the public range, in the statistic's units."""

    @property
    @abstractmethod
    def row_sensitivity(self) -> Rational:
        """Δ₁, the largest change of the value by one row, in the statistic's units."""

    @cached_property
    def sensitivity(self) -> Rational:
        """Δ, the largest change of the value by all rows of one person, in the statistic's units."""
        return min(self.rows_per_unit * self.row_sensitivity, self.upper - self.lower)

    @cached_property
    def centre(self) -> Rational:
        """The midpoint of the range, subtracted before the draw and added after it (the notes, 6.1, corrected)."""
        return (self.lower + self.upper) / 2

    @property
    def furthest_centre(self) -> Rational:
        """The largest distance from 0 of the middle around which a component is released."""
        return abs(self.centre)

    @cached_property
    def b_prime(self) -> Rational:
        """B', the largest distance from the centre, in units of the sensitivity."""
        return (self.upper - self.lower) / (2 * self.sensitivity)

    @cached_property
    def range_in_doubles(self) -> tuple[float, float]:
        """The public range, rounded outwards."""
        return round_down(self.lower), round_up(self.upper)

    @property
    def mechanisms(self) -> int:
        """The number of mechanisms that share the release's ε equally."""
        return 1

    @property
    def components(self) -> int:
        """The number of values in a release."""
        return 1

    @property
    def draws(self) -> int:
        """The number of independent draws of a release: one for each component, unless one follows from another."""
        return self.components

    @property
    def bins(self) -> Partition | None:
        """The bins, cells, groups or steps that the components stand for; None for a single number."""
        return None

    @property
    def date_kind(self) -> Kind | None:
        """The kind of dates that the value is, as a number of units since 1970-01-01; None if it is no date."""
        return None

    @property
    @abstractmethod
    def rounding(self) -> Rational:
        """The largest error of the value from rounding values to codes, in the statistic's units."""

    @abstractmethod
    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """Return the exact value of each component, in the statistic's units, from the engine's answer to `needs`.

        Raises:
            ValueError: if the answer does not match `needs`, or is not about `n` rows.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the request for this statistic with all defaults filled in, ready for JSON."""

    @cached_property
    def identity(self) -> str:
        """A text that is equal for two requests on a dataset if and only if they ask for the same statistic.

        It depends on the kind, the columns (in any order for a covariance), the exact bounds or edges after defaults,
        the conditions and the groups.
        """
        return encode_identity(self.kind, self._distinction())

    @abstractmethod
    def _distinction(self) -> list[Any]:
        """Return the canonical JSON value that distinguishes statistics of this kind from each other."""

    def _check_answer(self, answer: Answer, shape: type[Sums]) -> Sums:
        """Return the answer after checking its type and that it is about `n` rows, for which the sensitivity holds."""
        if not isinstance(answer, shape) or answer.n != self.n:
            raise ValueError("the sums are not those that this statistic needs")
        return answer

    def _compute_largest_variance(self) -> Rational:
        """Return h/(n(n - 1)) with h = ⌊n/2⌋·⌈n/2⌉, the largest sample variance on a range of width 1.

        For odd n this is (n + 1)/(4n). The notes (7.2 and 7.3) have 1/4 there, which is too small.
        """
        return mpq((self.n // 2) * (self.n - self.n // 2), self.n * (self.n - 1))


def encode_identity(kind: str, distinction: list[Any]) -> str:
    """Return the JSON of a kind and of what distinguishes its members, or its digest if it is long."""
    text = json.dumps([kind, *distinction], ensure_ascii=True, separators=(",", ":"))
    return text if len(text) <= _MAX_IDENTITY_LENGTH else f"{kind}:sha256:{sha256(text.encode()).hexdigest()}"


def find_column(columns: Mapping[str, Column], name: object, where: str) -> Column:
    """Return the declared column with this name; raise InvalidStatistic at `where` if there is none."""
    column = columns.get(name) if isinstance(name, str) else None
    if column is None:
        raise InvalidStatistic(where, "is not a column of this dataset", tuple(columns), name)
    return column


def parse_pair(value: Any, where: str) -> tuple[Any, Any] | None:  # noqa: ANN401  whatever a request holds there
    """Return the two members of a pair, or None for None; raise InvalidStatistic at `where` for any other value."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidStatistic(where, "must have exactly two members")
    return value[0], value[1]


def parse_bounds(column: Column, value: Any, where: str = "bounds") -> tuple[Rational, Rational] | None:  # noqa: ANN401
    """Return the bounds of a request for a column, or None; a date as the upper bound stands for its last unit.

    Raises:
        InvalidStatistic: at `where`, if they are not two numbers or, for a column of dates, two dates.
    """
    pair = parse_pair(value, where)
    if pair is None:
        return None
    lower, upper = pair
    return parse_number(column, lower, f"{where}.0"), parse_number(column, upper, f"{where}.1", end=True)


def parse_number(column: Column, value: Any, where: str, *, end: bool = False) -> Rational:  # noqa: ANN401
    """Return a number of a request for a column; for a column of dates, the number of the date.

    Raises:
        InvalidStatistic: at `where`, if it is a date but the column holds numbers, or the reverse.
    """
    if column.kind.temporal:
        return mpq(require_units(value, column, where, end=end))
    if isinstance(value, date | Beyond):
        raise InvalidStatistic(where, "must be a number: the column holds no dates")
    return mpq(value)


def refuse_dates(column: Column) -> None:
    """Raise InvalidStatistic at `column` if it holds dates, which cannot be added."""
    if column.kind.temporal:
        raise InvalidStatistic("column", "holds dates, which have no sum: ask for their mean")


def describe_bounds(codes: Codes) -> list[int | float] | list[str] | None:
    """Return the bounds as in a request, or None for booleans, which have none."""
    if codes.kind.temporal:
        return [format_down(codes.lower, codes.kind), format_down(codes.upper, codes.kind)]
    return None if codes.kind is Kind.BOOLEAN else [json_number(codes.lower), json_number(codes.upper)]
