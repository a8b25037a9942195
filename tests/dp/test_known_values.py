"""Statistics of the known values on every small table: value, range, sensitivity and intervals by their definitions."""

import itertools
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.derived import derive
from app.dp.derived.base import DerivedStatistic, Estimate, KnownComponent, reach_of
from app.dp.derived.interval_arithmetic import Range
from app.dp.derived.known_spread import RegressionOfKnown
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import Statistic, build
from app.dp.table.columns import Column, Kind

COLUMNS = {
    "v": Column("v", Kind.INTEGER, (mpq(0), mpq(2))),
    "w": Column("w", Kind.INTEGER, (mpq(-1), mpq(2)), null_value=mpq(2)),
    "all": Column("all", Kind.INTEGER, (mpq(0), mpq(2)), nullable=False),
    "k": Column("k", Kind.CATEGORY, categories=("s",)),
}
Row = tuple[int | None, int | None]
Table = tuple[Row, ...]
ROWS: list[Row] = list(itertools.product((None, 0, 2), (None, -1, 2)))
SOME = {"w": {"between": (mpq(0), mpq(2))}}
KNOWN_V = {"v": {"is_missing": False}}
ALPHA = mpq(1, 10)


def answer(statistic: Statistic, table: Table) -> tuple[int, ...]:
    """What an engine must answer, by the definition."""
    needs: Any = statistic.needs
    counts, sums = [0, 0], [0] * needs.sums
    for values in table:
        row = dict(zip("vw", values, strict=True))
        inside = all(each.holds(row[each.column]) for each in needs.conditions)
        counts[not inside] += 1
        if inside:
            codes = [
                codes.code(None if row[name] is None else mpq(row[name]))
                for name, codes in filter(None, (needs.summed, needs.weighted))
            ]
            totals = [*codes, codes[0] * codes[1]] if needs.sums == 3 else codes
            sums = [total + each for total, each in zip(sums, totals, strict=True)]
    return (*counts, *sums)


def over_pairs(table: Table, x: int, y: int, meets: Callable[[Row], bool] = lambda _: True) -> Fraction:
    rows = [row for row in table if row[x] is not None and row[y] is not None and meets(row)]
    products = [(one[x] - other[x]) * (one[y] - other[y]) for one, other in itertools.combinations(rows, 2)]  # type: ignore[operator]
    return Fraction(sum(products), len(table) * (len(table) - 1))


ASKED: dict[str, tuple[dict[str, Any], Callable[[Table], Fraction]]] = {
    "squares": ({"kind": "pair_differences", "columns": ("v", "v")}, lambda t: over_pairs(t, 0, 0)),
    "squares of some": (
        {"kind": "pair_differences", "columns": ("v", "v"), "where": SOME},
        lambda t: over_pairs(t, 0, 0, lambda row: row[1] in {0, 2}),
    ),
    "products": ({"kind": "pair_differences", "columns": ("w", "v")}, lambda t: over_pairs(t, 1, 0)),
    "centred": (
        {"kind": "sum", "column": "v", "centred": True, "where": KNOWN_V},
        lambda t: Fraction(sum(v - 1 for v, _ in t if v is not None)),
    ),
    "sum": (
        {"kind": "sum", "column": "w", "where": {"w": {"is_missing": False}}},
        lambda t: Fraction(sum(w for _, w in t if w is not None)),
    ),
    "missing": ({"kind": "missing", "column": "v"}, lambda t: Fraction(sum(v is None for v, _ in t))),
    "known": ({"kind": "count", "where": KNOWN_V}, lambda t: Fraction(sum(v is not None for v, _ in t))),
}


@pytest.mark.parametrize(("n", "rows_per_unit"), [(2, 1), (2, 3), (3, 1), (3, 2)])
@pytest.mark.parametrize("name", ASKED)
def test_a_component_on_every_table(name: str, n: int, rows_per_unit: int) -> None:
    spec, textbook = ASKED[name]
    statistic = build(spec, COLUMNS, n, rows_per_unit)
    tables = list(itertools.combinations_with_replacement(ROWS, n))
    values = {}
    for table in tables:
        ((found),) = statistic.values(answer(statistic, table))
        assert found == textbook(table)
        values[frozenset((row, table.count(row)) for row in table)] = found
    assert (statistic.lower, statistic.upper) == (min(values.values()), max(values.values()))
    largest = mpq(0)
    for table in tables:
        found = values[frozenset((row, table.count(row)) for row in table)]
        for kept in itertools.combinations(table, max(n - rows_per_unit, 0)):
            for others in itertools.combinations_with_replacement(ROWS, n - len(kept)):
                neighbour = (*kept, *others)
                key = frozenset((row, neighbour.count(row)) for row in neighbour)
                largest = max(largest, abs(values[key] - found))
    # The triangle inequality is not tight for pairs of different columns, as it is not for a covariance.
    assert largest == statistic.sensitivity or (
        rows_per_unit > 1 and name == "products" and largest < statistic.sensitivity
    )


