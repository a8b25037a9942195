"""The bins of a histogram. They cover all possible values and do not depend on the data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import LARGEST_WHOLE_DOUBLE, Rational, shortest_text, to_nearest_double
from app.dp.table.codes import MAX_BOUND, MIN_GAP, check_bounds, to_stored_bound
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import format_down, label_period

Period: TypeAlias = Literal["day", "iso_week", "month", "quarter", "year"]

MAX_EDGES = 10_000
MAX_INTERVALS = 1_000_000


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of `intervals` intervals from `lower` to `upper`, as written in the request.

    Without `given`, they are evenly spaced: edge i is lower + (upper - lower)·i/intervals. Otherwise `given` has all
    edges as stored.
    """

    lower: Rational
    upper: Rational
    intervals: int
    given: tuple[Rational, ...] = ()

    def to_stored(self, kind: Kind) -> tuple[Rational, ...]:
        """Return the edges for a column of this kind, as exact rationals, ascending."""
        return tuple(self._to_stored(kind))

    def are(self, edges: Sequence[Rational], kind: Kind) -> bool:
        """Return whether these are the edges for a column of this kind; stop at the first difference."""
        return all(own == edge for own, edge in zip(self._to_stored(kind), edges, strict=True))

    def _to_stored(self, kind: Kind) -> Iterator[Rational]:
        step = self.upper - self.lower
        exact = self.given or (self.lower + step * i / self.intervals for i in range(self.intervals + 1))
        return (to_stored_bound(kind, edge) for edge in exact)

    def doubles(self) -> npt.NDArray[np.float64]:
        """Return the double nearest to each edge."""
        if self.given:
            return np.array([to_nearest_double(edge) for edge in self.given])
        start, step, divisor = self._progression()
        if max(abs(start), abs(start + step * self.intervals), divisor) <= LARGEST_WHOLE_DOUBLE:
            # All operands are exact doubles, so the division rounds once, like a division of integers.
            return (start + step * np.arange(self.intervals + 1)) / divisor + 0.0
        return np.array([(start + step * i) / divisor + 0.0 for i in range(self.intervals + 1)])

    def whole(self, scale: int) -> list[int]:
        """Return each edge rounded up to a whole number of units of 10^-scale."""
        unit = 10**scale
        if self.given:
            return [-int(-edge * unit // 1) for edge in self.given]
        start, step, divisor = self._progression()
        start, step = start * unit, step * unit
        return [-(-(start + step * i) // divisor) for i in range(self.intervals + 1)]

    def _progression(self) -> tuple[int, int, int]:
        """Return start, step and divisor, with edge i = (start + step·i)/divisor; Python integers are fast enough."""
        common = math.lcm(int(self.lower.denominator), int(self.upper.denominator))
        lower, upper = int(self.lower * common), int(self.upper * common)
        return lower * self.intervals, upper - lower, common * self.intervals


@dataclass(frozen=True, slots=True)
class IntervalBins:
    """Intervals [e₀, e₁), …, [e_{m-1}, e_m] of values clamped to the edges; then `missing`, if a row may lack a value.

    Attributes:
        kind: the numeric kind of the column; for a real column, the edges are the nearest doubles to those written.
        scale: values are stored as whole multiples of 10^-scale (integer and decimal columns).
        edges: the edges as written.
        missing: whether there is a bin for NULL and NaN.
        period: the calendar period of the bins, which gives them their labels; the edges alone tell bins apart.
    """

    kind: Kind
    scale: int
    edges: Edges
    missing: bool
    period: Period | None = field(default=None, compare=False, repr=False)

    @property
    def count(self) -> int:
        """The number of bins."""
        return self.edges.intervals + self.missing

    def thresholds(self) -> list[float] | list[int]:
        """Return the thresholds for a stored value v: bin i has thresholds[i] <= v < thresholds[i + 1].

        For a real column they are strictly ascending doubles. Otherwise they are whole numbers, and two neighbours are
        equal if their interval contains no whole number. Values below the first threshold are in the first bin, and
        values at or above the last threshold are in the last bin.
        """
        return self.edges.doubles().tolist() if self.kind is Kind.REAL else self.edges.whole(self.scale)

    def edge_values(self) -> list[int | float] | list[str]:
        """Return the edges as JSON numbers, or as ISO dates."""
        if self.kind.temporal:
            return [format_down(edge, self.kind) for edge in self.edges.to_stored(self.kind)]
        return [shortest_text(edge) for edge in self.edges.doubles().tolist()]

    def describe(self) -> list[dict[str, Any]]:
        """Return the bins in order, ready for JSON: kind, label and, for intervals, the lower and upper edge."""
        values = self.edge_values()
        last = self.edges.intervals - 1
        intervals = [
            {
                "kind": "interval",
                "label": label_period(str(values[i]), self.period)
                if self.period
                else f"[{values[i]}, {values[i + 1]}{']' if i == last else ')'}",
                "lower": values[i],
                "upper": values[i + 1],
            }
            for i in range(self.edges.intervals)
        ]
        return intervals + _missing(self.missing)

    def identity(self) -> str:
        """Return a text that is equal for two sets of bins if and only if all their edges are equal."""
        edges = self.edges
        if self.kind is Kind.REAL:
            return _digest(edges.doubles().astype("<f8").tobytes())
        if edges.given:
            return _digest(",".join(map(str, edges.given)).encode())
        return f"{edges.lower} {edges.upper} {edges.intervals}"


@dataclass(frozen=True, slots=True)
class CategoryBins:
    """A bin for each declared category, `other` for every other text, then `missing`, if a row may lack a value."""

    categories: tuple[str, ...]
    missing: bool

    @property
    def count(self) -> int:
        """The number of bins."""
        return len(self.categories) + 1 + self.missing

    def describe(self) -> list[dict[str, Any]]:
        """The bins in order, ready for JSON: kind and label."""
        declared = [{"kind": "category", "label": category} for category in self.categories]
        return [*declared, {"kind": "other", "label": "other"}, *_missing(self.missing)]


@dataclass(frozen=True, slots=True)
class BooleanBins:
    """`false`, `true`, then `missing`, if a row may lack a value."""

    missing: bool

    @property
    def count(self) -> int:
        """The number of bins."""
        return 2 + self.missing

    def describe(self) -> list[dict[str, Any]]:
        """The bins in order, ready for JSON: kind and label."""
        return [{"kind": "category", "label": label} for label in ("false", "true")] + _missing(self.missing)


Bins: TypeAlias = IntervalBins | CategoryBins | BooleanBins


def bins_by_edges(column: Column, edges: tuple[Rational, ...]) -> IntervalBins:
    """Return the bins of a numeric column between given edges.

    Raises:
        InvalidStatistic: at `edges` or one of them, if there are fewer than three or too many, or if they are too
        large,
            too close together or not ascending (for a real column, as doubles).
    """
    if not 3 <= len(edges) <= MAX_EDGES:
        raise InvalidStatistic("edges", f"must have 3 to {MAX_EDGES:,} edges")
    for i, edge in enumerate(edges):
        if abs(edge) > MAX_BOUND:
            raise InvalidStatistic(f"edges.{i}", "must be from -1e100 to 1e100")
        if i and edge - edges[i - 1] < MIN_GAP:
            raise InvalidStatistic(f"edges.{i}", "must be above the edge before it, by at least 1e-100")
    stored = tuple(to_stored_bound(column.kind, edge) for edge in edges)
    for i, (edge, following) in enumerate(pairwise(stored), start=1):
        if edge == following:
            raise InvalidStatistic(f"edges.{i}", "is too close to the edge before it: both are the same double")
    # Evenly spaced edges have one representation, whether the request has `edges` or `bins`.
    even = Edges(edges[0], edges[-1], len(edges) - 1)
    if even.are(stored, column.kind):
        return _interval_bins(column, even)
    return _interval_bins(column, Edges(stored[0], stored[-1], even.intervals, stored))


def bins_by_number(column: Column, intervals: int, bounds: tuple[Rational, Rational] | None) -> IntervalBins:
    """Return `intervals` equal bins between the requested bounds, or between the declared ones.

    Raises:
        InvalidStatistic: at `bins`, if there are too few or too many, or if two edges are the same double; at `bounds`,
            as in `check_bounds`.
    """
    if not 2 <= intervals <= MAX_INTERVALS:
        raise InvalidStatistic("bins", f"must be from 2 to {MAX_INTERVALS:,}")
    if column.kind.temporal:
        return _bins_of_whole_units(column, intervals, check_bounds(column, bounds))
    edges = Edges(*check_bounds(column, bounds), intervals)
    if column.kind is Kind.REAL and not np.diff(edges.doubles()).all():
        raise InvalidStatistic("bins", "is too large: neighbouring edges are the same double")
    return _interval_bins(column, edges)


def _bins_of_whole_units(column: Column, intervals: int, bounds: tuple[Rational, Rational]) -> IntervalBins:
    """Return bins of dates that are as even as whole units can be."""
    lower, upper = bounds
    if intervals >= MAX_EDGES or intervals > upper - lower:
        most = f"be less than {MAX_EDGES:,}, and" if intervals >= MAX_EDGES else "leave each bin"
        raise InvalidStatistic("bins", f"must {most} at least one unit of the column's resolution between two edges")
    return bins_by_edges(column, tuple(mpq(edge) for edge in Edges(lower, upper, intervals).whole(0)))


def _interval_bins(column: Column, edges: Edges) -> IntervalBins:
    scale = column.scale if column.kind is Kind.DECIMAL else 0
    return IntervalBins(column.kind, scale, edges, column.nullable)


def _missing(missing: bool) -> list[dict[str, Any]]:  # noqa: FBT001  the only argument
    return [{"kind": "missing", "label": "missing"}] * missing


def _digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"
