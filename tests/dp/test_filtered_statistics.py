"""Counts, sums and tables of every small dataset: value, range and sensitivity by their definitions, by brute force."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.statistics import Statistic, build
from app.dp.statistics.count_base import SharedCounts
from app.dp.table.columns import Column, Kind


class Row(NamedTuple):
    """A row of the small table; `k` is a text or missing."""

    v: int
    k: str | None


def columns(lower: int, upper: int) -> dict[str, Column]:
    return {
        "v": Column("v", Kind.INTEGER, (mpq(lower), mpq(upper)), nullable=False),
        "k": Column("k", Kind.CATEGORY, categories=("s", "t")),
    }


ADELIE = {"k": {"one_of": ["s"]}}
BOUNDS = [(-1, 2), (0, 2), (-2, 0), (1, 3), (-3, -1)]
TEXTS = ("s", "t", "?", None)


def domain(lower: int, upper: int) -> list[Row]:
    values = sorted({lower, upper, (lower + upper) // 2})
    return [Row(v, k) for v in values for k in TEXTS]


def answer(statistic: Statistic, rows: tuple[Row, ...]) -> tuple[int, ...]:
    """What an engine must answer, by the definition."""
    needs: Any = statistic.needs
    counts, totals = [0] * (needs.count + 1), [0] * needs.count
    for row in rows:
        held = row._asdict()
        inside = all(c.holds(held[c.column]) for c in needs.conditions)
        cell = 0
        for name, bins in needs.axes:
            cell = cell * bins.count + place(held[name], bins)
        cell = cell if inside else needs.count
        counts[cell] += 1
        if needs.summed and inside:
            totals[cell] += needs.summed[1].code(mpq(held[needs.summed[0]]))
    return (*counts, *totals) if needs.summed else tuple(counts)


def place(value: Any, bins: Any) -> int:
    if isinstance(value, int):
        return sum(value >= cut for cut in bins.thresholds()[1:-1])
    if value is None:
        return int(bins.count) - 1
    return bins.categories.index(value) if value in bins.categories else len(bins.categories)


def neighbours(rows: tuple[Row, ...], values: list[Row], changed: int) -> Iterator[tuple[Row, ...]]:
    for places in itertools.combinations(range(len(rows)), changed):
        for others in itertools.combinations_with_replacement(values, changed):  # the order of rows is nothing
            other = list(rows)
            for i, row in zip(places, others, strict=True):
                other[i] = row
            yield tuple(other)


def textbook(rows: tuple[Row, ...], inside: Callable[[Row], bool], contribution: Callable[[Row], int]) -> int:
    return sum(contribution(row) for row in rows if inside(row))


def examined(statistic: Statistic, bounds: tuple[int, int], n: int, changed: int) -> tuple[list[Any], list[Any]]:
    """The values of every dataset, and how far each component is from that of each of its neighbours."""
    values = domain(*bounds)
    known = {rows: statistic.values(answer(statistic, rows)) for rows in itertools.product(values, repeat=n)}
    changes = [
        tuple(abs(x - y) for x, y in zip(known[rows], known[other], strict=True))
        for rows in itertools.combinations_with_replacement(values, n)
        for other in neighbours(rows, values, changed)
    ]
    return list(known.values()), changes


@pytest.mark.parametrize(("n", "rows_per_unit"), [(2, 1), (3, 1), (2, 2), (2, 3)])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("filtered", [True, False])
def test_a_sum_on_every_dataset(bounds: tuple[int, int], n: int, rows_per_unit: int, *, filtered: bool) -> None:
    where = ADELIE if n == 3 else {"k": {"negated": {"one_of": ["t"]}}}
    spec = {"kind": "sum", "column": "v", "where": where if filtered else None}
    statistic = build(spec, columns(*bounds), n, rows_per_unit)
    values, changes = examined(statistic, bounds, n, min(rows_per_unit, n))
    (least,), (most,) = min(values), max(values)
    assert (statistic.lower, statistic.upper) == (least, most)
    assert statistic.sensitivity == max(changes)[0] == min(rows_per_unit, n) * statistic.row_sensitivity
    assert statistic.b_prime == (most - least) / (2 * statistic.sensitivity)
    assert statistic.mechanisms == statistic.components == 1
    if filtered:
        a, b = bounds
        assert statistic.row_sensitivity == max(b, 0) - min(a, 0)
        assert (least, most) == (n * min(a, 0), n * max(b, 0))
    rows = (Row(bounds[1], "s"), Row(bounds[0], "t"))[:n] + (Row(bounds[0], "s"),) * (n - 2)
    expected = textbook(rows, lambda row: not filtered or row.k == "s", lambda row: row.v)
    assert statistic.values(answer(statistic, rows)) == (expected,)


@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("rows_per_unit", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_sums_of_groups_on_every_dataset(bounds: tuple[int, int], rows_per_unit: int, *, filtered: bool) -> None:
    where = {"v": {"between": (mpq(bounds[0]), mpq(bounds[1] - 1))}} if filtered else None
    spec = {"kind": "sum", "column": "v", "group_by": "k", "where": where}
    n = max(2, rows_per_unit)
    statistic = build(spec, columns(*bounds), n, rows_per_unit)
    assert statistic.components == len(TEXTS)
    values, changes = examined(statistic, bounds, n, rows_per_unit)
    every = [value for row in values for value in row]
    assert statistic.lower <= min(every)
    assert statistic.upper >= max(every)
    largest = max(sum(change) for change in changes)
    assert largest <= statistic.mechanisms * statistic.sensitivity == 2 * rows_per_unit * statistic.row_sensitivity
    if not filtered:
        assert (min(every), max(every)) == (statistic.lower, statistic.upper)
        a, b = bounds
        # A row leaves one group and enters another, with the value that is farthest from 0 in both.
        assert largest == rows_per_unit * max(2 * max(abs(a), abs(b)), statistic.row_sensitivity)
        if a == 0 or b == 0 or a > 0 or b < 0:
            assert largest == statistic.mechanisms * statistic.sensitivity


def examined_weights(statistic: Statistic, changed: int) -> tuple[list[tuple[mpq, ...]], list[mpq]]:
    """The weighted sums of every table of two rows (v, w, k), checked by definition, and how far neighbours are."""
    rows = list(itertools.product((-1, 2), (0, 1, 3), ("s", None)))
    needs: Any = statistic.needs

    def values(table: tuple[tuple[int, int, str | None], ...]) -> tuple[mpq, ...]:
        cells: list[list[int]] = [[0] * 4 for _ in range(needs.count + 1)]
        expected = [mpq(0)] * needs.count
        for v, w, k in table:
            inside = all(each.holds(k if each.column == "k" else w) for each in needs.conditions)
            cell = (place(k, needs.axes[0][1]) if needs.axes else 0) if inside else needs.count
            codes = needs.summed[1].code(mpq(v)), needs.weighted[1].code(mpq(w))
            for i, each in enumerate((1, *codes, codes[0] * codes[1])):
                cells[cell][i] += each
            if inside:
                expected[cell] += w * (v - mpq(1, 2))
        counts, *sums = zip(*cells, strict=True)
        found = statistic.values((*counts, *(total for each in sums for total in each[:-1])))
        assert found == tuple(expected)
        return found

    known = {table: values(table) for table in itertools.product(rows, repeat=2)}
    changes = [
        sum(abs(x - y) for x, y in zip(known[table], known[other], strict=True))
        for table, other in itertools.product(known, repeat=2)
        if sum(row != another for row, another in zip(table, other, strict=True)) <= changed
    ]
    return list(known.values()), changes


@pytest.mark.parametrize("rows_per_unit", [1, 2, 3])
@pytest.mark.parametrize(
    ("where", "group_by"), [(None, "k"), (ADELIE, None), ({"w": {"between": (mpq(1), mpq(9))}}, "k")]
)
def test_weighted_sums_on_every_dataset(where: dict[str, Any] | None, group_by: str | None, rows_per_unit: int) -> None:
    """All groups together change by W·R at most for each row that is replaced, and some table attains it."""
    weights = columns(-1, 2) | {"w": Column("w", Kind.INTEGER, (mpq(0), mpq(3)), nullable=False)}
    spec = {"kind": "sum", "column": "v", "weight": "w", "centred": True, "where": where, "group_by": group_by}
    statistic = build(spec, weights, 2, rows_per_unit)
    values, changes = examined_weights(statistic, min(rows_per_unit, 2))
    every = [value for row in values for value in row]
    assert (statistic.lower, statistic.upper) == (min(every), max(every)) == (-9, 9)
    assert max(changes) == statistic.sensitivity == min(rows_per_unit, 2) * 9
    assert (statistic.row_sensitivity, statistic.mechanisms) == (9, 1)


COUNTS: dict[str, dict[str, Any]] = {
    "count": {"kind": "count", "where": ADELIE},
    "count of two conditions": {"kind": "count", "where": ADELIE | {"v": {"between": (mpq(-1), mpq(0))}}},
    "count of missing": {"kind": "count", "where": {"k": {"is_missing": True}}},
    "count of known": {"kind": "count", "where": {"k": {"is_missing": False}}},
    "count of others": {"kind": "count", "where": {"k": {"negated": {"one_of": ["s"]}}, "v": {"at_least": mpq(0)}}},
    "grouped count": {"kind": "count", "group_by": "k"},
    "filtered grouped count": {"kind": "count", "group_by": "k", "where": {"v": {"one_of": [mpq(2)]}}},
    "filtered histogram": {"kind": "histogram", "column": "v", "bins": mpq(2), "where": ADELIE},
    "table": {"kind": "histogram", "columns": ["k", "v"], "bins": [None, mpq(2)]},
    "filtered table": {"kind": "histogram", "columns": ["v", "k"], "bins": [mpq(2), None], "where": ADELIE},
}


FAST_TWICE = {"count", "grouped count", "filtered table"}


@pytest.mark.parametrize(
    ("name", "rows_per_unit"),
    [
        pytest.param(name, c, marks=[] if c == 1 or (c == 2 and name in FAST_TWICE) else pytest.mark.slow)
        for name in COUNTS
        for c in (1, 2, 3)
    ],
)
def test_counts_on_every_dataset(name: str, rows_per_unit: int) -> None:
    bounds, n = (-1, 2), 3
    statistic = build(COUNTS[name], columns(*bounds), n, rows_per_unit)
    values, changes = examined(statistic, bounds, n, rows_per_unit)
    every = [value for row in values for value in row]
    assert (min(every), max(every)) == (statistic.lower, statistic.upper) == (0, n)
    assert {len(row) for row in values} == {statistic.components}
    assert max(map(sum, changes)) == statistic.mechanisms * statistic.sensitivity
    if isinstance(statistic, SharedCounts):
        assert (statistic.mechanisms, statistic.sensitivity) == (2 * rows_per_unit, 1)
    else:
        assert (statistic.mechanisms, statistic.sensitivity) == (1, rows_per_unit)
    furthest = max(abs(value - statistic.centre) for value in every)
    assert statistic.b_prime == furthest / statistic.sensitivity
    if "histogram" in name or "table" in name:  # every row is somewhere
        assert {sum(row) for row in values} == {n}


def test_a_table_is_row_by_row_and_its_margins_are_the_histograms() -> None:
    statistic = build(COUNTS["table"], columns(-1, 2), 4, 1)
    rows = (Row(-1, "s"), Row(2, "s"), Row(2, None), Row(0, "?"))
    cells = statistic.values(answer(statistic, rows))
    assert cells == (1, 1, 0, 0, 1, 0, 0, 1)
    assert [sum(cells[2 * i : 2 * i + 2]) for i in range(4)] == [2, 0, 1, 1]
    assert [sum(cells[j::2]) for j in range(2)] == [2, 2]


def test_a_person_of_many_rows_is_capped_by_the_range() -> None:
    count = build(COUNTS["count"], columns(-1, 2), 10, 100)
    assert (count.sensitivity, count.b_prime, count.centre) == (10, mpq(1, 2), 5)
    total = build({"kind": "sum", "column": "v", "where": ADELIE}, columns(-1, 2), 10, 100)
    assert (total.sensitivity, total.b_prime) == (30, mpq(1, 2))


def test_rounding_of_a_filtered_sum_is_that_of_all_rows() -> None:
    reals = columns(0, 1) | {"r": Column("r", Kind.REAL, (mpq("0.1"), mpq("0.7")))}
    statistic: Any = build({"kind": "sum", "column": "r", "where": ADELIE}, reals, 3, 1)
    codes = statistic.codes
    for offsets in itertools.product((mpq(1, 2), mpq(3, 2), mpq(5, 2)), repeat=3):
        values = [codes.lower + codes.width * offset / codes.steps for offset in offsets]
        found = statistic.values((3, 0, sum(map(codes.code, values))))[0]
        assert abs(found - sum(values)) <= statistic.rounding


@pytest.mark.parametrize("name", [*COUNTS, "sum", "grouped sum"])
def test_sums_of_something_else_are_refused(name: str) -> None:
    sums = {"sum": {"kind": "sum", "column": "v"}, "grouped sum": {"kind": "sum", "column": "v", "group_by": "k"}}
    statistic = build((COUNTS | sums)[name], columns(-1, 2), 5, 1)
    right = answer(statistic, (Row(2, "s"),) * 5)
    statistic.values(right)
    for wrong in ((*right, 0), right[:-1], (right[0] + 1, *right[1:])):
        with pytest.raises(ValueError, match="needs"):
            statistic.values(wrong)
    if name == "table":  # without a filter no row is outside
        with pytest.raises(ValueError, match="needs"):
            statistic.values((0,) * (len(right) - 1) + (5,))


WIDE = columns(-1, 2) | {
    "b": Column("b", Kind.BOOLEAN),
    "r": Column("r", Kind.REAL, (mpq(0), mpq(1))),
    "d": Column("d", Kind.DECIMAL, (mpq(0), mpq(1)), scale=2),
}


def identity(where: dict[str, Any]) -> str:
    return build({"kind": "count", "where": where}, WIDE, 10, 1).identity


def test_filters_that_are_the_same_have_one_identity() -> None:
    one = {"k": {"one_of": ["t", "s"]}, "v": {"between": (mpq(0), mpq(1))}, "d": {"one_of": [mpq("0.5"), mpq("0.25")]}}
    same = {
        "d": {"one_of": [mpq("0.25"), "0.50", mpq("0.5")]},
        "v": {"between": (mpq("-0.5"), mpq("1.9"))},
        "k": {"one_of": ["s", "t", "s"]},
    }
    assert identity(one) == identity(same)
    others: list[dict[str, Any]] = [
        {"k": {"one_of": ["s"]}},
        {"k": {"one_of": ["t"]}},
        {"v": {"one_of": [mpq(1)]}},
        {"v": {"between": (mpq(1), mpq(1))}},
        {"v": {"between": (mpq(1), mpq(2))}},
        {"r": {"between": (mpq(1), mpq(2))}},
        {"r": {"one_of": [mpq(1)]}},
        {"d": {"one_of": [mpq(1)]}},
        {"b": {"one_of": [True]}},
        {"b": {"one_of": [False]}},
    ]
    assert len({identity(where) for where in [one, *others]}) == len(others) + 1


SPELLINGS: list[list[dict[str, Any]]] = [
    [{"v": {"below": mpq(18)}}, {"v": {"at_most": mpq("17.5")}}, {"v": {"negated": {"at_least": mpq(18)}}}],
    [
        {"v": {"at_least": mpq(1), "below": mpq(3)}},
        {"v": {"between": (mpq(1), mpq(2))}},
        {"v": {"above": mpq(0), "at_most": mpq(2)}},
    ],
    [{"v": {"negated": {"one_of": [mpq(1)]}}}, {"v": {"negated": {"between": (mpq(1), mpq(1))}}}],
    [
        {"v": {"is_missing": False}},
        {"v": {"at_least": -(mpq(10) ** 100)}},
        {"v": {"between": (-(mpq(10) ** 100), mpq(10) ** 100)}},
    ],
    [{"r": {"at_least": mpq(1)}}, {"r": {"negated": {"below": mpq(1)}}}],
    [{"r": {"below": mpq(1)}}, {"r": {"negated": {"at_least": mpq(1)}}}],
    [{"r": {"is_missing": False}}, {"r": {"negated": {"is_missing": True}}}],
    [{"d": {"below": mpq(18)}}, {"d": {"at_most": mpq("17.99")}}],
    [{"k": {"is_missing": True}}, {"k": {"negated": {"is_missing": False}}}],
    [{"b": {"one_of": [True]}}, {"b": {"negated": {"one_of": [False]}}}],
    [{"b": {"one_of": [True, False]}}, {"b": {"is_missing": False}}],
    [{"k": {"negated": {"one_of": ["s", "t"]}}}, {"k": {"negated": {"one_of": ["t", "s", "s"]}}}],
]


def test_each_spelling_of_a_condition_is_the_same_filter() -> None:
    for spellings in SPELLINGS:
        assert len({identity(where) for where in spellings}) == 1, spellings
    assert len({identity(spellings[0]) for spellings in SPELLINGS}) == len(SPELLINGS)


def test_a_one_sided_filter_on_the_summed_column_narrows_the_bounds_on_its_side() -> None:
    for condition, sensitivity in (({"at_least": mpq(5)}, 10), ({"below": mpq(5)}, 5), ({"is_missing": False}, 10)):
        reals = {"r": Column("r", Kind.REAL, (mpq(0), mpq(10)))}
        total = build({"kind": "sum", "column": "r", "where": {"r": condition}, "centred": True}, reals, 5, 1)
        assert round(float(total.sensitivity), 9) == (5 if condition.keys() == {"at_least"} else sensitivity)


def test_kinds_members_and_groups_have_identities_of_their_own() -> None:
    specs: list[dict[str, Any]] = [
        *COUNTS.values(),
        {"kind": "sum", "column": "v"},
        {"kind": "sum", "column": "v", "where": ADELIE},
        {"kind": "sum", "column": "v", "group_by": "k"},
        {"kind": "sum", "column": "v", "bounds": (mpq(-1), mpq(3))},
        {"kind": "histogram", "column": "v", "bins": mpq(2)},
        {"kind": "histogram", "column": "k"},
        {"kind": "histogram", "columns": ["v", "k"], "bins": [mpq(2), None]},
        {"kind": "histogram", "columns": ["v", "k"], "bins": [mpq(3), None]},
        {"kind": "mean", "column": "v"},
    ]
    found = Counter(build(spec, columns(-1, 2), 10, 1).identity for spec in specs)
    assert set(found.values()) == {1}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"kind": "count"}, "where"),
    ({"kind": "count", "where": {}}, "where"),
    ({"kind": "count", "where": {"nobody": {"one_of": ["s"]}}}, "where.0"),
    ({"kind": "count", "where": {"k": {}}}, "where.0"),
    ({"kind": "count", "where": {"v": {"one_of": [mpq(1)], "between": (mpq(0), mpq(1))}}}, "where.0"),
    ({"kind": "count", "where": {"k": {"one_of": []}}}, "where.0.in"),
    ({"kind": "count", "where": {"v": {"one_of": [mpq(i) for i in range(10_001)]}}}, "where.0.in"),
    ({"kind": "count", "where": {"k": {"one_of": ["s", "s' OR 1=1 --"]}}}, "where.0.in.1"),
    ({"kind": "count", "where": {"k": {"one_of": [mpq(1)]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"k": {"one_of": [True]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"k": {"between": (mpq(0), mpq(1))}}}, "where.0.between"),
    ({"kind": "count", "where": {"b": {"between": (mpq(0), mpq(1))}}}, "where.0.between"),
    ({"kind": "count", "where": {"b": {"one_of": ["true"]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"b": {"one_of": [mpq(1)]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"v": {"one_of": [True]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"v": {"one_of": ["0) OR (1=1"]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"v": {"one_of": [mpq(1, 2)]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"v": {"one_of": [mpq(2) ** 63]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"d": {"one_of": [mpq("0.001")]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"r": {"one_of": [mpq(10) ** 101]}}}, "where.0.in.0"),
    ({"kind": "count", "where": {"v": {"between": (mpq(1), mpq(0))}}}, "where.0.between"),
    ({"kind": "count", "where": {"v": {"between": (mpq("0.1"), mpq("0.9"))}}}, "where.0.between"),
    ({"kind": "count", "where": {"v": {"between": (mpq(2) ** 64, mpq(2) ** 65)}}}, "where.0.between"),
    ({"kind": "count", "where": {"v": {"between": (mpq(1),)}}}, "where.0.between"),
    ({"kind": "count", "where": {"v": {"between": (mpq(0), mpq(1)), "below": mpq(1)}}}, "where.0"),
    ({"kind": "count", "where": {"v": {"at_least": mpq(0), "above": mpq(1)}}}, "where.0.above"),
    ({"kind": "count", "where": {"v": {"above": mpq(0), "below": mpq(1)}}}, "where.0"),
    ({"kind": "count", "where": {"v": {"below": "soon"}}}, "where.0.below"),
    ({"kind": "count", "where": {"k": {"below": mpq(1)}}}, "where.0.below"),
    ({"kind": "count", "where": {"v": {"is_missing": True}}}, "where.0.is_missing"),
    ({"kind": "count", "where": {"v": {"negated": {"is_missing": False}}}}, "where.0.not.is_missing"),
    ({"kind": "count", "where": {"b": {"negated": {"one_of": [True, False]}}}}, "where.0.not"),
    ({"kind": "count", "where": {"k": {"negated": {"one_of": ["?"]}}}}, "where.0.not.in.0"),
    ({"kind": "count", "where": {"k": {"negated": {}}}}, "where.0.not"),
    ({"kind": "count", "column": "v", "where": ADELIE}, "column"),
    ({"kind": "count", "group_by": "v"}, "group_by"),
    ({"kind": "count", "group_by": "nobody"}, "group_by"),
    ({"kind": "mean", "column": "v", "where": ADELIE}, "where"),
    ({"kind": "variance", "column": "v", "group_by": "k"}, "group_by"),
    ({"kind": "sum", "column": "k"}, "column"),
    ({"kind": "histogram", "column": "v", "bins": mpq(10_001), "where": ADELIE}, "bins"),
    ({"kind": "histogram", "columns": ["v"]}, "columns"),
    ({"kind": "histogram", "columns": ["v", "v"], "bins": [mpq(2), mpq(2)]}, "columns"),
    ({"kind": "histogram", "columns": ["v", "k"]}, "edges.0"),
    ({"kind": "histogram", "columns": ["v", "k"], "bins": [mpq(2), mpq(2)]}, "bins.1"),
    ({"kind": "histogram", "columns": ["k", "v"], "edges": [None, [mpq(0), mpq(2), mpq(1)]]}, "edges.1.2"),
    ({"kind": "histogram", "columns": ["v", "k"], "bins": [mpq(10_001), None]}, "bins.0"),
    ({"kind": "histogram", "columns": ["v", "d"], "bins": [mpq(1000), mpq(1000)]}, "columns"),
    ({"kind": "histogram", "columns": ["v", "k"], "bins": [mpq(2), None], "column": "v"}, "column"),
]


@pytest.mark.parametrize(("spec", "where"), REFUSED)
def test_what_is_no_statistic_is_refused_in_its_place(spec: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidStatistic) as refused:
        build(spec, WIDE, 10, 1)
    assert refused.value.where == where


def test_describe_fills_in_every_default_and_can_be_asked_again() -> None:
    where = {
        "b": {"in": [False, True]},
        "d": {"in": [0.25, 0.5]},
        "k": {"in": ["s"]},
        "r": {"between": [0.1, 0.5]},
        "v": {"between": [-1, 1]},
    }
    descriptions: list[dict[str, Any]] = [
        {"kind": "count", "where": where},
        {"kind": "count", "where": {"v": {"in": [2, str(2**53 + 1)]}}, "group_by": "k"},
        {"kind": "count", "where": {"b": {"is_missing": True}, "k": {"is_missing": False}, "r": {"below": 18}}},
        {"kind": "count", "where": {"r": {"at_least": 0.1, "below": 65}, "v": {"at_least": 18}}},
        {"kind": "count", "where": {"k": {"not": {"in": ["s"]}}, "r": {"not": {"between": [0, 1]}}}},
        {"kind": "sum", "column": "v", "bounds": [-1, 2]},
        {"kind": "sum", "column": "b", "where": {"k": {"in": ["s", "t"]}}, "group_by": "k"},
        {"kind": "histogram", "column": "v", "edges": [-1, 0, 2], "where": where},
        {"kind": "histogram", "columns": ["k", "b"]},
        {"kind": "histogram", "columns": ["k", "v"], "bins": [None, 2], "bounds": [None, [-1, 2]]},
        {
            "kind": "histogram",
            "columns": ["v", "r"],
            "edges": [[-1, 0, 2], None],
            "bins": [None, 3],
            "bounds": [None, [0, 1]],
            "where": where,
        },
    ]

    def asked(member: Any) -> Any:
        if isinstance(member, dict):
            return {{"in": "one_of", "not": "negated"}.get(key, key): asked(part) for key, part in member.items()}
        if isinstance(member, list):
            return [asked(part) for part in member]
        return mpq(str(member)) if isinstance(member, int | float) and not isinstance(member, bool) else member

    for description in descriptions:
        assert build(asked(description), WIDE, 10, 1).describe() == description


class CountedText(str):
    """A text that counts how often it is compared with another."""

    __slots__ = ()
    comparisons = 0

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedText.comparisons += 1
        return str.__eq__(self, other)


def test_values_are_found_among_many_categories_without_a_search() -> None:
    categories = tuple(CountedText(i) for i in range(1_000))
    columns = {"k": Column("k", Kind.CATEGORY, categories=categories)}
    CountedText.comparisons = 0
    asked = {"kind": "count", "where": {"k": {"one_of": [str(i) for i in reversed(range(1_000))]}}}
    build(asked, columns, 10, 1)
    assert CountedText.comparisons < 3_000


@pytest.mark.parametrize("filtered", ["k", "v", None])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize(
    ("n", "rows_per_unit"), [(2, 1), (2, 2), *(pytest.param(3, c, marks=pytest.mark.slow) for c in (1, 3))]
)
@pytest.mark.parametrize("bounds", [(0, 2), (-2, 0), (1, 3)])
def test_centred_sums_move_together_by_the_width_of_the_bounds(
    bounds: tuple[int, int], n: int, rows_per_unit: int, filtered: str | None, *, grouped: bool
) -> None:
    """The L1 sensitivity of all groups is that of one sum, and is attained: so each has the full ε."""
    a, b = bounds
    where = {"k": ADELIE, "v": {"v": {"between": (mpq(a), mpq(b - 1))}}, None: None}[filtered]
    spec: dict[str, Any] = {"kind": "sum", "centred": True, "column": "v", "where": where}
    statistic = build(spec | {"group_by": "k" if grouped else None}, columns(a, b), n, rows_per_unit)
    values, changes = examined(statistic, bounds, n, min(rows_per_unit, n))
    width = b - a if filtered != "v" else b - 1 - a
    assert statistic.row_sensitivity == width
    assert statistic.mechanisms == 1
    assert max(map(sum, changes)) == statistic.sensitivity == min(rows_per_unit, n) * width
    assert all(statistic.lower <= value <= statistic.upper for known in values for value in known)
    assert max(map(max, values)) == statistic.upper == -statistic.lower
    everybody = (Row(b, "s"), Row(a, "t"), Row(a, "s"))[:n]
    middle = mpq(a + a + width, 2)
    inside = [row for row in everybody if filtered is None or (row.k == "s" if filtered == "k" else row.v < b)]
    of_group = [row for row in inside if not grouped or row.k == "s"]
    assert statistic.values(answer(statistic, everybody))[0] == sum(row.v - middle for row in of_group)
