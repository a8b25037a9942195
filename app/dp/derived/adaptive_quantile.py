"""Quantiles from an adaptive histogram.

Whether the quantile is in a given cell is tested by the counts below both ends of that cell: too many values below the
lower end, or too few below the upper one, exclude it. The interval goes from the first to the last cell that is not
excluded. Only the cell that has the quantile matters for the confidence, and its ends do not depend on the fine counts'
errors. So each test has half of α, whatever the number of cells.
"""

from collections.abc import Sequence
from itertools import accumulate

from gmpy2 import mpq

from app.dp.derived.base import Estimate, KnownComponent
from app.dp.derived.from_bins import interpolate_edges
from app.dp.derived.interval_arithmetic import Range
from app.dp.mechanism.equal_noise_sums import one_sided_sum_radius
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import Rational
from app.dp.statistics.adaptive_histogram import FINE_UNIT, AdaptiveHistogram
from app.dp.statistics.fine_cells import estimate_below


def estimate_quantiles(counted: AdaptiveHistogram, known: KnownComponent, edges: Sequence[Rational]) -> list[Estimate]:
    """Return the quantile at each probability; all intervals hold together with probability 1 - α.

    Args:
        counted: the statistic.
        known: its release, and α.
        edges: the edges of its histogram.
    """
    mechanism = known.mechanism
    cells = counted.choose_cells(known.raw, mechanism.statistic.sensitivity * mechanism.parameters.scale)
    fine = known.raw[counted.coarse_counts :][: len(cells.edges) - 1]
    alpha = known.alpha / (2 * len(counted.probabilities))
    below = _bounds_below(fine, mpq(counted.n), mechanism, alpha)
    fitted = estimate_below(fine, mpq(counted.n))
    found = []
    for i, probability in enumerate(counted.probabilities):
        places = [0, *cells.region(i), len(fine)]
        target = probability * counted.n
        few = [place == 0 or below[place][0] < target for place in places]
        many = [place == len(fine) or below[place][1] >= target for place in places]
        left = [j for j in range(len(places) - 1) if few[j] and many[j + 1]]
        counts = [mpq(0), *(fitted[place] for place in places[1:-1]), mpq(counted.n)]
        nodes = [edges[cells.edges[place]] for place in places]
        value = interpolate_edges(nodes, counts, target)
        if not left:  # the counts contradict each other; any cell is as good
            left = [max(j for j in range(len(places) - 1) if j == 0 or nodes[j] < value)]
        found.append((nodes[left[0]], value, nodes[left[-1] + 1]))
    return _make_ascend(found)


def _bounds_below(
    fine: Sequence[Rational], total: Rational, mechanism: Mechanism, alpha: Rational
) -> list[tuple[Rational, Rational]]:
    """Return a lower and an upper bound of the count below each edge; each is wrong with probability at most α.

    The count is the sum of the cells before the edge, the total minus those after it, or the mean of both, which has
    half the error of the sum of all cells. The one with the smallest error is used: that depends on its place only.
    """
    cells, sums = len(fine), [mpq(0), *accumulate(fine)]
    means = _reach(mechanism, cells, alpha) / 2
    bounds = []
    for i, before in enumerate(sums):
        after = total - (sums[-1] - before)
        reach = _reach(mechanism, min(i, cells - i), alpha)
        count = before if 2 * i <= cells else after
        if means <= reach:
            count, reach = (before + after) / 2, means
        bounds.append((count - reach, count + reach))
    return bounds


def _reach(mechanism: Mechanism, cells: int, alpha: Rational) -> Rational:
    radius = FINE_UNIT * one_sided_sum_radius(mechanism.parameters, cells, alpha)
    return radius + cells * mechanism.resolution


def _make_ascend(found: Sequence[tuple[Rational, Rational, Rational]]) -> list[Estimate]:
    """Return the quantiles with their ends; the intervals of greater and of smaller ones bound each of them too."""
    lowers = list(accumulate((lower for lower, _, _ in found), max))
    uppers = list(accumulate((upper for _, _, upper in reversed(found)), min))[::-1]
    values = accumulate((value for _, value, _ in found), max)
    estimates = []
    for lower, value, upper in zip(lowers, values, uppers, strict=True):
        highest = max(lower, upper)
        estimates.append(Estimate(min(max(value, lower), highest), Range(lower, highest)))
    return estimates
