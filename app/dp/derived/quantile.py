"""Quantiles, from the counts of a histogram or from a search: whichever gives narrower intervals for the same ε."""

import math
import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, cast

from gmpy2 import mpq

from app.dp.derived.adaptive_quantile import estimate_quantiles
from app.dp.derived.base import Estimate, Estimates, Guesses, KnownComponent, widest
from app.dp.derived.from_bins import HISTOGRAM_MEMBERS, FromHistogram, fit_ascending, interpolate_edges
from app.dp.derived.interval_arithmetic import Range, ends
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.ratio_accuracy import RatioError
from app.dp.numbers.exact import Rational, json_probability
from app.dp.statistics import build
from app.dp.statistics.adaptive_histogram import AdaptiveHistogram
from app.dp.statistics.fine_cells import EDGES_OF_A_QUANTILE
from app.dp.statistics.quantile_counts import MAX_SEARCHED, QuantileCounts
from app.dp.statistics.quantile_search import QuantileSearch
from app.dp.table.columns import Column, Kind

MAX_PROBABILITIES = 100

METHODS = ("histogram", "search", "adaptive")
_COUNTED = {"search": QuantileSearch, "adaptive": AdaptiveHistogram}


@dataclass(frozen=True)
class Quantile(FromHistogram):
    """For each probability p, the ⌈pN⌉-th smallest of the N values of the rows that meet the filter.

    Missing values do not count. Values are clamped to the outer edges. The ends of each interval are edges, so the
    bins limit its precision.

    Attributes:
        probabilities: the probabilities, in the order of the request.
        method: from what it is derived: one of `METHODS`.
        search: the counts that it is derived from; None if it is derived from a histogram.
    """

    probabilities: tuple[Rational, ...]
    method: str
    search: QuantileCounts | None

    kind: ClassVar[str] = "quantile"
    members: ClassVar[frozenset[str]] = frozenset({*HISTOGRAM_MEMBERS, "probabilities", "method"})
    guess_names: ClassVar[tuple[str, ...]] = ("mean", "standard_deviation")
    optional_guesses: ClassVar[tuple[str, ...]] = ("count",)

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the quantiles that a request asks for; raise InvalidStatistic if it is invalid."""
        asked, described, bins = cls.parse_histogram(spec, columns, n, rows_per_unit)
        probabilities = tuple(spec.get("probabilities") or ())
        if not 1 <= len(probabilities) <= MAX_PROBABILITIES:
            raise InvalidStatistic("probabilities", f"must have 1 to {MAX_PROBABILITIES} probabilities")
        for i, probability in enumerate(probabilities):
            if not 0 < probability < 1:
                raise InvalidStatistic(f"probabilities.{i}", "must be above 0 and below 1")
        method = spec.get("method")
        if method not in {None, *METHODS}:
            raise InvalidStatistic("method", f"must be one of {', '.join(METHODS)}")
        if method is None:
            method = _choose_method(len(set(probabilities)), bins.edges.intervals)
        search, components = None, {"histogram": asked}
        if method in _COUNTED:
            wanted = asked | {"kind": _COUNTED[method].kind, "probabilities": probabilities}
            search = cast("QuantileCounts", build(wanted, columns, n, rows_per_unit))
            components = {"search": wanted}
        shown = {"probabilities": [json_probability(probability) for probability in probabilities], "method": method}
        return cls(n, components, described | shown, bins, probabilities, method, search)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the quantiles in the order of the request; a greater probability never has a smaller quantile."""
        if self.search is not None:
            return {self.kind: self._search_estimates(self.search, known["search"])}
        edges = self._edges
        cumulative = self.count_below(known["histogram"])
        counts = [mpq(0), *(each.value or mpq(0) for each in cumulative)]
        return {self.kind: [_quantile(probability, edges, cumulative, counts) for probability in self.probabilities]}

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational | None:
        """Return that of the widest interval if the values, of `count` rows or all, are normally distributed."""
        search = self.search
        if search is None:
            mechanism = mechanisms["histogram"]
            below = self._suppose_counts(guesses, mechanism.statistic.components)
            return widest(self._plan_ranges(below, mechanism, alpha))
        mechanism, bins = mechanisms["search"], search.histogram.components
        below = self._suppose_counts(guesses, bins)
        counts = [after - before for before, after in pairwise(below)]
        answer = tuple([*counts, self.n - below[-1], 0][:bins])
        scale = mechanism.statistic.sensitivity * mechanism.parameters.scale
        released = tuple(search.search(answer, scale, lambda count, _=None: count))
        known = KnownComponent(released, released, (), mechanism, alpha)
        return widest(each.range for each in self._search_estimates(search, known))

    @property
    def date_kind(self) -> Kind | None:
        """The kind of the column if it holds dates."""
        return self.intervals.kind if self.intervals.kind.temporal else None

    @cached_property
    def _edges(self) -> tuple[Rational, ...]:
        """The exact edges."""
        return self.intervals.edges.to_stored(self.intervals.kind)

    @cached_property
    def _supposed(self) -> dict[frozenset[tuple[str, Rational]], list[int]]:
        """The counts below the edges by guesses, since a plan tries many ε with the same ones."""
        return {}

    def _suppose_counts(self, guesses: Guesses, bins: int) -> list[int]:
        """Return how many values are below each edge; all rows have one if there is no bin for others."""
        count = guesses.get("count") if bins > self.intervals.edges.intervals else None
        rows = self.n if count is None else int(min(max(count, mpq(0)), mpq(self.n)))
        if (found := self._supposed.get(key := frozenset(guesses.items()))) is not None:
            return found
        mean, deviation = float(guesses["mean"]), max(float(guesses["standard_deviation"]), sys.float_info.min)
        inner = self.intervals.edges.doubles().tolist()[1:-1]
        shares = [math.erfc((mean - edge) / deviation / math.sqrt(2)) / 2 for edge in inner]
        self._supposed[key] = [0, *(round(rows * share) for share in shares), rows]
        return self._supposed[key]

    def _plan_ranges(self, below: Sequence[int], mechanism: Mechanism, alpha: Rational) -> list[Range]:
        """Return the intervals that a histogram would give; of its thousands of edges few are looked at."""
        edges, error, ranges = self._edges, self.errors_below(mechanism, alpha), []
        intervals = len(edges) - 1

        for probability in self.probabilities:
            few, many = (probability * (below[-1] + sign * error(intervals)) for sign in (-1, 1))
            numbers = range(intervals)
            first = bisect_left(numbers, few, key=lambda edge: below[edge] + error(edge))
            last = bisect_left(range(intervals + 1), many, key=lambda edge: below[edge] - error(edge))
            ranges.append(Range(edges[max(first - 1, 0)], edges[min(last, intervals)]))
        return ranges

    def _search_estimates(self, search: QuantileCounts, known: KnownComponent) -> list[Estimate]:
        """Return the quantiles in the order of the request from the counts of a search or an adaptive histogram."""
        if isinstance(search, AdaptiveHistogram):
            found = estimate_quantiles(search, known, self._edges)
            return [found[search.probabilities.index(probability)] for probability in self.probabilities]
        return self._from_pivots(cast("QuantileSearch", search), known)

    def _from_pivots(self, search: QuantileSearch, known: KnownComponent) -> list[Estimate]:
        """Return the quantiles from the counts below the pivots.

        A pivot bounds a quantile if its released count is farther from pN than the error can be. The value is
        interpolated between the pivots.
        """
        mechanism, edges = known.mechanism, self._edges
        pivots, asked = search.replay(known.raw, mechanism.statistic.sensitivity * mechanism.parameters.scale)
        reach = search_reach(search, mechanism, known.alpha)
        places = sorted(pivots.known)
        counts = fit_ascending([pivots.known[place] for place in places])
        found = []
        for probability in self.probabilities:
            target = pivots.targets[search.probabilities.index(probability)]
            released = list(zip(asked, known.raw[search.counts_values :], strict=True))
            few = max([0, *(pivot for pivot, count in released if count < target - reach)])
            many = min([len(edges) - 1, *(pivot for pivot, count in released if count >= target + reach)])
            lower, upper = edges[min(few, many)], edges[max(few, many)]
            value = interpolate_edges([edges[place] for place in places], counts, target)
            found.append(Estimate(min(max(value, lower), upper), Range(lower, upper)))
        return found


