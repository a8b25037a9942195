"""What a statistic asks of an engine, and what it is answered: exact integers and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple, Self, TypeAlias

from app.dp.table.bins import Bins
from app.dp.table.codes import Codes
from app.dp.table.conditions import Condition


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """The sum and the sum of squares of a column's codes; answered by `Moments`."""

    column: str
    codes: Codes


@dataclass(frozen=True, slots=True)
class PairSums:
    """The sums of two columns' codes and of their products; answered by `CrossMoments`."""

    x: str
    x_codes: Codes
    y: str
    y_codes: Codes


@dataclass(frozen=True, slots=True)
class BinCounts:
    """How many rows fall into each bin; answered by one whole number for each."""

    column: str
    bins: Bins


@dataclass(frozen=True, slots=True)
class CellSums:
    """How many of the rows that meet all conditions fall into each cell, and a column's sum of codes in each.

    The cells are the combinations of a bin of each axis, the last axis running fastest: one cell if there is no axis.
    Answered by the count of each cell, then the number of rows outside (those that fail a condition), and, if a column
    is summed, the sum of each cell: `count + 1` whole numbers, or `2·count + 1`.
    """

    axes: tuple[tuple[str, Bins], ...]
    conditions: tuple[Condition, ...] = ()
    summed: tuple[str, Codes] | None = None

    @property
    def count(self) -> int:
        """The number of cells."""
        return prod(bins.count for _, bins in self.axes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, each once."""
        names = [name for name, _ in self.axes] + [each.column for each in self.conditions]
        return tuple(dict.fromkeys(names + ([self.summed[0]] if self.summed else [])))

    @property
    def answers(self) -> int:
        """How many whole numbers answer it."""
        return self.count + 1 + (self.count if self.summed else 0)

    def rows(self, answer: "tuple[int, ...]") -> int:
        """How many rows an answer is about."""
        return sum(answer[: self.count + 1])

    def renamed(self, name: Callable[[str], str]) -> Self:
        """The same of columns that have other names."""
        return replace(
            self,
            axes=tuple((name(column), bins) for column, bins in self.axes),
            conditions=tuple(replace(each, column=name(each.column)) for each in self.conditions),
            summed=None if self.summed is None else (name(self.summed[0]), self.summed[1]),
        )


Needs: TypeAlias = ColumnSums | PairSums | BinCounts | CellSums


class Moments(NamedTuple):
    """The sums S = Σq and Q = Σq² over the codes of all `n` rows."""

    n: int
    total: int
    squares: int


class CrossMoments(NamedTuple):
    """The sums Σx, Σy and P = Σxy over the codes of all `n` rows."""

    n: int
    total_x: int
    total_y: int
    products: int


Answer: TypeAlias = Moments | CrossMoments | tuple[int, ...]
