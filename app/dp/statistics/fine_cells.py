"""Chooses the fine cells of an adaptive histogram from its released coarse counts.

The coarse counts show about where each quantile is. Around it lie the edges of the fine cells, close together where the
quantile is likely to be, and farther apart beyond, up to coarse edges that are certainly beyond it. So the cells suit
data that lie evenly in a coarse cell, and those that do not. The choice only affects how narrow the intervals are: they
are valid for any choice.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import ClassVar, Self

from gmpy2 import mpq

from app.dp.numbers.exact import Rational

_DISTANCES = (4, 8, 12, 16, 20)
"""How far edges are from a quantile on both sides, in ranks, in units of the scale of a fine count's noise."""

_CERTAIN = 40
"""In the same units, the distance from which the coarse counts tell on which side of an edge a quantile is."""

_PARTS = (1, 4, 16)
"""Beyond that, by how much the distances of edges in bins fall from a coarse edge to a quantile."""

EDGES_OF_A_QUANTILE = 2 + 2 * len(_DISTANCES) + 2 * len(_PARTS)
"""The maximum number of edges around one quantile: those of its own bin, and those on both sides."""


@dataclass(frozen=True, slots=True)
class FineCells:
    """The fine cells and which of their edges belong to which quantile.

    Attributes:
        edges: the indices of the cells' edges, ascending, from the first to the last edge of the bins.
        splits: the edges between two quantiles; every quantile has the edges after one split, up to the next one.
    """

    edges: tuple[int, ...]
    splits: tuple[int, ...]

    RULE: ClassVar[int] = 1
    """The version of this rule. Released counts are only valid for the rule that chose their cells, so any change
    needs a new number."""

    @classmethod
    def choose(
        cls, coarse: Sequence[int], below: Sequence[Rational], probabilities: Sequence[Rational], scale: Rational
    ) -> Self:
        """Return the cells for the estimated counts `below` the `coarse` edges, and a scale of the fine noise in rows.

        The counts ascend from 0 to the number of values.
        """
        targets = [p * below[-1] for p in probabilities]
        middles = ((a + b) / 2 for a, b in pairwise(targets))
        splits = tuple(_round(_place(coarse, below, middle)) for middle in middles)
        edges = {coarse[0], coarse[-1], *splits}
        for target, low, high in zip(targets, (coarse[0], *splits), (*splits, coarse[-1]), strict=True):
            edges.update(edge for edge in _edges_around(coarse, below, target, scale) if low < edge <= high)
        return cls(tuple(sorted(edges)), splits)

    def region(self, quantile: int) -> range:
        """Return the positions of the inner edges that belong to a quantile."""
        bounds = (self.edges[0], *self.splits, self.edges[-1])
        first = bisect_left(self.edges, bounds[quantile] + 1)
        return range(first, min(bisect_left(self.edges, bounds[quantile + 1] + 1), len(self.edges) - 1))

    def count(self, below: Sequence[Rational], without: Rational, probabilities: Sequence[Rational]) -> list[Rational]:
        """Return the exact count of each cell, from the exact counts `below` all edges.

        Of the rows `without` a value, the part p counts as below every edge that belongs to the quantile at p.
        """
        counts = [below[high] - below[low] for low, high in pairwise(self.edges)]
        parts = [b - a for a, b in pairwise((mpq(0), *probabilities, mpq(1)))]
        for edge, part in zip((self.edges[0], *self.splits, self.edges[-2]), parts, strict=True):
            counts[min(bisect_left(self.edges, edge), len(counts) - 1)] += part * without
        return counts


def estimate_below(counts: Sequence[Rational], total: Rational) -> list[Rational]:
    """Return ascending estimates of the counts below all edges of cells with these released counts and their total.

    Each is the mean of the sum of the counts before it, and of the total minus those after it, weighted by how many
    counts the other sum has: the most accurate one of both.
    """
    sums, cells = [mpq(0), *accumulate(counts)], len(counts)
    estimates = []
    for i, before in enumerate(sums):
        after = total - (sums[-1] - before)
        estimates.append(min(max((before * (cells - i) + after * i) / cells, mpq(0)), total))
    rising = list(accumulate(estimates, max))
    falling = list(accumulate(reversed(estimates), min))[::-1]
    return [(a + b) / 2 for a, b in zip(rising, falling, strict=True)]


def _edges_around(coarse: Sequence[int], below: Sequence[Rational], target: Rational, scale: Rational) -> set[int]:
    """Return edges at the distances from where the counts reach `target`, and around it up to coarse edges.

    If the noise is so small that some edges are the same, others divide the widest cells.
    """
    place = _place(coarse, below, target)
    low = coarse[max(bisect_right(below, target - _CERTAIN * scale) - 1, 0)]
    high = coarse[min(bisect_left(below, target + _CERTAIN * scale), len(coarse) - 1)]
    near = [_place(coarse, below, target + side * distance * scale) for distance in _DISTANCES for side in (-1, 1)]
    far = [place + (end - place) / part for part in _PARTS for end in (low, high)]
    edges = {int(place.__floor__()), int(place.__ceil__()), *map(_round, near), *map(_round, far)}
    while len(edges) < min(EDGES_OF_A_QUANTILE, high - low + 1):
        first, last = max(pairwise(sorted(edges)), key=lambda cell: cell[1] - cell[0])
        if last - first <= 1:
            break
        edges.add((first + last) // 2)
    return edges


def _place(coarse: Sequence[int], below: Sequence[Rational], wanted: Rational) -> Rational:
    """Return the index of an edge, with a fraction, at which the counts reach `wanted`, by linear interpolation."""
    i = bisect_left(below, wanted)
    if i in {0, len(below)}:
        return mpq(coarse[0] if i == 0 else coarse[-1])
    part = (wanted - below[i - 1]) / (below[i] - below[i - 1])
    return coarse[i - 1] + (coarse[i] - coarse[i - 1]) * part


def _round(place: Rational) -> int:
    return int((place + mpq(1, 2)).__floor__())
