"""Bins: every value is in exactly one, their edges are what the column stores, and one grid has one identity."""

from bisect import bisect_right
from fractions import Fraction

import pytest
from gmpy2 import mpq
from hypothesis import example, given
from hypothesis import strategies as st

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import to_nearest_double
from app.dp.table.bins import BooleanBins, CategoryBins, Edges, IntervalBins, bins_by_edges, bins_by_number
from app.dp.table.columns import Column, Kind

INTEGER = Column("i", Kind.INTEGER, (mpq(2000), mpq(7000)))
REAL = Column("r", Kind.REAL, (mpq(0), mpq("0.3")), nullable=False)
DECIMAL = Column("d", Kind.DECIMAL, (mpq(0), mpq(1)), scale=1)


def bin_of(bins: IntervalBins, stored: float) -> int:
    """As an engine does it: clamped at both ends."""
    return min(max(bisect_right(bins.thresholds(), stored) - 1, 0), bins.edges.intervals - 1)


@given(
    st.integers(-50, 50),
    st.integers(1, 60),
    st.integers(2, 30),
    st.integers(-120, 120),
    st.sampled_from([INTEGER, DECIMAL]),
)
def test_whole_units_are_binned_by_exact_edges(lower: int, width: int, count: int, stored: int, column: Column) -> None:
    bounds = (mpq(lower), mpq(lower) + mpq(width, 3))
    bins = bins_by_number(column, count, bounds)
    start, end = Fraction(lower), lower + Fraction(width, 3)
    value = Fraction(stored, 10**bins.scale)
    edges = [start + (end - start) * i / count for i in range(count + 1)]
    expected = min(max(sum(edge <= value for edge in edges) - 1, 0), count - 1)
    assert bin_of(bins, stored) == expected


def test_real_edges_are_the_doubles_nearest_to_the_edges_as_written() -> None:
    bins = bins_by_number(REAL, 3, None)
    assert bins.thresholds() == [0.0, 0.1, 0.2, 0.3]  # 0.3/3 in doubles would be another 0.1
    assert [bin_of(bins, v) for v in (-1.0, 0.1, 0.2, 0.29, 0.3, 9.0)] == [0, 1, 2, 2, 2, 2]


@given(
    st.builds(mpq, st.integers(-(10**20), 10**20), st.sampled_from([1, 3, 10, 10**6, 10**30])),
    st.builds(mpq, st.integers(1, 10**20), st.sampled_from([1, 10, 10**3, 10**12])),
    st.integers(2, 100),
)
@example(mpq(-(2**53), 2), mpq(2**53, 2), 2)  # numerators that are just small enough for doubles
@example(mpq(-(2**53) - 2, 2), mpq(2**53 + 2, 2), 2)
@example(mpq(1, 2**53 + 1), mpq(5, 2**53 + 1), 99)  # a divisor that is not
def test_every_double_edge_is_rounded_once(lower: mpq, width: mpq, count: int) -> None:
    edges = Edges(lower, lower + width, count)
    assert edges.doubles().tolist() == [to_nearest_double(lower + width * i / count) for i in range(count + 1)]


@pytest.mark.parametrize("column", [INTEGER, REAL, DECIMAL])
def test_even_edges_have_the_identity_of_their_number(column: Column) -> None:
    by_number = bins_by_number(column, 3, (mpq(0), mpq("0.3")))
    by_edges = bins_by_edges(column, (mpq(0), mpq("0.1"), mpq("0.2"), mpq("0.3")))
    assert by_number == by_edges
    assert by_number.identity() == by_edges.identity()
    other = bins_by_edges(column, (mpq(0), mpq("0.1"), mpq("0.25"), mpq("0.3")))
    assert other.identity() != by_edges.identity()


def test_real_edges_that_are_the_same_doubles_have_one_identity() -> None:
    written = (mpq(0), mpq("0.1"), mpq("0.25"), mpq("0.3"))
    doubles = tuple(mpq(float(edge)) for edge in written)
    assert bins_by_edges(REAL, written) == bins_by_edges(REAL, doubles)
    assert bins_by_edges(REAL, written).identity() == bins_by_edges(REAL, doubles).identity()
    assert bins_by_edges(DECIMAL, written).identity() != bins_by_edges(DECIMAL, doubles).identity()


def test_bins_are_described_in_order() -> None:
    bins = bins_by_edges(INTEGER, (mpq(2000), mpq("2500.5"), mpq(7000)))
    assert bins.count == 3
    assert bins.describe() == [
        {"kind": "interval", "label": "[2000, 2500.5)", "lower": 2000, "upper": 2500.5},
        {"kind": "interval", "label": "[2500.5, 7000]", "lower": 2500.5, "upper": 7000},
        {"kind": "missing", "label": "missing"},
    ]
    assert bins.edge_values() == [2000, 2500.5, 7000]
    assert bins.thresholds() == [2000, 2501, 7000]
    assert all(part["kind"] == "interval" for part in bins_by_number(REAL, 2, None).describe())
    assert CategoryBins(("a", "other"), missing=True).describe() == [
        {"kind": "category", "label": "a"},
        {"kind": "category", "label": "other"},
        {"kind": "other", "label": "other"},
        {"kind": "missing", "label": "missing"},
    ]
    assert BooleanBins(missing=False).describe() == [
        {"kind": "category", "label": "false"},
        {"kind": "category", "label": "true"},
    ]
    for bins in (bins_by_number(DECIMAL, 7, None), CategoryBins(("a",), missing=False), BooleanBins(missing=True)):
        assert len(bins.describe()) == bins.count


@pytest.mark.parametrize(
    ("column", "edges", "where"),
    [
        (INTEGER, (mpq(1), mpq(2)), "edges"),
        (INTEGER, tuple(mpq(i) for i in range(10_001)), "edges"),
        (INTEGER, (mpq(1), mpq(2), mpq(2)), "edges.2"),
        (INTEGER, (mpq(1), mpq(3), mpq(2), mpq(4)), "edges.2"),
        (INTEGER, (mpq(0), mpq(1), mpq(10) ** 101), "edges.2"),
        (REAL, (mpq(0), mpq(2**53), mpq(2**53) + mpq(1, 2)), "edges.2"),
    ],
)
def test_impossible_edges_are_refused(column: Column, edges: tuple[mpq, ...], where: str) -> None:
    with pytest.raises(InvalidStatistic) as refusal:
        bins_by_edges(column, edges)
    assert refusal.value.where == where


@pytest.mark.parametrize(
    ("column", "count", "bounds", "where"),
    [
        (INTEGER, 1, None, "bins"),
        (INTEGER, 1_000_001, None, "bins"),
        (INTEGER, 2, (mpq(1), mpq(1)), "bounds"),
        (REAL, 10, (mpq(1), mpq(1) + mpq(1, 10**15)), "bins"),
    ],
)
def test_impossible_numbers_of_bins_are_refused(
    column: Column, count: int, bounds: tuple[mpq, mpq] | None, where: str
) -> None:
    with pytest.raises(InvalidStatistic) as refusal:
        bins_by_number(column, count, bounds)
    assert refusal.value.where == where


@pytest.mark.slow
@pytest.mark.parametrize("column", [INTEGER, REAL])
def test_a_million_bins_are_as_exact_as_a_few(column: Column) -> None:
    lower, upper = mpq("-0.123456789123456789"), mpq("99999.987654321")
    thresholds = bins_by_number(column, 1_000_000, (lower, upper)).thresholds()
    assert len(thresholds) == 1_000_001
    assert list(thresholds[::100_000]) == list(bins_by_number(column, 10, (lower, upper)).thresholds())
