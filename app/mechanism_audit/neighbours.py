"""Checks the exact privacy loss between statistics of neighbouring datasets, for all bins of a histogram together."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any, TypeAlias

from gmpy2 import mpq

from app.dp.mechanism.mechanism import AUTO, refinement_for
from app.dp.mechanism.parameters import GAMMA
from app.dp.numbers.exact import Rational
from app.dp.statistics import Statistic, build
from app.dp.statistics.count_base import SharedCounts
from app.dp.statistics.quantile_counts import QuantileCounts
from app.dp.table.bins import Bins, CategoryBins, IntervalBins
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import Answer, BinCounts, CellSums, ColumnTotal, CrossMoments, Moments, PairSums, Total
from app.mechanism_audit.findings import Finding, at_most
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.privacy import loss, maximum
from app.mechanism_audit.subject import COUNTS, SINGLE, Implementation, Subject

_MAX_RELEASES = 24

Row: TypeAlias = tuple[Rational, Rational, str]
Dataset: TypeAlias = Mapping[Row, int]
"""The number of rows with each combination of values."""

CATEGORIES = ("a", "b", "c", "d")
X_BOUNDS = mpq(-3, 2), mpq(22, 10)
Y_BOUNDS = mpq(0), mpq(100)
COLUMNS = {
    "x": Column("x", Kind.REAL, X_BOUNDS),
    "y": Column("y", Kind.INTEGER, Y_BOUNDS),
    "group": Column("group", Kind.CATEGORY, categories=CATEGORIES),
}
SPECIFICATIONS: tuple[dict[str, Any], ...] = (
    {"kind": "mean", "column": "x"},
    {"kind": "variance", "column": "x"},
    {"kind": "covariance", "columns": ("x", "y")},
    {"kind": "histogram", "column": "group"},
    {"kind": "histogram", "columns": ("group", "y"), "bins": (None, 2)},
    {"kind": "histogram", "column": "group", "where": {"y": {"between": (mpq(0), mpq(50))}}},
    {"kind": "count", "where": {"group": {"one_of": ("a", "c")}}},
    {"kind": "count", "group_by": "group"},
    {"kind": "sum", "column": "x", "where": {"group": {"one_of": ("a", "b")}}},
    {"kind": "sum", "column": "y", "group_by": "group"},
    {"kind": "sum", "column": "x", "where": {"group": {"one_of": ("a", "b")}}, "centred": True},
    {"kind": "sum", "column": "y", "group_by": "group", "centred": True},
    {"kind": "sum", "column": "x", "centred": True, "weight": "y"},
    {"kind": "sum", "column": "x", "centred": True, "weight": "y", "where": {"group": {"one_of": ("a", "b")}}},
    {"kind": "sum", "column": "x", "centred": True, "weight": "y", "group_by": "group"},
    *(
        {"kind": kind, "column": "y", "bins": 50} | members
        for kind in ("adaptive_histogram", "quantile_search")
        for members in (
            {"probabilities": (mpq(1, 2),)},
            {"probabilities": (mpq(1, 4), mpq(3, 4)), "where": {"group": {"one_of": ("a", "b")}}},
        )
    ),
)


def findings(
    epsilon: Rational,
    rows: int,
    rows_per_unit: int,
    single: Implementation = SINGLE,
    counts: Implementation = COUNTS,
) -> Iterator[Finding]:
    """Yield findings for each kind of statistic on the distance of neighbours and on their largest privacy loss.

    The mechanisms have the default grid.

    Args:
        epsilon: ε, the total cost of a release.
        rows: the number of rows of each dataset.
        rows_per_unit: the number of rows in which neighbours differ.
        single: the implementation for statistics other than histograms and counts by group.
        counts: the implementation for histograms and counts by group.
    """
    for specification in SPECIFICATIONS:
        statistic = build(specification, COLUMNS, rows, rows_per_unit)
        datasets = list(neighbours(rows, rows_per_unit))
        pairs = [pair for both in datasets for pair in _pairs_of_inputs(statistic, *both)]
        examined = f"{len(datasets)} pairs of datasets"
        distances = [sum(abs(x - other) for x, other in zip(*pair, strict=True)) for pair in pairs]
        name = _name(specification)
        distance = Interval.point(max(distances))
        yield at_most(f"{name}: distance of neighbours", distance, mpq(statistic.mechanisms)).on(examined)
        implementation = counts if isinstance(statistic, SharedCounts) else single
        refinement = refinement_for(statistic, AUTO)
        parameters = implementation.derive(epsilon / statistic.mechanisms, statistic.b_prime, GAMMA, refinement)
        subject = Subject(parameters, implementation, _MAX_RELEASES)
        greatest = maximum(_total_loss(subject, *pair) for pair in pairs)
        yield at_most(f"{name}: privacy loss", greatest, epsilon, "ε").on(examined)


def _name(specification: Mapping[str, Any]) -> str:
    """Return the kind of a statistic, and the members that distinguish it from others of its kind."""
    kind: str = specification["kind"]
    told = {
        "columns": " of two columns",
        "where": " with a filter",
        "group_by": " by group",
        "centred": ", centred",
        "weight": ", weighted",
    }
    return kind + "".join(words for member, words in told.items() if member in specification and kind != "covariance")


def neighbours(rows: int, rows_per_unit: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Yield pairs of datasets with `rows` rows that differ in `rows_per_unit` rows."""
    (low, high), (least, most) = X_BOUNDS, Y_BOUNDS
    first, second = (low, least, "a"), (high, most, "b")
    half, moved = rows // 2, min(rows_per_unit, rows)
    crossed = (low, most, "d")
    for dataset in (
        Counter({first: rows}),
        Counter({first: rows - half, second: half}),
        Counter({((low + high) / 3, (least + most) / 7, "c"): half, first: rows - half}),
    ):
        taken = min(moved, dataset[first])
        yield dataset, dataset - Counter({first: taken}) + Counter({second: taken})
        yield dataset, dataset - Counter({first: taken}) + Counter({crossed: taken})
    yield Counter({second: rows}), Counter({second: rows}) - Counter({second: moved}) + Counter({crossed: moved})
    if rows_per_unit > 1:  # each moved row goes to a different bin
        scattered = Counter((low, most, category) for category in (CATEGORIES * moved)[:moved])
        yield Counter({first: rows}), Counter({first: rows - moved}) + scattered


