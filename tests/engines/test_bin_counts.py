"""Counts of bins: every value in the very interval that holds it."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from engine_world import (
    BOOLEAN,
    CATEGORY,
    DECIMAL,
    DECIMAL_BOUNDS,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    INTEGER_BOUNDS,
    REAL,
    REAL_BOUNDS,
    exact_bin,
    take_in,
    worst_decimals,
    worst_integers,
    worst_reals,
    worst_rows,
)
from gmpy2 import mpq
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from app.dp.errors import InvalidStatistic
from app.dp.table.bins import BooleanBins, CategoryBins, IntervalBins, bins_by_edges, bins_by_number
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import BinCounts
from app.engines.sql import queries
from app.engines.sql.bin_expressions import cuts_between, find_even_steps
from app.engines.storage.tables import Tables

JOINED = queries.MAX_HALVED_CUTS + 2
"""So many intervals that the cuts are joined, not halved."""

CASES = [
    *((REAL, bounds, worst_reals()) for bounds in REAL_BOUNDS),
    *((INTEGER, bounds, worst_integers()) for bounds in INTEGER_BOUNDS),
    *((DECIMAL, bounds, worst_decimals()) for bounds in DECIMAL_BOUNDS),
]
quick = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def expected_counts(values: Sequence[Any], bins: IntervalBins | CategoryBins | BooleanBins) -> tuple[int, ...]:
    counted = Counter(exact_bin(value, bins) for value in values)
    return tuple(counted[i] for i in range(bins.count))


def by_number(column: Column, intervals: int, bounds: tuple[mpq, mpq]) -> IntervalBins | None:
    try:
        return bins_by_number(column, intervals, bounds)
    except InvalidStatistic:  # narrower than an ulp
        return None


@pytest.fixture(scope="module")
def stored(shared_tables: Tables) -> dict[str, str]:
    return {column.name: take_in(shared_tables, column, values) for column, _, values in CASES}


@pytest.mark.parametrize(("column", "bounds", "values"), CASES, ids=lambda case: getattr(case, "name", ""))
@pytest.mark.parametrize("intervals", [2, pytest.param(10, marks=pytest.mark.slow), JOINED - 1, JOINED, 1000])
def test_even_intervals(
    shared_tables: Tables, stored: dict[str, str], column: Column, bounds: Any, values: list[Any], intervals: int
) -> None:
    bins = by_number(column, intervals, bounds)
    if bins is not None:
        answer = shared_tables.sums(stored[column.name], BinCounts(column.name, bins))
        assert answer == expected_counts(values, bins)


@pytest.mark.parametrize("column", [REAL, INTEGER, DECIMAL], ids=lambda column: column.name)
@pytest.mark.parametrize("number", [3, 40, JOINED + 1])
def test_given_edges(shared_tables: Tables, stored: dict[str, str], column: Column, number: int) -> None:
    values = next(case[2] for case in CASES if case[0] is column)
    unit = 10**column.scale
    finite = {mpq(v) / unit for v in values if v is not None and math.isfinite(v) and abs(v) < 10**99}
    edges = sorted(finite)[:: max(1, len(finite) // number)][: number + 1]
    far_apart = [edge for edge, before in zip(edges[1:], edges, strict=False) if edge - before >= mpq(10) ** -100]
    bins = bins_by_edges(column, tuple(far_apart))
    assert shared_tables.sums(stored[column.name], BinCounts(column.name, bins)) == expected_counts(values, bins)


def test_intervals_of_one_ulp(tables: Tables) -> None:
    lower, intervals = 2.0**53 - 300, 600
    doubles = [lower]
    for _ in range(intervals):
        doubles.append(math.nextafter(doubles[-1], math.inf))
    file_id = take_in(tables, REAL, [None, *doubles, *doubles, 0.0, 1e300])
    for count in (intervals, 100):
        bins = bins_by_edges(REAL, tuple(map(mpq, doubles[: count + 1])))
        expected = expected_counts([None, *doubles, *doubles, 0.0, 1e300], bins)
        assert tables.sums(file_id, BinCounts("real", bins)) == expected


def test_zeros_of_both_signs_and_infinities(tables: Tables) -> None:
    values = [0.0, -0.0, math.inf, -math.inf, -5e-324, 5e-324, math.nan, None]
    file_id = take_in(tables, REAL, values)
    for intervals in (2, 10, 1000):
        bins = bins_by_number(REAL, intervals, (mpq(-1), mpq(1)))
        counts = tables.sums(file_id, BinCounts("real", bins))
        assert counts == expected_counts(values, bins)
        assert (counts[intervals // 2], counts[intervals // 2 - 1]) == ((4, 2) if intervals == 2 else (3, 1))


@quick
@given(
    st.tuples(st.integers(-(10**6), 10**6), st.integers(1, 1000)).map(lambda pair: mpq(*pair)),
    st.tuples(st.integers(1, 10**6), st.integers(1, 1000)).map(lambda pair: mpq(*pair)),
    st.integers(2, 400),
    st.sampled_from([REAL, INTEGER, DECIMAL]),
    st.data(),
)
def test_any_bins(shared_tables: Tables, lower: mpq, width: mpq, intervals: int, column: Column, data: Any) -> None:
    bins = by_number(column, intervals, (lower, lower + width))
    assume(bins is not None)
    assert bins is not None
    thresholds = bins.thresholds()
    if column.kind is Kind.REAL:
        near = [math.nextafter(t, -math.inf) for t in thresholds[::7]]
        values = [*thresholds, *near, *data.draw(st.lists(st.floats(), max_size=20)), None]
    else:
        units = st.integers(int(thresholds[0]) - 5, int(thresholds[-1]) + 5)
        values = [*thresholds, *data.draw(st.lists(units, max_size=20)), INT64_MIN, INT64_MAX, None]
    file_id = take_in(shared_tables, column, values)
    assert shared_tables.sums(file_id, BinCounts(column.name, bins)) == expected_counts(values, bins)
    shared_tables.drop(file_id)


@quick
@given(
    st.integers(-(10**4), 10**4),
    st.one_of(
        st.builds(lambda size, shift: mpq(size) * mpq(2) ** shift, st.integers(1, 1000), st.integers(-80, 80)),
        st.integers(1, 10**4).map(lambda hundredths: mpq(hundredths, 100)),
        st.floats(1e-90, 1e90).map(mpq),
    ),
    st.integers(5, 500),
    st.data(),
)
def test_one_operation_finds_the_interval_of_every_double(before: int, width: mpq, intervals: int, data: Any) -> None:
    bins = by_number(REAL, intervals, (before * width, (before + intervals) * width))
    steps = None if bins is None else find_even_steps(bins)
    if bins is None or steps is None:
        return
    inner = bins.thresholds()[1:-1]
    inside = data.draw(st.lists(st.floats(inner[0], math.nextafter(inner[-1], -math.inf)), max_size=50))
    inside += [near for cut in inner[1:] for near in (math.nextafter(cut, -math.inf), cut)][:-1]
    for value in inside:
        distance = value - steps.origin
        found = distance / steps.factor if steps.divides else distance * steps.factor
        assert found != 0 or distance == 0  # an underflow is an error in Postgres
        assert math.floor(found) - steps.offset == bisect_right(inner, value)


@pytest.mark.parametrize(
    ("bounds", "intervals"), [((0, 100), 20), ((0, 70), 7), ((10, 90), 10), ((-5, 5), 40), ((0, 1), 64)]
)
def test_usual_bins_need_one_operation(bounds: tuple[int, int], intervals: int) -> None:
    bins = bins_by_number(REAL, intervals, (mpq(bounds[0]), mpq(bounds[1])))
    text = queries.counts_query(BinCounts("real", bins), exp.to_table("t"), "duckdb").text
    assert text.count("CASE") == 1


@pytest.mark.slow
@pytest.mark.parametrize("column", [REAL, INTEGER], ids=lambda column: column.name)
def test_a_million_bins(tables: Tables, column: Column) -> None:
    values = [i * 3 for i in range(-50, 5000)]
    file_id = take_in(tables, column, [*map(float, values), math.nan] if column is REAL else values)
    bins = bins_by_number(column, 1_000_000, (mpq("0.1"), mpq(13_000)))
    counts = tables.sums(file_id, BinCounts(column.name, bins))
    thresholds = bins.thresholds()
    assert sum(counts) == len(values) + (column is REAL)
    assert len(counts) == bins.count
    for i in [place for place, count in enumerate(counts[:-1]) if count][1:-1:50]:
        assert any(thresholds[i] <= value < thresholds[i + 1] for value in values)


def test_coinciding_thresholds_have_one_cut() -> None:
    cuts = cuts_between(bins_by_number(INTEGER, 10, (mpq(0), mpq(3))))
    assert cuts == ([1, 2, 3], [3, 6, 9])


def test_cuts_beyond_64_bits() -> None:
    edges = (mpq(-(10**30)), mpq(-(10**29)), mpq(0), mpq(10) ** 20, mpq(10) ** 21)
    assert cuts_between(bins_by_edges(INTEGER, edges)) == ([INT64_MIN, 0], [1, 2])


def test_no_row_vanishes_from_a_column_declared_complete(tables: Tables) -> None:
    # Ingest refuses such rows; should one be there all the same, it counts.
    real, boolean = take_in(tables, REAL, [None, math.nan, 64.0]), take_in(tables, BOOLEAN, [None, True, True])
    category = take_in(tables, CATEGORY, [None, "Adelie", "?"])
    for intervals in (2, 1000):
        bins = bins_by_number(Column("real", Kind.REAL, REAL.bounds, nullable=False), intervals, None)
        counts = tables.sums(real, BinCounts("real", bins))
        assert (counts[0], sum(counts), len(counts)) == (2, 3, intervals)
    assert tables.sums(boolean, BinCounts("boolean", BooleanBins(missing=False))) == (1, 2)
    assert tables.sums(category, BinCounts("category", CategoryBins(("Adelie",), missing=False))) == (1, 2)


@pytest.mark.parametrize("missing", [True, False])
def test_categories_and_booleans_of_the_worst_rows(shared_tables: Tables, worst: str, *, missing: bool) -> None:
    rows = worst_rows()
    for name, bins in (("category", CategoryBins(CATEGORY.categories, missing)), ("boolean", BooleanBins(missing))):
        assert shared_tables.sums(worst, BinCounts(name, bins)) == expected_counts(rows[name], bins)


def test_thousands_of_categories(tables: Tables) -> None:
    texts = [f"c'{i}" for i in range(5000)]
    file_id = take_in(tables, replace(CATEGORY, categories=tuple(texts)), [*texts, *texts[:10], "c", None])
    bins = CategoryBins(tuple(texts), missing=True)
    assert tables.sums(file_id, BinCounts("category", bins)) == (*[2] * 10, *[1] * 4990, 1, 1)


def test_texts_with_a_nul_or_alike_to_the_eye(tables: Tables) -> None:
    texts = ["a\0b", "a", "a\0", "é", "e\u0301", "ﬁ", "fi"]
    file_id = take_in(tables, replace(CATEGORY, categories=tuple(texts)), texts)
    assert tables.sums(file_id, BinCounts("category", CategoryBins(tuple(texts), missing=False))) == (*[1] * 7, 0)


def test_every_value_in_turn(tables: Tables) -> None:
    bins = bins_by_number(INTEGER, 5, (mpq(0), mpq(10)))
    table = take_in(tables, INTEGER, list(range(-3, 14)))
    assert tables.sums(table, BinCounts("integer", bins)) == (5, 2, 2, 2, 6, 0)
