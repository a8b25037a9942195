"""The four statistics on every small dataset: value, range and sensitivity against their textbook definitions."""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.statistics import Statistic, build
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import ColumnTotal, CrossMoments, Moments, Total

COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(-1), mpq(2))),
    "y": Column("y", Kind.DECIMAL, (mpq("0.5"), mpq("1.5")), scale=1),
    "r": Column("r", Kind.REAL, (mpq("0.1"), mpq("0.7"))),
    "b": Column("b", Kind.BOOLEAN),
    "k": Column("k", Kind.CATEGORY, categories=("u", "v"), nullable=False),
}
MEAN = {"kind": "mean", "column": "x"}
VARIANCE = {"kind": "variance", "column": "x"}
COVARIANCE = {"kind": "covariance", "columns": ["x", "y"]}
WEIGHTED = {"kind": "sum", "column": "x", "weight": "y", "centred": True}
HISTOGRAM = {"kind": "histogram", "column": "x", "edges": (mpq(-1), mpq(0), mpq(2))}


def fraction(q: mpq) -> Fraction:
    return Fraction(int(q.numerator), int(q.denominator))


def textbook_mean(rows: tuple[Fraction, ...]) -> Fraction:
    return sum(rows) / Fraction(len(rows))


def textbook_covariance(rows: tuple[tuple[Fraction, Fraction], ...]) -> Fraction:
    x_mean = textbook_mean(tuple(x for x, _ in rows))
    y_mean = textbook_mean(tuple(y for _, y in rows))
    return sum((x - x_mean) * (y - y_mean) for x, y in rows) / Fraction(len(rows) - 1)


def moments(statistic: Any, rows: tuple[Fraction, ...]) -> Moments | Total:
    codes = [statistic.codes.code(mpq(row)) for row in rows]
    if isinstance(statistic.needs, ColumnTotal):
        return Total(len(rows), sum(codes))
    return Moments(len(rows), sum(codes), sum(q * q for q in codes))


def cross_moments(statistic: Any, rows: tuple[tuple[Fraction, Fraction], ...]) -> CrossMoments:
    needs = statistic.needs
    assert (needs.x, needs.y) == ("x", "y")
    x = [needs.x_codes.code(mpq(row[0])) for row in rows]
    y = [needs.y_codes.code(mpq(row[1])) for row in rows]
    return CrossMoments(len(rows), sum(x), sum(y), sum(p * q for p, q in zip(x, y, strict=True)))


X_VALUES = tuple(map(Fraction, (-1, 0, 1, 2)))
CORNERS = (*((Fraction(x), Fraction(y, 2)) for x in (-1, 2) for y in (1, 3)), (Fraction(0), Fraction(9, 10)))
ONE_NUMBER: dict[str, tuple[dict[str, Any], tuple[Any, ...], Callable[..., Any], Callable[..., Fraction]]] = {
    "mean": (MEAN, X_VALUES, moments, textbook_mean),
    "variance": (VARIANCE, X_VALUES, moments, lambda rows: textbook_covariance(tuple((x, x) for x in rows))),
    "covariance": (COVARIANCE, CORNERS, cross_moments, textbook_covariance),
    "weighted sum": (WEIGHTED, CORNERS, cross_moments, lambda rows: sum(y * (x - Fraction(1, 2)) for x, y in rows)),
}


def neighbours(rows: tuple[Any, ...], domain: tuple[Any, ...], changed: int) -> Iterator[tuple[Any, ...]]:
    """Every dataset that differs in at most the values of `changed` rows."""
    for places in itertools.combinations(range(len(rows)), changed):
        for values in itertools.product(domain, repeat=changed):
            other = list(rows)
            for place, value in zip(places, values, strict=True):
                other[place] = value
            yield tuple(other)


