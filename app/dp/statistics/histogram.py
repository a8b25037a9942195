"""The histogram of a column (Covington's notes, section 7.4): each bin's count is a mechanism of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import json_number
from app.dp.statistics.base import find_column, parse_pair
from app.dp.statistics.count_base import SharedCounts
from app.dp.table.bins import Bins, BooleanBins, CategoryBins, IntervalBins, bins_by_edges, bins_by_number
from app.dp.table.cells import WithOutside
from app.dp.table.codes import stored_bound
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Condition, describe_conditions, parse_conditions
from app.dp.table.sums import Answer, BinCounts, CellSums

MOST_JOINT_INTERVALS = 10_000
"""Of a column that is binned together with a filter or another column: engines compare each value with the edges."""


@dataclass(frozen=True)
class Histogram(SharedCounts):
    """How many rows fall into each bin. With a filter the bins are of the rows inside, and `outside` is one more bin.

    A row is in one bin all the same, so that sensitivity and range are those of the histogram of all rows.
    """

    column: str
    partition: Bins
    by_edges: bool
    conditions: tuple[Condition, ...] = ()

    kind: ClassVar[str] = "histogram"
    members: ClassVar[frozenset[str]] = frozenset({"column", "edges", "bins", "bounds", "where"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The histogram that a request asks for, or InvalidStatistic."""
        column = find_column(columns, spec.get("column"), "column")
        partition, conditions = parse_bins(column, spec), parse_conditions(spec.get("where"), columns)
        if conditions:
            require_joint(partition, "bins" if spec.get("edges") is None else "edges")
        by_edges = spec.get("edges") is not None
        return cls(n, rows_per_unit, column.name, partition, by_edges=by_edges, conditions=conditions)

    @property
    def needs(self) -> BinCounts | CellSums:
        """The count of each bin."""
        if self.conditions:
            return CellSums(((self.column, self.partition),), self.conditions)
        return BinCounts(self.column, self.partition)

    @property
    def components(self) -> int:
        """The number of bins."""
        return self.bins.count

    @property
    def bins(self) -> Bins | WithOutside:
        """The bins that the column's values are counted in, and that of the rows outside the filter."""
        return WithOutside(self.partition) if self.conditions else self.partition

    def describe(self) -> dict[str, Any]:
        """The request for this histogram, its intervals in the form that was asked for."""
        described_bins = describe_bins(self.partition, by_edges=self.by_edges)
        return {"kind": self.kind, "column": self.column} | described_bins | describe_conditions(self.conditions)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        if len(answer) != self.components:
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)

    def _distinction(self) -> list[Any]:
        filters = [[each.distinction() for each in self.conditions]] if self.conditions else []
        return [self.column, bins_identity(self.partition), *filters]


def parse_bins(column: Column, spec: Mapping[str, Any]) -> Bins:
    """The bins of a column that `edges`, `bins` and `bounds` ask for, or InvalidStatistic at one of these."""
    edges, intervals = spec.get("edges"), spec.get("bins")
    bounds = parse_pair(spec.get("bounds"), "bounds")
    if not column.kind.numeric:
        for member, given in (("edges", edges), ("bins", intervals), ("bounds", bounds)):
            if given is not None:
                raise InvalidStatistic(member, "is for numeric columns only: leave it out")
        missing = column.nullable
        return BooleanBins(missing) if column.kind is Kind.BOOLEAN else CategoryBins(column.categories, missing)
    if edges is not None:
        if intervals is not None:
            raise InvalidStatistic("bins", "does not go with `edges`: give one of them")
        if bounds is not None:
            raise InvalidStatistic("bounds", "does not go with `edges`: the outer edges are the bounds")
        return bins_by_edges(column, tuple(edges))
    if intervals is None:
        raise InvalidStatistic("edges", "is missing: the histogram of a numeric column needs `edges` or `bins`")
    if intervals != int(intervals):
        raise InvalidStatistic("bins", "must be a whole number")
    return bins_by_number(column, int(intervals), bounds)


def require_joint(partition: Bins, where: str) -> None:
    """Refuse more intervals than a column may have beside a filter or another column: InvalidStatistic at `where`."""
    if isinstance(partition, IntervalBins) and partition.edges.intervals > MOST_JOINT_INTERVALS:
        what = f"must make at most {MOST_JOINT_INTERVALS:,} intervals beside a filter or a second column"
        raise InvalidStatistic(where, what)


def describe_bins(partition: Bins, *, by_edges: bool) -> dict[str, Any]:
    """The members of a request that ask for these bins."""
    if not isinstance(partition, IntervalBins):
        return {}
    edges = partition.edges
    if by_edges:
        return {"edges": partition.edge_values()}
    bounds = [json_number(stored_bound(partition.kind, edge)) for edge in (edges.lower, edges.upper)]
    return {"bins": edges.intervals, "bounds": bounds}


def bins_identity(partition: Bins) -> str | None:
    """What tells intervals from others of the same column; other kinds have but one set of bins."""
    return partition.identity() if isinstance(partition, IntervalBins) else None
