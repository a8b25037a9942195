"""The one shape of a statistic: a public range, a sensitivity, the sums it needs and its exact value from them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Self, TypeVar

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational, json_number
from app.dp.table.cells import Partition
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import Answer, CrossMoments, Moments, Needs

Sums = TypeVar("Sums", Moments, CrossMoments)

_LONGEST_IDENTITY = 255


@dataclass(frozen=True)
class Statistic(ABC):
    """A statistic of the `n` rows of a dataset in which up to `rows_per_unit` rows are one person's.

    Neighbouring datasets differ in the values of that many rows (`replace_one`).
    """

    n: int
    rows_per_unit: int

    kind: ClassVar[str]
    members: ClassVar[frozenset[str]]
    """Which members of a request this kind has, beside `kind`."""

    @classmethod
    @abstractmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The statistic that a request asks for, or InvalidStatistic."""

    @property
    @abstractmethod
    def needs(self) -> Needs:
        """What the engine is asked for."""

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
        """Δ₁, the most by which one row can change the value, in the statistic's units."""

    @cached_property
    def sensitivity(self) -> Rational:
        """Δ, the most by which one person's rows can change the value, in the statistic's units."""
        return min(self.rows_per_unit * self.row_sensitivity, self.upper - self.lower)

    @cached_property
    def centre(self) -> Rational:
        """What is subtracted before the draw and added after it: the midpoint of the range (notes, 6.1, corrected)."""
        return (self.lower + self.upper) / 2

    @cached_property
    def b_prime(self) -> Rational:
        """B', the largest distance from the centre, in units of the sensitivity."""
        return (self.upper - self.lower) / (2 * self.sensitivity)

    @property
    def mechanisms(self) -> int:
        """Among how many mechanisms the release's ε is shared equally."""
        return 1

    @property
    def components(self) -> int:
        """How many numbers a release has."""
        return 1

    @property
    def bins(self) -> Partition | None:
        """What the components stand for, where there may be several: bins, cells or groups."""
        return None

    @property
    @abstractmethod
    def rounding(self) -> Rational:
        """The most by which rounding values to codes can move the value, in the statistic's units."""

    @abstractmethod
    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """The exact value of each component, from what the engine answered to `needs`.

        Raises:
            ValueError: if the answer is to another question, or not about `n` rows.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The request for this statistic with every default filled in, ready for JSON."""

    @cached_property
    def identity(self) -> str:
        """A text that two requests on a dataset share exactly if they ask for the same statistic.

        What counts: the kind, the columns (a covariance's in any order), the exact bounds or edges after defaults, the
        conditions and the groups.
        """
        text = json.dumps([self.kind, *self._distinction()], ensure_ascii=True, separators=(",", ":"))
        return text if len(text) <= _LONGEST_IDENTITY else f"{self.kind}:sha256:{sha256(text.encode()).hexdigest()}"

    @abstractmethod
    def _distinction(self) -> list[Any]:
        """What tells statistics of one kind apart, as JSON, canonical."""

    def _answered(self, answer: Answer, shape: type[Sums]) -> Sums:
        """The answer as the sums of all rows that it must be: the sensitivity holds for no other number of rows."""
        if not isinstance(answer, shape) or answer.n != self.n:
            raise ValueError("the sums are not those that this statistic needs")
        return answer

    def _spread(self) -> Rational:
        """The factor h/(n(n - 1)), h = ⌊n/2⌋·⌈n/2⌉: the largest sample variance on a range of width 1.

        The notes, 7.2 and 7.3, have 1/4·n/(n - 1) for odd n as well, which is smaller.
        """
        return mpq((self.n // 2) * (self.n - self.n // 2), self.n * (self.n - 1))


def find_column(columns: Mapping[str, Column], name: object, where: str) -> Column:
    """The declared column of that name, or InvalidStatistic at `where`."""
    column = columns.get(name) if isinstance(name, str) else None
    if column is None:
        raise InvalidStatistic(where, "is not a column of this dataset", tuple(columns), name)
    return column


def parse_pair(value: Any, where: str) -> tuple[Any, Any] | None:  # noqa: ANN401  whatever a request holds there
    """The two members of a pair, None for none, or InvalidStatistic at `where`."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidStatistic(where, "must have exactly two members")
    return value[0], value[1]


def describe_bounds(codes: Codes) -> list[int | float] | None:
    """Bounds as a request gives them: not at all for booleans."""
    return None if codes.kind is Kind.BOOLEAN else [json_number(codes.lower), json_number(codes.upper)]
