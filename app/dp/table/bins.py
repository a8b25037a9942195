"""The bins of a histogram. They cover every value, and are there whatever the data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import LARGEST_WHOLE_DOUBLE, Rational, shortest_text, to_nearest_double
from app.dp.table.codes import LARGEST_BOUND, SMALLEST_GAP, checked_bounds, stored_bound
from app.dp.table.columns import Column, Kind

MOST_EDGES = 10_000
MOST_INTERVALS = 1_000_000


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of `intervals` intervals from `lower` to `upper`, as written.

    Evenly spaced, edge i being lower + (upper - lower)·i/intervals, unless all of them are `given` (as stored).
    """

    lower: Rational
    upper: Rational
    intervals: int
    given: tuple[Rational, ...] = ()

    def stored(self, kind: Kind) -> tuple[Rational, ...]:
        """The edges that a column of this kind has, as exact rationals, ascending."""
        return tuple(self._stored(kind))

    def are(self, edges: Sequence[Rational], kind: Kind) -> bool:
        """Whether a column of this kind has these edges; it looks no further than the first that is another."""
        return all(own == edge for own, edge in zip(self._stored(kind), edges, strict=True))

    def _stored(self, kind: Kind) -> Iterator[Rational]:
        step = self.upper - self.lower
        exact = self.given or (self.lower + step * i / self.intervals for i in range(self.intervals + 1))
        return (stored_bound(kind, edge) for edge in exact)

    def doubles(self) -> npt.NDArray[np.float64]:
        """The double nearest to each edge."""
        if self.given:
            return np.array([to_nearest_double(edge) for edge in self.given])
        start, step, divisor = self._progression()
        if max(abs(start), abs(start + step * self.intervals), divisor) <= LARGEST_WHOLE_DOUBLE:
            # The division of two doubles is rounded once, like that of any two integers, and these are exact.
            return (start + step * np.arange(self.intervals + 1)) / divisor + 0.0
        return np.array([(start + step * i) / divisor + 0.0 for i in range(self.intervals + 1)])

    def whole(self, scale: int) -> list[int]:
        """The least whole number of units of 10^-scale at or above each edge."""
        unit = 10**scale
        if self.given:
            return [math.ceil(edge * unit) for edge in self.given]
        start, step, divisor = self._progression()
        start, step = start * unit, step * unit
        return [-(-(start + step * i) // divisor) for i in range(self.intervals + 1)]

    def _progression(self) -> tuple[int, int, int]:
        """Edge i as (start + step·i)/divisor in plain integers, which are fast enough for a million edges."""
        common = math.lcm(int(self.lower.denominator), int(self.upper.denominator))
        lower, upper = int(self.lower * common), int(self.upper * common)
        return lower * self.intervals, upper - lower, common * self.intervals


@dataclass(frozen=True, slots=True)
class IntervalBins:
    """Intervals [e₀, e₁), …, [e_{m-1}, e_m] of values clamped to the edges; then `missing`, if a row may lack a value.

    Attributes:
        kind: the numeric kind of the column. Of a real column the edges are the doubles nearest to what was written.
        scale: values are stored as whole numbers of 10^-scale (integer and decimal columns).
        edges: the edges as written.
        missing: whether there is a bin for NULL and NaN.
    """

    kind: Kind
    scale: int
    edges: Edges
    missing: bool

    @property
    def count(self) -> int:
        """The number of bins."""
        return self.edges.intervals + self.missing

    def thresholds(self) -> list[float] | list[int]:
        """What a stored value v is compared with: bin i has thresholds[i] <= v < thresholds[i + 1].

        Doubles, strictly ascending, for a real column, otherwise whole numbers, of which neighbours are equal when no
        whole number is in their interval. A value below the first is in the first bin, one at or above the last in
        the last.
        """
        return self.edges.doubles().tolist() if self.kind is Kind.REAL else self.edges.whole(self.scale)

    def edge_values(self) -> list[int | float]:
        """The edges as JSON numbers."""
        return [shortest_text(edge) for edge in self.edges.doubles().tolist()]

    def describe(self) -> list[dict[str, Any]]:
        """The bins in order, ready for JSON: kind, label and, of intervals, lower and upper edge."""
        values = self.edge_values()
        last = self.edges.intervals - 1
        intervals = [
            {
                "kind": "interval",
                "label": f"[{values[i]}, {values[i + 1]}{']' if i == last else ')'}",
                "lower": values[i],
                "upper": values[i + 1],
            }
            for i in range(self.edges.intervals)
        ]
        return intervals + _missing(self.missing)

    def identity(self) -> str:
        """A text that two sets of bins share exactly if all their edges are the same, however they were asked for."""
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
    """The bins of a numeric column between given edges.

    Raises:
        InvalidStatistic: at `edges` or one of them, if they are fewer than three, too many, too large, too close
            together or not ascending (for a real column: as doubles).
    """
    if not 3 <= len(edges) <= MOST_EDGES:
        raise InvalidStatistic("edges", f"must have 3 to {MOST_EDGES:,} edges")
    for i, edge in enumerate(edges):
        if abs(edge) > LARGEST_BOUND:
            raise InvalidStatistic(f"edges.{i}", "must be from -1e100 to 1e100")
        if i and edge - edges[i - 1] < SMALLEST_GAP:
            raise InvalidStatistic(f"edges.{i}", "must be above the edge before it, by at least 1e-100")
    stored = tuple(stored_bound(column.kind, edge) for edge in edges)
    for i, (edge, following) in enumerate(pairwise(stored), start=1):
        if edge == following:
            raise InvalidStatistic(f"edges.{i}", "is too close to the edge before it: both are the same double")
    # Evenly spaced edges are one thing, whichever way they are asked for.
    even = Edges(edges[0], edges[-1], len(edges) - 1)
    if even.are(stored, column.kind):
        return _interval_bins(column, even)
    return _interval_bins(column, Edges(stored[0], stored[-1], even.intervals, stored))


def bins_by_number(column: Column, intervals: int, bounds: tuple[Rational, Rational] | None) -> IntervalBins:
    """The bins of `intervals` equal intervals between the bounds asked for, or the declared ones.

    Raises:
        InvalidStatistic: at `bins`, if there are too few or too many, or their edges coincide as doubles; at `bounds`,
            as in `checked_bounds`.
    """
    if not 2 <= intervals <= MOST_INTERVALS:
        raise InvalidStatistic("bins", f"must be from 2 to {MOST_INTERVALS:,}")
    edges = Edges(*checked_bounds(column, bounds), intervals)
    if column.kind is Kind.REAL and not np.diff(edges.doubles()).all():
        raise InvalidStatistic("bins", "is too large: neighbouring edges are the same double")
    return _interval_bins(column, edges)


def _interval_bins(column: Column, edges: Edges) -> IntervalBins:
    scale = column.scale if column.kind is Kind.DECIMAL else 0
    return IntervalBins(column.kind, scale, edges, column.nullable)


def _missing(missing: bool) -> list[dict[str, Any]]:  # noqa: FBT001  the only thing it says
    return [{"kind": "missing", "label": "missing"}] * missing


def _digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"
