"""The adaptive histogram: counts of coarse cells, and then of fine cells around the quantiles that these show.

One row is in one cell of each of both steps, so the price does not depend on the number of cells. A histogram of all
bins pays for many that are far from each quantile, and the count below an edge is a sum of many of its counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.fine_cells import EDGES_OF_A_QUANTILE, FineCells, estimate_below
from app.dp.statistics.quantile_counts import QuantileCounts, as_reported
from app.dp.table.cells import Steps
from app.dp.table.sums import Answer

_COARSE_CELLS, _SHARED_COARSE_CELLS = 32, 16
"""The maximum number of coarse cells for one quantile, and for several, which need more accurate coarse counts."""

FINE_UNIT = mpq(1)
"""Δ of a fine count; a coarse count has twice as much noise, and costs half."""


@dataclass(frozen=True)
class AdaptiveHistogram(QuantileCounts):
    """The counts of coarse cells with equally many bins each, and of fine cells that are chosen by them.

    The coarse counts of c rows change by at most 2c in total, and so do the fine ones. Coarse counts are drawn with
    Δ = 2 and fine ones with Δ = 1, so at ε/(3c) for each draw the first cost a third of ε, and the others two thirds.
    """

    kind: ClassVar[str] = "adaptive_histogram"

    @property
    def sensitivity(self) -> Rational:
        """Δ of a coarse count, so that a radius holds for both steps; that of a fine count is half of it."""
        return 2 * FINE_UNIT

    @property
    def b_prime(self) -> Rational:
        """⌈n/2⌉ in units of a fine count's Δ, which is more than a coarse count needs."""
        return mpq(self.n - self.n // 2)

    @property
    def mechanisms(self) -> int:
        """3c: the total changes of the coarse and fine counts, each over its Δ."""
        return 3 * self.rows_per_unit

    @property
    def coarse_edges(self) -> list[int]:
        """The indices of the coarse cells' edges."""
        cells = min(_COARSE_CELLS if len(self.probabilities) == 1 else _SHARED_COARSE_CELLS, self.intervals)
        return [i * self.intervals // cells for i in range(cells + 1)]

    @property
    def fine_cells(self) -> int:
        """The number of fine counts; if there are fewer cells, the last counts are of no rows."""
        return min(self.intervals, (EDGES_OF_A_QUANTILE + 1) * len(self.probabilities))

    @property
    def coarse_counts(self) -> int:
        """The number of coarse counts; the last one is of the rows without a value, if there can be some."""
        return len(self.coarse_edges) - 1 + self.may_lack_values

    @property
    def components(self) -> int:
        """The number of all counts."""
        return self.coarse_counts + self.fine_cells

    @property
    def bins(self) -> Steps:
        """A label for each count, in their order."""
        coarse = (f"coarse cell {cell}" for cell in range(1, len(self.coarse_edges)))
        fine = (f"fine cell {cell}" for cell in range(1, self.fine_cells + 1))
        return Steps((*coarse, *(("no value",) if self.may_lack_values else ()), *fine))

    def search(self, answer: Answer, scale: Rational, release: Callable[..., Rational]) -> list[Rational]:
        """Return the released coarse counts, and then the released counts of the fine cells."""
        below = [mpq(0), *accumulate(map(mpq, self.histogram.values(answer)[: self.intervals]))]
        without = self.n - below[-1]
        coarse = [below[high] - below[low] for low, high in pairwise(self.coarse_edges)]
        released = [release(count) for count in (*coarse, *([without] if self.may_lack_values else []))]
        counts = self.choose_cells(released, scale).count(below, without, self.probabilities)
        counts += [mpq(0)] * (self.fine_cells - len(counts))
        return released + [release(count, FINE_UNIT) for count in counts]

    def choose_cells(self, released: Sequence[Rational], scale: Rational) -> FineCells:
        """Return the fine cells that follow from the released counts, as in `search`."""
        coarse = [as_reported(count) for count in released[: self.coarse_counts]]
        values = mpq(self.n)
        if self.may_lack_values:
            values -= min(max(coarse.pop(), mpq(0)), values)
        below = estimate_below(coarse, values)
        return FineCells.choose(self.coarse_edges, below, self.probabilities, scale * FINE_UNIT / self.sensitivity)

    def _distinction(self) -> list[Any]:
        return [self.histogram.identity, [str(each) for each in self.probabilities], FineCells.RULE]
