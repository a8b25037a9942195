"""The histogram of a column (Covington's notes, section 7.4): each bin's count is a mechanism of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.bins import Bins, BooleanBins, CategoryBins, IntervalBins, bins_by_edges, bins_by_number
from app.dp.codes import stored_bound
from app.dp.columns import Column, Kind
from app.dp.errors import InvalidStatistic
from app.dp.numbers import Rational, json_number
from app.dp.statistics.shape import Statistic, column_named, pair_of
from app.dp.sums import Answer, BinCounts


@dataclass(frozen=True)
class Histogram(Statistic):
    """How many rows fall into each bin; range, sensitivity and all the rest are one bin's, in rows.

    One person's c rows leave at most c bins and enter others, so the counts change by at most 2c in all: with ε/(2c)
    for each bin, the whole histogram costs ε.
    """

    column: str
    partition: Bins
    by_edges: bool

    kind: ClassVar[str] = "histogram"
    members: ClassVar[frozenset[str]] = frozenset({"column", "edges", "bins", "bounds"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The histogram that a request asks for, or InvalidStatistic."""
        column = column_named(columns, spec.get("column"), "column")
        return cls(n, rows_per_unit, column.name, _bins_of(column, spec), by_edges=spec.get("edges") is not None)

    @property
    def needs(self) -> BinCounts:
        """The count of each bin."""
        return BinCounts(self.column, self.partition)

    @property
    def lower(self) -> Rational:
        """0."""
        return mpq(0)

    @property
    def upper(self) -> Rational:
        """The number of rows, n."""
        return mpq(self.n)

    @property
    def row_sensitivity(self) -> Rational:
        """1 for each bin."""
        return mpq(1)

    @property
    def sensitivity(self) -> Rational:
        """1 for each bin: the number of rows of a person is in the number of mechanisms."""
        return mpq(1)

    @property
    def mechanisms(self) -> int:
        """2c, by how much one person's c rows can change the counts in all."""
        return 2 * self.rows_per_unit

    @property
    def centre(self) -> Rational:
        """⌊n/2⌋, a whole number, so that releases are whole numbers where the grid is."""
        return mpq(self.n // 2)

    @property
    def b_prime(self) -> Rational:
        """⌈n/2⌉."""
        return mpq(self.n - self.n // 2)

    @property
    def components(self) -> int:
        """The number of bins."""
        return self.partition.count

    @property
    def bins(self) -> Bins:
        """The bins that the column's values are counted in."""
        return self.partition

    @property
    def rounding(self) -> Rational:
        """0: counts are exact."""
        return mpq(0)

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """The counts."""
        return tuple(mpq(count) for count in self._counts(answer))

    def from_centre(self, answer: Answer) -> npt.NDArray[np.int64]:
        """The counts less the centre: whole numbers, and normalised ones, as the sensitivity is 1."""
        return np.array(self._counts(answer), np.int64) - self.n // 2

    def _counts(self, answer: Answer) -> Answer:
        if len(answer) != self.partition.count or sum(answer) != self.n:
            raise ValueError("the counts are not those that this statistic needs")
        return answer

    def describe(self) -> dict[str, Any]:
        """The request for this histogram, its intervals in the form that was asked for."""
        described: dict[str, Any] = {"kind": self.kind, "column": self.column}
        if not isinstance(self.partition, IntervalBins):
            return described
        edges = self.partition.edges
        if self.by_edges:
            return described | {"edges": self.partition.edge_values()}
        bounds = [json_number(stored_bound(self.partition.kind, edge)) for edge in (edges.lower, edges.upper)]
        return described | {"bins": edges.intervals, "bounds": bounds}

    def _distinction(self) -> list[Any]:
        return [self.column, self.partition.identity() if isinstance(self.partition, IntervalBins) else None]


def _bins_of(column: Column, spec: Mapping[str, Any]) -> Bins:
    edges, intervals = spec.get("edges"), spec.get("bins")
    bounds = pair_of(spec.get("bounds"), "bounds")
    if not column.kind.numeric:
        for member, given in (("edges", edges), ("bins", intervals), ("bounds", bounds)):
            if given is not None:
                raise InvalidStatistic(member, "only the histogram of a numeric column has these")
        missing = column.nullable
        return BooleanBins(missing) if column.kind is Kind.BOOLEAN else CategoryBins(column.categories, missing)
    if edges is not None:
        if intervals is not None:
            raise InvalidStatistic("bins", "either edges or a number of bins, not both")
        if bounds is not None:
            raise InvalidStatistic("bounds", "the outer edges are the bounds")
        return bins_by_edges(column, tuple(edges))
    if intervals is None:
        raise InvalidStatistic("edges", "the histogram of a numeric column needs edges or a number of bins")
    if intervals != int(intervals):
        raise InvalidStatistic("bins", "the number of bins is a whole number")
    return bins_by_number(column, int(intervals), bounds)