def test_pairs_need_numbers_and_rows() -> None:
    for spec, where in (
        ({"columns": ("v", "k")}, "columns.1"),
        ({"columns": ("v",)}, "columns"),
        ({"columns": ("v", "v"), "bounds": ((mpq(0), mpq(1)), None)}, "bounds"),
        ({"columns": ("v", "w"), "where": {"w": {"is_missing": True}}}, "where"),
    ):
        with pytest.raises(InvalidStatistic) as refused:
            build({"kind": "pair_differences", **spec}, COLUMNS, 9, 1)
        assert refused.value.where == where
    described = build({"kind": "pair_differences", "columns": ("all", "w")}, COLUMNS, 9, 1).describe()
    assert described["where"] == {"w": {"is_missing": False}}
    one, other = (
        build({"kind": "pair_differences", "columns": pair}, COLUMNS, 9, 1) for pair in (("v", "w"), ("w", "v"))
    )
    assert one.identity == other.identity


def known_values(table: Table, column: int) -> list[int]:
    return [row[column] for row in table if row[column] is not None]


def complete(table: Table) -> list[tuple[int, int]]:
    return [(v, w) for v, w in table if v is not None and w is not None]


def covariance(table: Table) -> float | None:
    rows = complete(table)
    return statistics.covariance(*zip(*rows, strict=True)) if len(rows) > 1 else None


DERIVED: list[tuple[dict[str, Any], Callable[[Table], Sequence[float | None]]]] = [
    ({"kind": "sum", "column": "w"}, lambda t: [sum(known_values(t, 1))]),
    (
        {"kind": "variance", "column": "w"},
        lambda t: [statistics.variance(known_values(t, 1)) if len(known_values(t, 1)) > 1 else None],
    ),
    (
        {"kind": "standard_deviation", "column": "v"},
        lambda t: [statistics.stdev(known_values(t, 0)) if len(known_values(t, 0)) > 1 else None],
    ),
    ({"kind": "covariance", "columns": ("v", "w")}, lambda t: [covariance(t)]),
    (
        {"kind": "variance", "column": "v", "where": SOME},
        lambda t: [statistics.variance(some) if len(some := [v for v, w in complete(t) if w >= 0]) > 1 else None],
    ),
    (
        {"kind": "covariance", "columns": ("v", "w"), "where": SOME},
        lambda t: [covariance(tuple(row for row in complete(t) if row[1] >= 0))],
    ),
]


SHARES = {"pairs": mpq(9, 10), "count": mpq(1, 10)}


def released(mechanism: Mechanism, value: mpq, error: mpq, share: mpq, alpha: mpq) -> KnownComponent:
    """A release that is off by as much as its share of α allows; what is known of it is at an equal share."""
    statistic, reach = mechanism.statistic, reach_of(mechanism, ALPHA * share)
    raw = value + error * reach
    within = min(max(raw, statistic.lower), statistic.upper)
    around = Range(within - reach, within + reach).cut(statistic.lower, statistic.upper)
    return KnownComponent((raw,), (within,), (around,), mechanism, alpha)


def estimates(derived: DerivedStatistic, known: dict[str, KnownComponent]) -> list[Estimate]:
    found: Any = derived.estimates(known)
    return list(found.values())


