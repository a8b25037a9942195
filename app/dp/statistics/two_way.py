"""The two-way table: the joint histogram of two columns, with a mechanism for each cell (the notes, section 7.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.statistics.base import find_column, parse_pair
from app.dp.statistics.count_base import SharedCounts
from app.dp.statistics.histogram import bins_identity, describe_bins, parse_bins, require_joint
from app.dp.table.bins import Bins
from app.dp.table.cells import Cells, WithOutside
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition, describe_conditions
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import Answer, CellSums

MAX_CELLS = 1_000_000

_AXIS_MEMBERS = ("edges", "bins", "bounds")


@dataclass(frozen=True)
class TwoWay(SharedCounts):
    """The number of rows in each combination of two columns' bins, row by row; with a filter, then `outside`.

    Each row of the dataset is in one cell. Replacing one changes at most two counts by one each, as in a histogram of
    one column, however many cells there are. The margins, sums of the table's rows or columns, are post-processing.
    """

    x: str
    x_bins: Bins
    y: str
    y_bins: Bins
    by_edges: tuple[bool, bool]
    conditions: tuple[Condition, ...] = ()

    kind: ClassVar[str] = "histogram"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "edges", "bins", "bounds", "where"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the table that a request asks for; raise InvalidStatistic if it is invalid.

        `edges`, `bins` and `bounds` have one member for each axis.
        """
        names = parse_pair(spec.get("columns"), "columns")
        if names is None:
            raise InvalidStatistic("columns", "must be two columns")
        x, y = (find_column(columns, name, f"columns.{i}") for i, name in enumerate(names))
        if x.name == y.name:
            raise InvalidStatistic("columns", "must be two different columns")
        axes = {member: parse_pair(spec.get(member), member) or (None, None) for member in _AXIS_MEMBERS}
        x_bins, y_bins = (_axis(each, {m: pair[i] for m, pair in axes.items()}, i) for i, each in enumerate((x, y)))
        if x_bins.count * y_bins.count > MAX_CELLS:
            raise InvalidStatistic(
                "columns", f"have too many cells: the product of their bins may be at most {MAX_CELLS:,}"
            )
        by_edges = (axes["edges"][0] is not None, axes["edges"][1] is not None)
        conditions = parse_conditions(spec.get("where"), columns)
        return cls(n, rows_per_unit, x.name, x_bins, y.name, y_bins, by_edges, conditions)

    @property
    def needs(self) -> CellSums:
        """The count of each cell."""
        return CellSums(((self.x, self.x_bins), (self.y, self.y_bins)), self.conditions)

    @property
    def components(self) -> int:
        """The number of cells."""
        return self.bins.count

    @property
    def bins(self) -> Cells | WithOutside:
        """The cells and, with a filter, `outside` for all other rows."""
        cells = Cells(self.x_bins, self.y_bins)
        return WithOutside(cells) if self.conditions else cells

    def describe(self) -> dict[str, Any]:
        """Return the request for this table; a member that an axis does not have is null."""
        described_axes = [
            describe_bins(bins, by_edges=by_edges)
            for bins, by_edges in zip((self.x_bins, self.y_bins), self.by_edges, strict=True)
        ]
        members = {
            member: [axis.get(member) for axis in described_axes]
            for member in _AXIS_MEMBERS
            if any(member in axis for axis in described_axes)
        }
        return {"kind": self.kind, "columns": [self.x, self.y]} | members | describe_conditions(self.conditions)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        cells = self.x_bins.count * self.y_bins.count
        if len(answer) != cells + 1 or (answer[cells] and not self.conditions):
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)[: self.components]

    def _distinction(self) -> list[Any]:
        axes = [[self.x, bins_identity(self.x_bins)], [self.y, bins_identity(self.y_bins)]]
        return [axes, [each.distinction() for each in self.conditions]]


def _axis(column: Column, spec: Mapping[str, Any], i: int) -> Bins:
    """Return the bins of axis `i`; an InvalidStatistic names the request's path, such as `edges.1`."""
    try:
        bins = parse_bins(column, spec)
        require_joint(bins, "bins" if spec["edges"] is None else "edges")
    except InvalidStatistic as error:
        member, _, rest = error.where.partition(".")
        where = f"{member}.{i}" + (f".{rest}" if rest else "")
        raise InvalidStatistic(where, error.what, error.declared, error.sent) from None
    return bins
