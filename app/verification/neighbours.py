"""The exact privacy loss between real statistics of neighbouring datasets, histograms over all their bins together."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from gmpy2 import mpq

from app.dp.columns import Column, Kind
from app.dp.numbers import Rational
from app.dp.parameters import GAMMA
from app.dp.statistics import Statistic, build
from app.dp.sums import Answer, BinCounts, ColumnSums, CrossMoments, Moments, PairSums
from app.verification.findings import Finding, at_most
from app.verification.intervals import Interval
from app.verification.privacy import loss, maximum
from app.verification.subject import COUNTS, SINGLE, Implementation, Subject

_MOST_RELEASES = 24

Row: TypeAlias = tuple[Rational, Rational, str]
Dataset: TypeAlias = Mapping[Row, int]
"""How many rows there are of each kind."""

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
)


def findings(
    epsilon: Rational,
    rows: int,
    rows_per_unit: int,
    single: Implementation = SINGLE,
    counts: Implementation = COUNTS,
) -> Iterator[Finding]:
    """Of every kind of statistic, how far neighbours are apart, and the greatest privacy loss between them."""
    for specification in SPECIFICATIONS:
        statistic = build(specification, COLUMNS, rows, rows_per_unit)
        pairs = [
            (_inputs(statistic, dataset), _inputs(statistic, neighbour))
            for dataset, neighbour in neighbours(rows, rows_per_unit)
        ]
        examined = f"{len(pairs)} pairs of datasets"
        distances = [sum(abs(x - other) for x, other in zip(*pair, strict=True)) for pair in pairs]
        quantity, distance = f"{statistic.kind}: distance of neighbours", Interval.point(max(distances))
        yield at_most(quantity, distance, mpq(statistic.mechanisms)).on(examined)
        implementation = counts if statistic.kind == "histogram" else single
        parameters = implementation.derive(epsilon / statistic.mechanisms, statistic.b_prime, GAMMA, 0)
        subject = Subject(parameters, implementation, _MOST_RELEASES)
        greatest = maximum(_total_loss(subject, *pair) for pair in pairs)
        yield at_most(f"{statistic.kind}: privacy loss", greatest, epsilon, "ε").on(examined)


def neighbours(rows: int, rows_per_unit: int) -> Iterator[tuple[Dataset, Dataset]]:
    """Datasets of that many rows, each with one in which that many rows are others."""
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
    if rows_per_unit > 1:  # each to a bin of its own
        scattered = Counter((low, most, category) for category in (CATEGORIES * moved)[:moved])
        yield Counter({first: rows}), Counter({first: rows - moved}) + scattered


def _total_loss(subject: Subject, inputs: tuple[Rational, ...], others: tuple[Rational, ...]) -> Interval | None:
    """The greatest loss of all components together: their draws are independent, and each may be the worst."""
    total = Interval.point(mpq(0))
    for x, other in zip(inputs, others, strict=True):
        if x != other:
            lost = loss(subject, x, other)
            if lost is None:
                return None
            total += lost
    return total


def _inputs(statistic: Statistic, dataset: Dataset) -> tuple[Rational, ...]:
    """The statistic's components in normalised units."""
    values = statistic.values(_answer(statistic, dataset))
    return tuple((value - statistic.centre) / statistic.sensitivity for value in values)


def _answer(statistic: Statistic, dataset: Dataset) -> Answer:
    """What an engine answers to the statistic's needs."""
    needs, n = statistic.needs, sum(dataset.values())
    if isinstance(needs, BinCounts):
        counts = Counter(dict.fromkeys(CATEGORIES, 0))
        for (_, _, category), count in dataset.items():
            counts[category] += count
        return (*(counts[category] for category in CATEGORIES), 0, 0)  # none is other or missing
    x_codes = needs.codes if isinstance(needs, ColumnSums) else needs.x_codes
    x = [(x_codes.code(row[0]), count) for row, count in dataset.items()]
    total = sum(code * count for code, count in x)
    if isinstance(needs, PairSums):
        y = [needs.y_codes.code(row[1]) for row in dataset]
        products = sum(code * count * other for (code, count), other in zip(x, y, strict=True))
        return CrossMoments(n, total, sum(other * count for (_, count), other in zip(x, y, strict=True)), products)
    return Moments(n, total, sum(code * code * count for code, count in x))
