"""The bin of a value as sqlglot nodes, and the cuts between intervals. No value in a row may raise an error."""

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from sqlglot import exp

from app.dp.table.bins import Bins, BooleanBins, CategoryBins, IntervalBins
from app.dp.table.columns import Kind
from app.engines.sql.expressions import Branch, Node, case, double, is_nan, is_null, whole
from app.engines.sql.stored_codes import StoredPlaces
from app.engines.stored_columns import INT64_MAX, INT64_MIN


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


def interval_bin(value: Node, bins: IntervalBins, cuts: Cuts) -> Node:
    """Return a node for the bin of a number, which a binary search among the cuts finds."""
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