@pytest.mark.parametrize("epsilon", [mpq(2), mpq(200)])
@pytest.mark.parametrize(
    ("spec", "textbook"), DERIVED, ids=[spec["kind"] + ", some" * ("where" in spec) for spec, _ in DERIVED]
)
def test_an_interval_holds_on_every_table(spec: dict[str, Any], textbook: Any, epsilon: mpq) -> None:
    """If each release is within its radius at its share of α, in whatever corner, the interval has the truth.

    By the union bound they all are with probability 1 - α. Ratios and correlations have bounds of their own.
    """
    n = 4
    derived = derive(spec | {"missing": "exclude"}, COLUMNS, n, 1)
    parts = {role: build(part, COLUMNS, n, 1) for role, part in derived.components.items()}
    mechanisms = {role: Mechanism.for_epsilon(part, epsilon, mpq(1, 20), 10) for role, part in parts.items()}
    shares = SHARES if "pairs" in parts else dict.fromkeys(parts, mpq(1))
    for table in list(itertools.combinations_with_replacement(ROWS, n))[::3]:
        truths = textbook(table)
        exact = {role: part.values(answer(part, table))[0] for role, part in parts.items()}
        for errors in itertools.product((-1, 1), repeat=len(parts)):
            known = {
                role: released(mechanisms[role], exact[role], mpq(error), shares[role], ALPHA / len(parts))
                for (role, error) in zip(parts, errors, strict=True)
            }
            for truth, estimate in zip(truths, estimates(derived, known), strict=True):
                low, high = estimate.range
                assert truth is None or low is None or low <= truth + 1e-12
                assert truth is None or high is None or truth - 1e-12 <= high
                if estimate.value is not None and low is not None and high is not None:
                    assert low <= estimate.value <= high


def test_what_is_known_of_all_rows_is_one_release() -> None:
    described = {}
    for kind, members in (
        ("mean", {"column": "all"}),
        ("sum", {"column": "all"}),
        ("variance", {"column": "all"}),
        ("standard_deviation", {"column": "all"}),
    ):
        derived = derive({"kind": kind, "missing": "exclude", **members}, COLUMNS, 9, 1)
        assert derived.described == {"kind": kind, "column": "all", "bounds": [0, 2], "missing": "exclude"}
        described[kind] = [part["kind"] for part in derived.components.values()]
    assert described == {
        "mean": ["mean"],
        "sum": ["mean"],
        "variance": ["variance"],
        "standard_deviation": ["variance"],
    }
    derived = derive({"kind": "correlation", "columns": ("all", "v"), "missing": "exclude"}, COLUMNS, 9, 1)
    assert [part["where"] for part in derived.components.values()] == [KNOWN_V] * 3


def test_the_filter_that_is_asked_for_is_described_and_that_of_known_values_is_not() -> None:
    spec = {"kind": "mean", "column": "v", "where": {"w": {"between": (mpq(0), mpq(1))}}, "missing": "exclude"}
    derived = derive(spec, COLUMNS, 9, 1)
    assert derived.components["count"]["where"] == KNOWN_V | spec["where"]
    assert derived.described["where"] == {"w": {"between": [0, 1]}}
    for member, value in (("missing", "include"), ("where", {"v": {"is_missing": True}}), ("column", "k")):
        with pytest.raises(InvalidStatistic):
            derive({"kind": "mean", "column": "v", "missing": "exclude", member: value}, COLUMNS, 9, 1)
    with pytest.raises(InvalidStatistic):
        derive({"kind": "proportion", "column": "k", "category": "s", "missing": "exclude"}, COLUMNS, 9, 1)


@pytest.mark.parametrize("kind", ["variance", "standard_deviation", "covariance", "correlation", "regression"])
def test_a_spread_of_some_rows_needs_their_number_to_be_planned(kind: str) -> None:
    """Each component is of the rows that meet the filter; without a filter, all rows are supposed to have a value."""
    columns = {"column": "v"} if kind in {"variance", "standard_deviation"} else {"columns": ("w", "v")}
    spec = {"kind": kind, "missing": "exclude", **columns}
    of_all, of_some = (derive(spec | more, COLUMNS, 9, 1) for more in ({}, {"where": SOME}))
    assert all(part["where"]["w"] == SOME["w"] for part in of_some.components.values())
    assert (of_some.described["where"], "where" in of_all.described) == ({"w": {"between": [0, 2]}}, False)
    assert ("count" in of_some.required_guesses, "count" in of_all.required_guesses) == (True, False)
    if isinstance(of_some, RegressionOfKnown):  # the range narrows the sum of w
        assert [(each.lower, each.upper) for each in of_some.codes] == [(0, 2), (0, 2)]
        assert [(each.lower, each.upper) for each in of_all.codes] == [(-1, 2), (0, 2)]  # type: ignore[attr-defined]
    with pytest.raises(InvalidStatistic):
        derive(spec | {"where": {"v": {"is_missing": True}}}, COLUMNS, 9, 1)
    with pytest.raises(InvalidStatistic):  # of all rows there is no filter
        derive({"kind": kind, **columns, "where": SOME}, COLUMNS, 9, 1)
