"""The histogram of a column, with a mechanism for each bin (the notes, section 7.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import json_number
from app.dp.statistics.base import find_column, parse_bounds, parse_number
from app.dp.statistics.count_base import SharedCounts
from app.dp.table.bins import Bins, BooleanBins, CategoryBins, IntervalBins, bins_by_edges, bins_by_number
from app.dp.table.calendar_bins import PERIODS, bins_by_period
from app.dp.table.cells import WithOutside
from app.dp.table.codes import to_stored_bound
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Condition, describe_conditions
from app.dp.table.dates import format_down
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import Answer, BinCounts, CellSums

MAX_JOINT_INTERVALS = 10_000
"""The maximum with a filter or a second column, because engines then compare each value with the edges."""


@dataclass(frozen=True)
class Histogram(SharedCounts):
    """The number of rows in each bin; with a filter, only rows inside count, and `outside` counts all others.

    Each row is in exactly one bin with or without a filter, so the sensitivity and the range are the same.
    """

    column: str
    partition: Bins
    by_edges: bool
    conditions: tuple[Condition, ...] = ()

    kind: ClassVar[str] = "histogram"
    members: ClassVar[frozenset[str]] = frozenset({"column", "edges", "bins", "bounds", "where"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the histogram that a request asks for; raise InvalidStatistic if it is invalid."""
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
        """The bins of the column's values and, with a filter, `outside` for all other rows."""
        return WithOutside(self.partition) if self.conditions else self.partition

    def describe(self) -> dict[str, Any]:
        """Return the request for this histogram, with its intervals in the same form as in the original request."""
        described_bins = describe_bins(self.partition, by_edges=self.by_edges)
        return {"kind": self.kind, "column": self.column} | described_bins | describe_conditions(self.conditions)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        if len(answer) != self.components:
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)

    def _distinction(self) -> list[Any]:
        filters = [[each.distinction() for each in self.conditions]] if self.conditions else []
        return [self.column, bins_identity(self.partition), *filters, *self._one_draw()]


def parse_bins(column: Column, spec: Mapping[str, Any]) -> Bins:
    """Return the bins that `edges`, `bins` and `bounds` describe; raise InvalidStatistic at the invalid member."""
    edges, intervals = spec.get("edges"), spec.get("bins")
    bounds = spec.get("bounds")
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
        return bins_by_edges(column, tuple(parse_number(column, edge, f"edges.{i}") for i, edge in enumerate(edges)))
    if intervals is None:
        raise InvalidStatistic("edges", "is missing: the histogram of a numeric column needs `edges` or `bins`")
    within = parse_bounds(column, bounds)
    if intervals in PERIODS:
        return bins_by_period(column, intervals, within)
    if intervals != int(intervals):
        raise InvalidStatistic("bins", "must be a whole number")
    return bins_by_number(column, int(intervals), within)


def require_joint(partition: Bins, where: str) -> None:
    """Raise InvalidStatistic at `where` if there are too many intervals for a filter or a second column."""
    if isinstance(partition, IntervalBins) and partition.edges.intervals > MAX_JOINT_INTERVALS:
        what = f"must make at most {MAX_JOINT_INTERVALS:,} intervals beside a filter or a second column"
        raise InvalidStatistic(where, what)


def describe_bins(partition: Bins, *, by_edges: bool) -> dict[str, Any]:
    """Return the members of a request for these bins."""
    if not isinstance(partition, IntervalBins):
        return {}
    edges = partition.edges
    if by_edges:
        return {"edges": partition.edge_values()}
    if partition.kind.temporal:
        last = edges.upper - 1 if partition.period else edges.upper
        dates = [format_down(edge, partition.kind) for edge in (edges.lower, last)]
        return {"bins": partition.period or edges.intervals, "bounds": dates}
    bounds = [json_number(to_stored_bound(partition.kind, edge)) for edge in (edges.lower, edges.upper)]
    return {"bins": edges.intervals, "bounds": bounds}


def bins_identity(partition: Bins) -> str | None:
    """Return a text that identifies the intervals; None for other bins, which are always the same for a column."""
    return partition.identity() if isinstance(partition, IntervalBins) else None
