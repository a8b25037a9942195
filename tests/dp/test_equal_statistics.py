"""Statistics that have the same numbers have them on every small table, and a draw for one is a draw for the other."""

from collections import Counter
from datetime import date
from itertools import combinations_with_replacement, product
from math import inf, nextafter
from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.mechanism.equal_mechanism import EqualMechanism
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import Statistic, build
from app.dp.statistics.equal_numbers import (
    MAX_EQUAL_CONDITIONS,
    MAX_EQUAL_NUMBERS,
    count_from_histogram,
    list_equal_statistics,
    list_interval_conditions,
)
from app.dp.statistics.histogram import Histogram
from app.dp.table.bins import BooleanBins, CategoryBins, IntervalBins
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import Answer, BinCounts, CellSums, ColumnSums, ColumnTotal, Moments, Total
from app.engines.sql.bin_expressions import cuts_between, missing_bin

Row = tuple[Any, ...]
COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(-2), mpq(3)), nullable=False),
    "k": Column("k", Kind.CATEGORY, categories=("s", "t")),
    "only": Column("only", Kind.CATEGORY, categories=("one",), nullable=False),
    "yes": Column("yes", Kind.BOOLEAN, nullable=False),
    "perhaps": Column("perhaps", Kind.BOOLEAN),
    "m": Column("m", Kind.INTEGER, (mpq(-2), mpq(4))),
    "replaced": Column("replaced", Kind.INTEGER, (mpq(-2), mpq(4)), null_value=mpq(0)),
}
VALUES: dict[str, tuple[Any, ...]] = {
    "x": (-2, 3),
    "k": ("s", "t", "another", None),
    "only": ("one", "another"),
    "yes": (False, True),
    "perhaps": (False, True, None),
    "m": (-2, 4, None),
    "replaced": (-2, 4, None),
}
ALPHA = mpq(1, 20)


def one_of(**conditions: Any) -> dict[str, Any]:
    return {name: {"one_of": (value,)} for name, value in conditions.items()}


KNOWN = {"m": {"is_missing": False}}
ASKED: dict[str, tuple[dict[str, Any], int]] = {
    "sum": ({"kind": "sum", "column": "x"}, 1),
    "mean": ({"kind": "mean", "column": "x"}, 1),
    "table": ({"kind": "histogram", "columns": ("k", "yes")}, 1),
    "filtered table": ({"kind": "histogram", "columns": ("k", "yes"), "where": one_of(perhaps=True)}, 1),
    "histogram": ({"kind": "histogram", "column": "k"}, 1),
    "by group": ({"kind": "count", "group_by": "k"}, 1),
    "filtered by group": ({"kind": "count", "group_by": "k", "where": one_of(yes=True)}, 1),
    "category": ({"kind": "count", "where": one_of(k="t")}, 2),
    "boolean": ({"kind": "count", "where": one_of(yes=False)}, 2),
    "nullable boolean": ({"kind": "count", "where": one_of(perhaps=True)}, 1),
    "two conditions": ({"kind": "count", "where": one_of(k="s", yes=True)}, 3),
    "two bins": ({"kind": "histogram", "column": "yes"}, 2),
    "two categories": ({"kind": "histogram", "column": "only"}, 2),
    "two groups": ({"kind": "count", "group_by": "only"}, 2),
    "filtered histogram": ({"kind": "histogram", "column": "k", "where": one_of(yes=True)}, 0),
    "three bins": ({"kind": "histogram", "column": "perhaps"}, 0),
    "two of three": ({"kind": "count", "where": {"k": {"one_of": ("s", "t")}}}, 0),
    "missing category": ({"kind": "count", "where": {"k": {"is_missing": True}}}, 4),
    "missing boolean": ({"kind": "count", "where": {"perhaps": {"is_missing": True}}}, 3),
    "missing by kind": ({"kind": "missing", "column": "k"}, 4),
    "missing number": ({"kind": "missing", "column": "m"}, 2),
    "known": ({"kind": "count", "where": {"k": {"is_missing": False}}}, 2),
    "known number": ({"kind": "count", "where": KNOWN}, 2),
    "mean with missing values": ({"kind": "mean", "column": "m"}, 2),
    "sum with missing values": ({"kind": "sum", "column": "m"}, 2),
    "centred sum of known values": ({"kind": "sum", "column": "m", "centred": True, "where": KNOWN}, 2),
    "sum of known values": ({"kind": "sum", "column": "m", "where": KNOWN}, 0),
    "mean with another null value": ({"kind": "mean", "column": "replaced"}, 1),
    "undeclared": ({"kind": "count", "where": {"k": {"negated": {"one_of": ("s", "t")}}}}, 2),
    "other category": ({"kind": "count", "where": {"only": {"negated": {"one_of": ("one",)}}}}, 3),
    "not a category": ({"kind": "count", "where": {"k": {"negated": {"one_of": ("t",)}}}}, 0),
    "below": ({"kind": "count", "where": {"x": {"below": mpq(0)}}}, 1),
    "number": ({"kind": "count", "where": {"x": {"one_of": (mpq(3),)}}}, 2),
    "range": ({"kind": "histogram", "column": "yes", "where": {"x": {"between": (mpq(2), mpq(3))}}}, 1),
    "list": ({"kind": "histogram", "columns": ("k", "yes"), "where": {"x": {"one_of": (mpq(2), mpq(3))}}}, 2),
    "sum of a range": ({"kind": "sum", "column": "x", "where": {"x": {"between": (mpq(2), mpq(3))}}}, 0),
    "filtered sum": ({"kind": "sum", "column": "x", "where": one_of(yes=True)}, 0),
    "centred sum": ({"kind": "sum", "column": "x", "centred": True}, 0),
    "variance": ({"kind": "variance", "column": "x"}, 0),
}