@pytest.mark.parametrize("rows_per_unit", [1, 2, 3])
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("name", ONE_NUMBER)
def test_value_range_and_sensitivity_on_every_dataset(name: str, n: int, rows_per_unit: int) -> None:
    spec, domain, sums, textbook = ONE_NUMBER[name]
    statistic = build(spec, COLUMNS, n, rows_per_unit)
    assert (statistic.mechanisms, statistic.components, statistic.bins) == (1, 1, None)
    values = {}
    for rows in itertools.product(domain, repeat=n):
        (value,) = statistic.values(sums(statistic, rows))
        assert fraction(value) == textbook(rows)
        values[rows] = value
    assert min(values.values()) == statistic.lower
    assert max(values.values()) == statistic.upper
    # The statistics do not depend on the order of the rows: sorted datasets stand for all.
    changes = [
        abs(values[rows] - values[other])
        for rows in itertools.combinations_with_replacement(domain, n)
        for other in neighbours(rows, domain, min(rows_per_unit, n))
    ]
    assert max(changes) <= statistic.sensitivity
    if rows_per_unit == 1 or name in {"mean", "weighted sum"}:
        assert max(changes) == statistic.sensitivity
    assert statistic.b_prime == max(abs(v - statistic.centre) for v in values.values()) / statistic.sensitivity


@pytest.mark.parametrize("rows_per_unit", [1, 2, 3])
def test_a_histogram_changes_by_twice_the_rows_of_a_person(rows_per_unit: int) -> None:
    n, bins = 4, 3
    statistic = build(HISTOGRAM, COLUMNS, n, rows_per_unit)
    assert statistic.components == statistic.bins.count == bins
    assert statistic.row_sensitivity == statistic.sensitivity == 1
    largest = 0
    for rows in itertools.combinations_with_replacement(range(bins), n):
        counts = [rows.count(i) for i in range(bins)]
        assert statistic.values(tuple(counts)) == tuple(counts)
        for other in neighbours(rows, tuple(range(bins)), rows_per_unit):
            change = [abs(count - other.count(i)) for i, count in enumerate(counts)]
            largest = max(largest, sum(change))
            assert max(change) <= rows_per_unit * statistic.sensitivity
    assert largest == statistic.mechanisms == 2 * rows_per_unit