def _total_loss(subject: Subject, inputs: tuple[Rational, ...], others: tuple[Rational, ...]) -> Interval | None:
    """Return the largest total loss: draws are independent, so it is the sum of the components' largest losses."""
    total = Interval.point(mpq(0))
    for x, other in zip(inputs, others, strict=True):
        if x != other:
            lost = loss(subject, x, other)
            if lost is None:
                return None
            total += lost
    return total


Inputs: TypeAlias = tuple[Rational, ...]
"""What a statistic's mechanisms get, in normalised units."""


def _pairs_of_inputs(statistic: Statistic, dataset: Dataset, neighbour: Dataset) -> list[tuple[Inputs, Inputs]]:
    """Return the inputs for two datasets: one pair or, if released counts decide the next ones, one for each release.

    The loss of an adaptive release is the sum of the losses of its counts, each of which both datasets are asked after
    the same released counts. These are what either dataset has, and others that lead far from it.
    """
    answers = _answer(statistic, dataset), _answer(statistic, neighbour)
    if not isinstance(statistic, QuantileCounts):
        first, second = (_normalise(statistic, statistic.values(each)) for each in answers)
        return [(first, second)]
    n, components = mpq(statistic.n), statistic.components
    ends = ([mpq(0)] * components, [n] * components, [mpq(0), n] * components, [n, mpq(0)] * components)
    rising = [n * part / components for part in range(components)]
    releases = (*(statistic.values(each) for each in answers), *ends, rising, rising[::-1])
    return [(_search(statistic, answers[0], each), _search(statistic, answers[1], each)) for each in releases]


def _normalise(statistic: Statistic, values: Iterable[Rational]) -> Inputs:
    return tuple((value - statistic.centre) / statistic.sensitivity for value in values)


def _search(statistic: QuantileCounts, answer: Answer, released: Sequence[Rational]) -> Inputs:
    """Return the inputs of a search whose mechanisms release these counts, each in units of its own sensitivity."""
    inputs: list[Rational] = []

    def release(count: Rational, unit: Rational = statistic.sensitivity) -> Rational:
        inputs.append((count - statistic.centre) / unit)
        return released[len(inputs) - 1]

    statistic.search(answer, mpq(1), release)
    return tuple(inputs)


def _answer(statistic: Statistic, dataset: Dataset) -> Answer:
    """Return an engine's answer to the statistic's needs."""
    needs, n = statistic.needs, sum(dataset.values())
    if isinstance(needs, CellSums):
        return _cells(needs, dataset)
    if isinstance(needs, BinCounts):
        counts = [0] * needs.bins.count
        for row, count in dataset.items():
            counts[_place(needs.bins, dict(zip(COLUMNS, row, strict=True))[needs.column])] += count
        return tuple(counts)
    x_codes = needs.x_codes if isinstance(needs, PairSums) else needs.codes
    x = [(x_codes.code(row[0]), count) for row, count in dataset.items()]
    total = sum(code * count for code, count in x)
    if isinstance(needs, PairSums):
        y = [needs.y_codes.code(row[1]) for row in dataset]
        products = sum(code * count * other for (code, count), other in zip(x, y, strict=True))
        return CrossMoments(n, total, sum(other * count for (_, count), other in zip(x, y, strict=True)), products)
    if isinstance(needs, ColumnTotal):
        return Total(n, total)
    return Moments(n, total, sum(code * code * count for code, count in x))


def _cells(needs: CellSums, dataset: Dataset) -> tuple[int, ...]:
    """Return an engine's answer to a request for cells, computed from its definition."""
    counts, sums = [0] * (needs.count + 1), [[0] * needs.count for _ in range(needs.sums)]
    for row, count in dataset.items():
        values = dict(zip(COLUMNS, row, strict=True))
        cell = needs.count
        if all(each.holds(values[each.column]) for each in needs.conditions):
            cell = 0
            for name, bins in needs.axes:
                cell = cell * bins.count + _place(bins, values[name])
            codes = [coded.code(values[column]) for column, coded in filter(None, (needs.summed, needs.weighted))]
            for total, each in zip(sums, (*codes, prod(codes)), strict=False):
                total[cell] += count * each
        counts[cell] += count
    return (*counts, *chain.from_iterable(sums))


def _place(bins: Bins, value: Any) -> int:  # noqa: ANN401  a number or a text
    if isinstance(bins, CategoryBins):
        return bins.categories.index(value)
    if isinstance(bins, IntervalBins):
        return bisect_right(bins.thresholds()[1:-1], value)
    return int(value)
