"""The bin of a value as sqlglot nodes, and the cuts between intervals. No value in a row may raise an error."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq
from sqlglot import exp

from app.dp.numbers.exact import to_nearest_double
from app.dp.table.bins import Bins, BooleanBins, CategoryBins, IntervalBins
from app.dp.table.columns import Kind
from app.engines.sql.expressions import Branch, Node, case, double, is_nan, is_null, whole
from app.engines.sql.stored_codes import StoredPlaces
from app.engines.stored_columns import INT64_MAX, INT64_MIN

MIN_EVEN_INTERVALS, MAX_EVEN_INTERVALS = 5, 2**12
"""With fewer intervals a search is as fast; with more, an engine returns whole columns by a join with the cuts."""

MAX_EVEN_OFFSET = 2**40
"""Far below 2⁵³, so that places are exact whole numbers in doubles."""


class Cuts(NamedTuple):
    """The cuts between intervals: ascending thresholds, and for each the bin of the values from it up to the next one.

    Values below all thresholds are in bin 0.
    """

    thresholds: Sequence[float] | Sequence[int]
    bins: Sequence[int]


def cuts_between(bins: IntervalBins) -> Cuts:
    """Return the distinct cuts between the intervals.

    Thresholds coincide if the intervals between them hold no whole number; then only the last interval has a cut. An
    interval that begins above the 64-bit range has no cut.
    """
    inner = bins.thresholds()[1:-1]
    if bins.kind is Kind.REAL:
        return Cuts(inner, range(1, len(inner) + 1))
    last = {max(int(cut), INT64_MIN): i for i, cut in enumerate(inner, start=1) if cut <= INT64_MAX}
    return Cuts(list(last), list(last.values()))


def missing_bin(bins: IntervalBins | CategoryBins | BooleanBins) -> int:
    """Return the bin of a missing value.

    If the column is declared without missing values and a value is missing anyway, the row still counts: in the first
    interval, as `other` or as false.
    """
    if bins.missing:
        return bins.count - 1
    return bins.count - 1 if isinstance(bins, CategoryBins) else 0


class EvenSteps(NamedTuple):
    """How one operation finds the interval of a double: `floor((v - origin) / factor) - offset`, or with a product."""

    origin: float
    factor: float
    divides: bool
    offset: int


def find_even_steps(bins: IntervalBins) -> EvenSteps | None:
    """Return how one operation finds the interval of every double between the first cut and the last, if one does.

    The operations are monotone, however they are rounded. So if each cut has the right interval, and the double below
    it has the one before, every double between two cuts has the right one. The edges alone decide this.
    """
    count = bins.edges.intervals
    if bins.kind is not Kind.REAL or not MIN_EVEN_INTERVALS <= count <= MAX_EVEN_INTERVALS:
        return None
    edges = bins.edges.doubles()
    first, cuts = float(edges[0]), edges[1:-1]
    below, places = np.nextafter(cuts, -math.inf)[1:], np.arange(1, count)
    width = (mpq(float(edges[-1])) - mpq(first)) / count
    by_width, by_product = to_nearest_double(width), to_nearest_double(1 / width)
    candidates = [
        EvenSteps(first, by_width, divides=True, offset=0),
        EvenSteps(first, by_product, divides=False, offset=0),
    ]
    before = mpq(first) / width
    if by_product >= 1 and before.denominator == 1 and abs(before) <= MAX_EVEN_OFFSET:
        # A difference from an origin far from 0 loses the last bits of small numbers; a product by 1 or more does not.
        candidates.append(EvenSteps(0.0, by_product, divides=False, offset=int(before)))
    for steps in candidates:
        if (_find_places(cuts, steps) == places).all() and (_find_places(below, steps) == places[:-1]).all():
            return steps
    return None


def _find_places(values: npt.NDArray[np.float64], steps: EvenSteps) -> npt.NDArray[np.float64]:
    operation = np.divide if steps.divides else np.multiply
    with np.errstate(all="ignore"):
        found: npt.NDArray[np.float64] = np.floor(operation(values - steps.origin, steps.factor)) - steps.offset
    return found


def _even_bin(value: Node, bins: IntervalBins, cuts: Cuts, steps: EvenSteps) -> Node:
    """Return a node for the bin of a double between even cuts; no value outside them is calculated with."""
    low, high = double(cuts.thresholds[0]), double(cuts.thresholds[-1])
    distance = exp.Paren(this=exp.Sub(this=value.copy(), expression=double(steps.origin)))
    operation = exp.Div if steps.divides else exp.Mul
    floor = exp.Floor(this=operation(this=distance, expression=double(steps.factor)))
    place: Node = exp.cast(floor, exp.DataType.Type.BIGINT)
    if steps.offset:
        place = exp.Sub(this=place, expression=whole(steps.offset))
    between = exp.And(
        this=exp.GTE(this=value.copy(), expression=low), expression=exp.LT(this=value.copy(), expression=high)
    )
    missing = exp.Or(this=is_null(value), expression=is_nan(value))
    above = exp.GTE(this=value.copy(), expression=high.copy())
    branches: list[Branch] = [(between, place), (missing, whole(missing_bin(bins))), (above, whole(cuts.bins[-1]))]
    return case(branches, whole(0))


def interval_bin(value: Node, bins: IntervalBins, cuts: Cuts) -> Node:
    """Return a node for the bin of a number: by one operation if the cuts are even, else by a binary search."""
    if (steps := find_even_steps(bins)) is not None:
        return _even_bin(value, bins, cuts, steps)
    missing = whole(missing_bin(bins))
    branches: list[Branch] = [(is_null(value), missing)]
    if bins.kind is Kind.REAL:
        branches.append((is_nan(value), missing.copy()))

    def among(first: int, end: int) -> Node:
        if first == end:
            return whole(cuts.bins[first - 1] if first else 0)
        middle = (first + end) // 2
        threshold = cuts.thresholds[middle]
        literal = double(threshold) if bins.kind is Kind.REAL else whole(int(threshold))
        below = exp.LT(this=value.copy(), expression=literal)
        return case([(below, among(first, middle))], among(middle + 1, end))

    return case(branches, among(0, len(cuts.thresholds)))


def needs_lookup(bins: Bins) -> TypeGuard[CategoryBins]:
    """Whether the bin of a value is found by joining the rows with a list (`app.engines.sql.category_lookup`)."""
    return isinstance(bins, CategoryBins) and not isinstance(bins, StoredPlaces)


def bin_of(value: Node, bins: Bins) -> Node:
    """Return a node for the bin of a value, for bins that need no lookup."""
    if isinstance(bins, BooleanBins):
        return boolean_bin(value, bins)
    if isinstance(bins, CategoryBins):
        place = exp.cast(value, exp.DataType.Type.BIGINT)
        return case([(is_null(value), whole(missing_bin(bins)))], place)
    return interval_bin(value, bins, cuts_between(bins))


def boolean_bin(value: Node, bins: BooleanBins) -> Node:
    """Return a node for the bin of a boolean: 0 for false, 1 for true."""
    return case([(is_null(value), whole(missing_bin(bins))), (value.copy(), whole(1))], whole(0))