def tests_of(search: QuantileSearch) -> int:
    """Return the number of one-sided error bounds that must all hold for all intervals of a search to be correct.

    With one quantile, each pivot needs one bound. With several, it can be above one quantile and below another. If the
    number of values was counted too, its error adds to the pivot's, with the largest factor at the outer quantiles.
    """
    several = len(search.probabilities) > 1
    return search.pivot_steps * (2 if several else 1) * (2 if search.counts_values else 1)


def search_reach(search: QuantileSearch, mechanism: Mechanism, alpha: Rational) -> Rational:
    """Return the distance from a quantile's count at which a pivot's count is conclusive, with probability 1 - α.

    In rows; all pivots of the search hold at once.
    """
    spread = search.probabilities[-1] - search.middle if search.counts_values else mpq(0)
    return RatioError.of(mechanism, mechanism, 2 * alpha / tests_of(search)).reach(spread)


def _choose_method(probabilities: int, intervals: int) -> str:
    """Return the method that gives narrower intervals at the same ε, a histogram or an adaptive one.

    The count below an edge is a sum of up to half of the counts, and an adaptive histogram needs no more of them than
    its fine cells. The decision is part of the plan, so it uses public facts only.
    """
    few = probabilities <= MAX_SEARCHED and (EDGES_OF_A_QUANTILE + 1) * probabilities < intervals
    return "adaptive" if few else "histogram"


def _quantile(
    p: Rational, edges: Sequence[Rational], cumulative: Sequence[Estimate], counts: Sequence[Rational]
) -> Estimate:
    """Return the estimate of the quantile at `p` from cumulative counts.

    The lower end is the last edge with certainly too few values below it, and the upper end is the first edge with
    certainly enough. The value is interpolated in the first bin in which the counts reach the fraction `p`.
    """
    few, many = (p * end for end in ends(cumulative[-1].range))
    # Use bisection, since both ends and the counts ascend, and there can be a hundred probabilities and 10,000 edges.
    lower = edges[bisect_left(cumulative, few, hi=len(cumulative) - 1, key=_highest)]
    enough = bisect_left(cumulative, many, key=_lowest) + 1 if many > 0 else len(edges)
    upper = edges[min(enough, len(edges) - 1)]
    value = interpolate_edges(edges, counts, p * counts[-1])
    return Estimate(min(max(value, lower), upper), Range(lower, upper))


def _lowest(estimate: Estimate) -> Rational:
    return ends(estimate.range)[0]


def _highest(estimate: Estimate) -> Rational:
    return ends(estimate.range)[1]