def built(name: str, n: int = 3, rows_per_unit: int = 1) -> Statistic:
    return build(ASKED[name][0], COLUMNS, n, rows_per_unit)


def place(bins: Any, value: Any) -> int:
    if isinstance(bins, CategoryBins):
        return len(bins.categories) + 1 if value is None else (*bins.categories, value).index(value)
    assert isinstance(bins, BooleanBins)
    return 2 if value is None else int(value)


def answer(statistic: Statistic, rows: tuple[Row, ...], names: tuple[str, ...]) -> Answer:
    """As an engine answers, by the definition."""
    needs, table = statistic.needs, [dict(zip(names, row, strict=True)) for row in rows]
    if isinstance(needs, ColumnSums | ColumnTotal):
        codes = [needs.codes.code(row[needs.column]) for row in table]
        moments = Moments(len(rows), sum(codes), sum(code * code for code in codes))
        return moments if isinstance(needs, ColumnSums) else Total(*moments[:2])
    axes = ((needs.column, needs.bins),) if isinstance(needs, BinCounts) else needs.axes
    conditions = () if isinstance(needs, BinCounts) else needs.conditions
    cells, total = Counter[tuple[int, ...]](), 0
    for row in table:
        if all(each.holds(row[each.column]) for each in conditions):
            cells[tuple(place(bins, row[name]) for name, bins in axes)] += 1
            if isinstance(needs, CellSums) and needs.summed:
                total += needs.summed[1].code(row[needs.summed[0]])
    counts = [cells[cell] for cell in product(*(range(bins.count) for _, bins in axes))]
    if isinstance(needs, BinCounts):
        return tuple(counts)
    return (*counts, len(rows) - sum(counts), *([total] if needs.summed else []))


@pytest.mark.parametrize("name", ASKED)
def test_equal_statistics_are_equal_on_every_table(name: str) -> None:
    """Each way, on every table of two rows and some of three; and what is not equal has none."""
    spec, others = ASKED[name]
    of = {*spec.get("where", {}), *spec.get("columns", ()), spec.get("column"), spec.get("group_by")} - {None}
    names = tuple(sorted(map(str, of)))
    domain = list(product(*(VALUES[each] for each in names)))
    for n in (2, 3):
        statistic = built(name, n)
        equal = list_equal_statistics(statistic, COLUMNS)
        assert len(equal) == others
        assert len({each.statistic.identity for each in equal} - {statistic.identity}) == others
        for rows in combinations_with_replacement(domain, n):
            expected = statistic.values(answer(statistic, rows, names))
            for each in equal:
                numbers = each.statistic.values(answer(each.statistic, rows, names))
                assert tuple(each.convert(numbers)) == expected


