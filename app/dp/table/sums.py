"""The requests of statistics to engines, and the answers: exact integers and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final, NamedTuple, TypeAlias

from app.dp.table.bins import Bins
from app.dp.table.codes import Codes
from app.dp.table.conditions import Condition


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """The sum and the sum of squares of a column's codes; answered by `Moments`."""

    column: str
    codes: Codes


@dataclass(frozen=True, slots=True)
class ColumnTotal:
    """The sum of a column's codes alone, which takes a scan less time; answered by `Total`."""

    column: str
    codes: Codes

    @property
    def with_squares(self) -> ColumnSums:
        """The request whose answer begins with the answer to this one."""
        return ColumnSums(self.column, self.codes)


@dataclass(frozen=True, slots=True)
class PairSums:
    """The sums of two columns' codes and of their products; answered by `CrossMoments`."""

    x: str
    x_codes: Codes
    y: str
    y_codes: Codes


@dataclass(frozen=True, slots=True)
class BinCounts:
    """The number of rows in each bin; answered by one whole number for each bin."""

    column: str
    bins: Bins


@dataclass(frozen=True, slots=True)
class CellSums:
    """The number of rows in each cell among those that meet all conditions, and optionally a column's sum of codes.

    A cell is a combination of one bin of each axis; the last axis varies fastest. Without axes there is one cell. The
    answer has the count of each cell, then the number of rows outside (that fail a condition), and then, if a column is
    summed, the sum of each cell: `count + 1` or `2·count + 1` whole numbers. If that sum is weighted, the sums of the
    weights' codes and of the products follow, for each cell too.
    """

    axes: tuple[tuple[str, Bins], ...]
    conditions: tuple[Condition, ...] = ()
    summed: tuple[str, Codes] | None = None
    weighted: tuple[str, Codes] | None = None

    @property
    def count(self) -> int:
        """The number of cells."""
        return prod(bins.count for _, bins in self.axes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, without duplicates."""
        names = [name for name, _ in self.axes] + [each.column for each in self.conditions]
        return tuple(dict.fromkeys(names + [each[0] for each in (self.summed, self.weighted) if each]))

    @property
    def answers(self) -> int:
        """The number of whole numbers in an answer."""
        return self.count + 1 + self.count * self.sums

    @property
    def sums(self) -> int:
        """The number of sums for each cell."""
        return 0 if self.summed is None else 1 if self.weighted is None else 3

    def rows(self, answer: "tuple[int, ...]") -> int:
        """Return the number of rows that an answer is about."""
        return sum(answer[: self.count + 1])


Needs: TypeAlias = ColumnSums | ColumnTotal | PairSums | BinCounts | CellSums


class Moments(NamedTuple):
    """The sums S = Σq and Q = Σq² over the codes of all `n` rows."""

    n: int
    total: int
    squares: int


class Total(NamedTuple):
    """The sum S = Σq over the codes of all `n` rows."""

    n: int
    total: int


class CrossMoments(NamedTuple):
    """The sums Σx, Σy and P = Σxy over the codes of all `n` rows."""

    n: int
    total_x: int
    total_y: int
    products: int


SUMS_OF: Final[Mapping[type, type[Moments | Total | CrossMoments]]] = {
    ColumnSums: Moments,
    ColumnTotal: Total,
    PairSums: CrossMoments,
}
"""What the requests for sums over all rows are answered by."""

Answer: TypeAlias = Moments | Total | CrossMoments | tuple[int, ...]
