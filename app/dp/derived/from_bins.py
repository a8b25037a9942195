"""Statistics derived from counts of bins: cumulative counts, and the margin of a two-way table."""

from abc import ABC
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.derived.base import DerivedStatistic, Estimate, Estimates, Guesses, KnownComponent
from app.dp.derived.interval_arithmetic import Range, ends
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.prefix_accuracy import prefix_radii
from app.dp.mechanism.sum_accuracy import sum_radius
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.histogram import MAX_JOINT_INTERVALS
from app.dp.statistics.treatment import Treatment
from app.dp.table.bins import Bins, IntervalBins
from app.dp.table.cells import Cells, WithOutside
from app.dp.table.columns import Column

HISTOGRAM_MEMBERS = ("column", "edges", "bins", "bounds", "where")


@dataclass(frozen=True)
class FromHistogram(DerivedStatistic, ABC):
    """A statistic derived from a histogram of a numeric column, whose values are clamped to the outer edges.

    Attributes:
        intervals: the bins.
    """

    intervals: IntervalBins

    @classmethod
    def parse_histogram(
        cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int
    ) -> tuple[dict[str, Any], dict[str, Any], IntervalBins]:
        """Return the request for the histogram, the description of the derived statistic, and the bins."""
        asked = {"kind": "histogram", **{member: spec.get(member) for member in HISTOGRAM_MEMBERS}}
        histogram = build(asked, columns, n, rows_per_unit)
        bins = histogram.bins.inside if isinstance(histogram.bins, WithOutside) else histogram.bins
        if not isinstance(bins, IntervalBins):
            raise InvalidStatistic("column", "must be a numeric column: only its values have an order")
        if bins.edges.intervals > MAX_JOINT_INTERVALS:
            where = "bins" if spec.get("edges") is None else "edges"
            raise InvalidStatistic(where, f"must make at most {MAX_JOINT_INTERVALS:,} intervals")
        return asked, histogram.describe() | {"kind": cls.kind}, bins

    def treat(self, components: Iterable[Treatment]) -> tuple[Treatment, ...]:
        """Return the treatments, where missing values are left out instead of counted in their own bin."""
        found = super().treat(components)
        return tuple(replace(each, missing_as="excluded") if each.missing_as == "missing" else each for each in found)

    def errors_below(self, mechanism: Mechanism, alpha: Rational) -> Callable[[int], Rational]:
        """Return a function from edges to bounds of the errors of the counts below them: all hold at 1 - `alpha`.

        The count below an edge is the sum of the bins before it, or n minus that of the bins after it, whichever are
        fewer. So half of α is for the sums from the first bin on, and half for those from the last bin on.
        """
        everything = mechanism.statistic.components
        radii = prefix_radii(mechanism.parameters, everything // 2, alpha / 2, on_grid=are_on_grid(mechanism))

        def error(edge: int) -> Rational:
            added = min(edge, everything - edge)
            return mechanism.sensitivity * radii.radius(added) + added * mechanism.resolution

        return error

    def count_below(self, known: KnownComponent) -> list[Estimate]:
        """Return the number of rows with a value below each edge but the first; for the last edge, at most the edge.

        The values and both ends of their intervals never descend. Since all counts sum to n, each value is computed
        from the bins before the edge or from those after it, whichever are fewer.
        """
        intervals, everything = self.intervals.edges.intervals, len(known.raw)
        rows, counted = mpq(self.n), sum(known.raw)
        error_below, ranges = self.errors_below(known.mechanism, known.alpha), []
        for i, below in enumerate(accumulate(known.raw[:intervals]), 1):
            near = below if 2 * i <= everything else rows - (counted - below)
            around = Range(near, near).widen(error_below(i)).cut(mpq(0), rows)
            ranges.append(ends(around))
        least = list(accumulate((low for low, _ in ranges), max))
        most = list(accumulate((high for _, high in reversed(ranges)), min))[::-1]
        values = fit_ascending(list(accumulate(known.raw[:intervals])))
        # With probability at most α the intervals of two edges contradict each other; then swap the ends.
        pairs = [(min(pair), max(pair)) for pair in zip(least, most, strict=True)]
        return [
            Estimate(min(max(value, low), high), Range(low, high))
            for value, (low, high) in zip(values, pairs, strict=True)
        ]


@dataclass(frozen=True)
class Cumulative(FromHistogram):
    """The number of rows with a value below each edge, or equal to the last edge; the counts never descend."""

    kind: ClassVar[str] = "cumulative"
    members: ClassVar[frozenset[str]] = frozenset(HISTOGRAM_MEMBERS)

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the cumulative counts that a request asks for; raise InvalidStatistic if it is invalid."""
        asked, described, bins = cls.parse_histogram(spec, columns, n, rows_per_unit)
        return cls(n, {"histogram": asked}, described, bins)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the cumulative counts: the non-descending sequence nearest to the sums of the released counts."""
        return {self.kind: self.count_below(known["histogram"])}

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational:  # noqa: ARG002
        """Return that of the count of half of the bins, which has the largest error, whatever the data."""
        mechanism = mechanisms["histogram"]
        bins = min(mechanism.statistic.components // 2, self.intervals.edges.intervals)
        return min(self.errors_below(mechanism, alpha)(bins), mpq(self.n, 2))

    @property
    def edges(self) -> list[int | float] | list[str]:
        """All edges but the first, as JSON numbers."""
        return self.intervals.edge_values()[1:]


@dataclass(frozen=True)
class Margin(DerivedStatistic):
    """The counts of one column's bins from a two-way table: the sums of its cells over the other column's bins.

    Attributes:
        cells: the cells of the table.
        first: whether the margin is of the table's first column.
    """

    cells: Cells
    first: bool

    kind: ClassVar[str] = "margin"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "edges", "bins", "bounds", "where", "column"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the margin that a request asks for; raise InvalidStatistic if it is invalid."""
        if spec.get("columns") is None:
            raise InvalidStatistic("columns", "is missing: a margin needs the two columns of its table")
        asked = {"kind": "histogram", **{member: spec.get(member) for member in cls.members - {"column"}}}
        table = build(asked, columns, n, rows_per_unit)
        cells = table.bins.inside if isinstance(table.bins, WithOutside) else table.bins
        if spec.get("column") not in spec["columns"]:
            raise InvalidStatistic("column", "must be one of the table's two columns")
        if not isinstance(cells, Cells):
            raise TypeError("a two-way table has cells")
        described = table.describe() | {"kind": cls.kind, "column": spec["column"]}
        return cls(n, {"table": asked}, described, cells, spec["column"] == spec["columns"][0])

    @property
    def bins(self) -> Bins:
        """The column's bins."""
        return self.cells.x if self.first else self.cells.y

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational:  # noqa: ARG002
        """Return that of a bin that is not near 0 or n: it is the same for all, whatever the data."""
        rows, added = (self.cells.x.count, self.cells.y.count)[:: 1 if self.first else -1]
        return min(sum_error(mechanisms["table"], added, alpha / rows), mpq(self.n, 2))

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the sum of each bin's cells, clamped to [0, n]."""
        table, (x, y) = known["table"], (self.cells.x.count, self.cells.y.count)
        rows, added = (x, y) if self.first else (y, x)
        error = sum_error(table.mechanism, added, table.alpha / rows)
        estimates = []
        for i in range(rows):
            total = sum(table.raw[i * y : (i + 1) * y] if self.first else table.raw[i : x * y : y])
            around = Range(total, total).widen(error).cut(mpq(0), mpq(self.n))
            least, most = ends(around)
            estimates.append(Estimate(min(max(total, least), most), around))
        return {self.kind: estimates}


def sum_error(mechanism: Mechanism, number: int, alpha: Rational) -> Rational:
    """Return a bound of the error of the sum of `number` counts of a release, valid with probability 1 - `alpha`."""
    radius = sum_radius(mechanism.parameters, number, alpha, on_grid=are_on_grid(mechanism))
    return mechanism.sensitivity * radius + number * mechanism.resolution


def are_on_grid(mechanism: Mechanism) -> bool:
    """Return whether the true counts are multiples of the grid: they and the centre are whole numbers."""
    return bool(mechanism.sensitivity == 1 and mechanism.parameters.grid <= 1)


def fit_ascending(values: Sequence[Rational]) -> list[Rational]:
    """Return the non-descending sequence nearest to `values` by least squares (pool adjacent violators)."""
    pools: list[tuple[Rational, int]] = []
    for value in values:
        total, size = value, 1
        while pools and pools[-1][0] * size > total * pools[-1][1]:
            before, many = pools.pop()
            total, size = total + before, size + many
        pools.append((total, size))
    return [total / size for total, size in pools for _ in range(size)]


def interpolate_edges(edges: Sequence[Rational], counts: Sequence[Rational], wanted: Rational) -> Rational:
    """Return the value at which the ascending counts below the edges reach `wanted`, by linear interpolation."""
    i = min(max(bisect_left(counts, wanted), 1), len(counts) - 1)
    step = counts[i] - counts[i - 1]
    part = min(max((wanted - counts[i - 1]) / step, mpq(0)), mpq(1)) if step else mpq(1, 2)
    return edges[i - 1] + (edges[i] - edges[i - 1]) * part