@pytest.mark.parametrize("rows_per_unit", [1, 2, 3])
@pytest.mark.parametrize("name", [name for name, (_, others) in ASKED.items() if others])
def test_an_equal_release_has_its_own_radii_in_the_units_that_are_asked_for(name: str, rows_per_unit: int) -> None:
    """Per number the release's own; at once for as many as are asked for."""
    statistic = built(name, 50, rows_per_unit)
    for equal in list_equal_statistics(statistic, COLUMNS):
        released = Mechanism.for_epsilon(equal.statistic, mpq(1, 2), ALPHA, 0)
        answering = EqualMechanism.of(released, equal, statistic)
        assert answering.radius(ALPHA) == equal.factor * released.radius(ALPHA)
        assert answering.tight_radius(ALPHA) == equal.factor * released.tight_radius(ALPHA)
        assert answering.simultaneous_radius(ALPHA) == answering.radius(ALPHA / statistic.draws)
        assert statistic.draws <= equal.statistic.draws
        assert answering.resolution >= statistic.rounding
        if equal.factor != 1:
            assert answering.radius(ALPHA) == Mechanism.for_epsilon(statistic, mpq(1, 2), ALPHA, 0).radius(ALPHA)


@pytest.mark.parametrize("name", ["two bins", "two categories", "two groups"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
def test_two_counts_of_all_rows_are_one_draw(seeded_bits: Any, name: str, rows_per_unit: int) -> None:
    """At ε/c for the first; the second is n minus it, and both are within the radius at once."""
    n = 51
    statistic = built(name, n, rows_per_unit)
    assert (statistic.components, statistic.draws, statistic.mechanisms) == (2, 1, rows_per_unit)
    mechanism = Mechanism.for_epsilon(statistic, mpq(1, 2), ALPHA, 0)
    assert mechanism.parameters.epsilon == mpq(1, 2) / rows_per_unit
    assert mechanism.simultaneous_radius(ALPHA) == mechanism.radius(ALPHA)
    if rows_per_unit == 1:
        count = Mechanism.for_epsilon(built("category", n), mpq(1, 2), ALPHA, 0)
        assert (mechanism.parameters, mechanism.radius(ALPHA)) == (count.parameters, count.radius(ALPHA))
    rest = () if isinstance(statistic.needs, BinCounts) else (0,)
    bits = seeded_bits(7)
    for inside in (0, 20, n):
        first, second = mechanism.draw((inside, n - inside, *rest), bits)
        assert first + second == n
        assert max(abs(first), abs(second)) <= statistic.furthest_centre + mechanism.parameters.bound


def test_a_filter_on_groups_leaves_rows_out() -> None:
    """Then the counts have no known sum, and each is drawn."""
    statistic = build({"kind": "count", "group_by": "only", "where": one_of(yes=True)}, COLUMNS, 51, 1)
    assert (statistic.components, statistic.draws, statistic.mechanisms) == (2, 2, 2)


@pytest.mark.parametrize("column", ["x", "w"])
def test_a_range_that_narrows_bounds_is_no_list(column: str) -> None:
    """The noise of one of them is larger, so that its release must not be taken for the other's."""
    columns = COLUMNS | {"w": Column("w", Kind.INTEGER, (mpq(0), mpq(900)), nullable=False)}
    asked = {"kind": "sum", "centred": True, "column": "x", "weight": "w"}
    for condition in ({"between": (mpq(1), mpq(3))}, {"one_of": (mpq(1), mpq(2), mpq(3))}):
        statistic = build(asked | {"where": {column: condition}}, columns, 50, 1)
        assert list_equal_statistics(statistic, columns) == []


def test_large_tables_only_answer_for_themselves() -> None:
    columns = {name: Column(name, Kind.CATEGORY, categories=tuple(map(str, range(99)))) for name in "xy"}
    table = build({"kind": "histogram", "columns": ("x", "y")}, columns, 50, 1)
    assert table.components > MAX_EQUAL_NUMBERS
    assert list_equal_statistics(table, columns) == []


@pytest.mark.parametrize("more", [0, 1])
def test_counts_with_many_conditions_only_answer_for_themselves(more: int) -> None:
    """The conditions are written out for each statistic: with all of them that would be quadratic."""
    columns = {f"k{i}": Column(f"k{i}", Kind.CATEGORY, categories=("s", "t")) for i in range(MAX_EQUAL_CONDITIONS + 1)}
    where = {name: {"one_of": ("s",)} for name in list(columns)[: MAX_EQUAL_CONDITIONS + more]}
    equal = list_equal_statistics(build({"kind": "count", "where": where}, columns, 50, 1), columns)
    assert len(equal) == (0 if more else 2 * MAX_EQUAL_CONDITIONS)


def bin_of(bins: IntervalBins, value: float | None) -> int:
    """As the engines choose it."""
    if value is None:
        return missing_bin(bins)
    return max((place for cut, place in zip(*cuts_between(bins), strict=True) if value >= cut), default=0)


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("edges", ["0 2 5", "0 1/2 2 4", "0 1/3 2/3 3", "-5 -1 1e19 2e19", "-2e19 -1e19 1 3"])
def test_an_interval_is_a_bin_if_and_only_if_both_have_the_same_rows(edges: str, *, nullable: bool) -> None:
    """Whatever is stored: a value beyond the edges, or none although the column is declared without missing values."""
    ends = (-(2**63), -3, -1, 0, 1, 2, 3, 4, 7, 2**63 - 1)
    columns = {"x": Column("x", Kind.INTEGER, nullable=nullable)}
    written = tuple(mpq(edge) for edge in edges.split())
    histogram = build({"kind": "histogram", "column": "x", "edges": written}, columns, 3, 1)
    assert isinstance(histogram, Histogram)
    assert isinstance(histogram.partition, IntervalBins)
    bins, found = histogram.partition, set()
    for least, most in combinations_with_replacement(ends, 2):
        count = build({"kind": "count", "where": {"x": {"between": (mpq(least), mpq(most))}}}, columns, 3, 1)
        (interval,) = list_interval_conditions(count, columns)
        equal = count_from_histogram(interval, histogram)
        same = [
            place
            for place in range(bins.edges.intervals)
            if all(
                (value is not None and least <= value <= most) == (bin_of(bins, value) == place)
                for value in (None, *range(-9, 12), *ends)
            )
        ]
        assert [equal.convert(range(bins.count))] == [same] if equal else not same
        found |= {*same}
    assert len(found) >= 1


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("edges", ["0 1/3 2/3 3", "-5 -1 0 1e99", "0 1/10 3/10 1"])
def test_an_interval_of_a_real_column_is_a_bin_if_it_ends_below_the_next_edge(edges: str, *, nullable: bool) -> None:
    """A row at the upper edge itself is in the next bin."""
    columns = {"x": Column("x", Kind.REAL, nullable=nullable)}
    histogram = build({"kind": "histogram", "column": "x", "edges": tuple(map(mpq, edges.split()))}, columns, 3, 1)
    assert isinstance(histogram, Histogram)
    assert isinstance(histogram.partition, IntervalBins)
    bins = histogram.partition
    cuts = [mpq(cut) for cut in bins.thresholds()]
    near = [float(cut) for cut in cuts]
    values = (None, *near, *(nextafter(cut, side) for cut in near for side in (-inf, inf)), -inf, inf, -0.0)
    found = set()
    lower: list[dict[str, Any]] = [{}, *({"at_least": cut} for cut in cuts), *({"above": cut} for cut in cuts)]
    upper: list[dict[str, Any]] = [{}, *({"below": cut} for cut in cuts), *({"at_most": cut} for cut in cuts)]
    for ends in (low | high for low, high in product(lower, upper) if low or high):
        try:
            count = build({"kind": "count", "where": {"x": ends}}, columns, 3, 1)
        except InvalidStatistic:  # no number is within
            continue
        (interval,) = list_interval_conditions(count, columns)
        equal = count_from_histogram(interval, histogram)
        selected = [value is not None and interval.least <= value <= interval.most for value in values]
        same = [
            place
            for place in range(bins.edges.intervals)
            if [bin_of(bins, value) == place for value in values] == selected
        ]
        assert [equal.convert(range(bins.count))] == [same] if equal else not same
        found |= {*same}
    assert found == {*range(0 if nullable else 1, bins.edges.intervals)}


@pytest.mark.parametrize("kind", [Kind.REAL, Kind.DATE])
def test_two_bins_of_all_rows_follow_from_the_count_of_the_last_one(kind: Kind) -> None:
    day = date(2021, 6, 1)
    edge: Any = day if kind is Kind.DATE else mpq(1, 3)
    edges = (day.replace(month=1), day, day.replace(month=12)) if kind is Kind.DATE else (mpq(0), edge, mpq(1))
    columns = {"x": Column("x", kind, nullable=False)}
    histogram = build({"kind": "histogram", "column": "x", "edges": edges}, columns, 9, 1)
    (equal,) = list_equal_statistics(histogram, columns)
    count = build({"kind": "count", "where": {"x": {"at_least": edge}}}, columns, 9, 1)
    assert equal.statistic.identity == count.identity
    assert equal.convert([mpq(2)]) == [7, 2]