@pytest.mark.parametrize("n", [2, 3, 344, 10**9 + 7])
def test_counts_are_centred_on_a_whole_number(n: int) -> None:
    statistic = build(HISTOGRAM, COLUMNS, n, 1)
    assert (statistic.lower, statistic.upper, statistic.sensitivity) == (0, n, 1)
    assert (statistic.centre, statistic.b_prime) == (n // 2, (n + 1) // 2)
    assert max(abs(statistic.lower - statistic.centre), abs(statistic.upper - statistic.centre)) == statistic.b_prime


@pytest.mark.parametrize("n", [2, 5, 344])
def test_normalised_ranges_of_the_table(n: int) -> None:
    h = (n // 2) * ((n + 1) // 2)
    assert build(MEAN, COLUMNS, n, 1).b_prime == mpq(n, 2)
    assert build(VARIANCE, COLUMNS, n, 1).b_prime == mpq(h, 2 * (n - 1))
    assert build(COVARIANCE, COLUMNS, n, 1).b_prime == mpq(h, n - 1)


@pytest.mark.parametrize("spec", [MEAN, VARIANCE, COVARIANCE])
def test_many_rows_of_one_person_are_capped_by_the_range(spec: dict[str, Any]) -> None:
    statistic = build(spec, COLUMNS, 10, 1000)
    assert statistic.sensitivity == statistic.upper - statistic.lower
    assert statistic.b_prime == mpq(1, 2)


def test_the_error_of_the_codes_is_bounded_as_promised() -> None:
    # Codes of a real column at the worst places: values half a step off, at opposite ends.
    n = 3
    columns = COLUMNS | {"s": Column("s", Kind.REAL, (mpq(-2), mpq(5)))}
    mean = build({"kind": "mean", "column": "r"}, columns, n, 1)
    variance = build({"kind": "variance", "column": "r"}, columns, n, 1)
    covariance = build({"kind": "covariance", "columns": ["r", "s"]}, columns, n, 1)
    r, s = mean.codes, covariance.y_codes
    halves = [r.lower, r.lower + r.width * mpq(3, 2) / r.steps, r.upper - r.width * mpq(1, 2) / r.steps]
    others = [s.lower, s.lower + s.width * mpq(1, 2) / s.steps, s.upper - s.width * mpq(3, 2) / s.steps]
    for rows in itertools.product(halves, repeat=n):
        numbers = tuple(map(fraction, rows))
        error = abs(fraction(mean.values(moments(mean, numbers))[0]) - textbook_mean(numbers))
        assert error <= fraction(mean.rounding)
        error = abs(
            fraction(variance.values(moments(variance, numbers))[0])
            - textbook_covariance(tuple((x, x) for x in numbers))
        )
        assert error <= fraction(variance.rounding)
        for second in itertools.product(others, repeat=n):
            pairs = tuple(zip(numbers, map(fraction, second), strict=True))
            x = [r.code(mpq(p)) for p, _ in pairs]
            y = [s.code(mpq(q)) for _, q in pairs]
            sums = CrossMoments(n, sum(x), sum(y), sum(p * q for p, q in zip(x, y, strict=True)))
            error = abs(fraction(covariance.values(sums)[0]) - textbook_covariance(pairs))
            assert error <= fraction(covariance.rounding)


@pytest.mark.parametrize("spec", [MEAN, VARIANCE, COVARIANCE, HISTOGRAM])
def test_exact_codes_have_no_rounding(spec: dict[str, Any]) -> None:
    assert build(spec, COLUMNS, 10, 1).rounding == 0


def test_booleans_count_as_zero_and_one() -> None:
    statistic = build({"kind": "mean", "column": "b"}, COLUMNS, 4, 1)
    assert statistic.values(Total(4, 3)) == (mpq(3, 4),)
    assert statistic.describe() == {"kind": "mean", "column": "b"}
    assert build({"kind": "histogram", "column": "b"}, COLUMNS, 4, 1).components == 3
    assert build({"kind": "histogram", "column": "k"}, COLUMNS, 4, 1).components == 3


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        (MEAN, Total(9, 1)),
        (MEAN, Moments(10, 1, 1)),
        (MEAN, CrossMoments(10, 1, 1, 1)),
        (COVARIANCE, CrossMoments(11, 1, 1, 1)),
        (HISTOGRAM, (1, 2, 8)),
        (HISTOGRAM, (4, 6)),
    ],
)
def test_sums_of_something_else_are_refused(spec: dict[str, Any], answer: Any) -> None:
    with pytest.raises(ValueError, match="needs"):
        build(spec, COLUMNS, 10, 1).values(answer)


def described(spec: dict[str, Any]) -> Statistic:
    return build(spec, COLUMNS, 10, 1)


def test_describe_fills_in_every_default_and_can_be_asked_again() -> None:
    descriptions = [
        {"kind": "mean", "column": "x", "bounds": [-1, 2]},
        {"kind": "variance", "column": "r", "bounds": [0.1, 0.7]},
        {"kind": "covariance", "columns": ["y", "b"], "bounds": [[0.5, 1.5], None]},
        {"kind": "histogram", "column": "x", "edges": [-1, 0, 2]},
        {"kind": "histogram", "column": "r", "bins": 3, "bounds": [0.1, 0.7]},
        {"kind": "histogram", "column": "k"},
    ]

    def exact(member: Any) -> Any:
        if isinstance(member, list):
            return [exact(part) for part in member]
        return mpq(str(member)) if isinstance(member, int | float) else member

    for description in descriptions:
        assert described({key: exact(member) for key, member in description.items()}).describe() == description
    assert described({"kind": "mean", "column": "r"}).describe()["bounds"] == [0.1, 0.7]
    assert described({"kind": "histogram", "column": "x", "bins": mpq(2)}).describe()["bounds"] == [-1, 2]
