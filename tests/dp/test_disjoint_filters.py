"""What statistics of disjoint parts cost together covers the privacy loss on every small table."""

import random
from collections import Counter
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from call_counts import count_calls
from gmpy2 import mpq

from app.dp.statistics import Statistic, build
from app.dp.statistics.disjoint_filters import charge_together
from app.dp.table.bins import CategoryBins
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import CellSums

CATEGORIES = ("a", "b", "d")
COLUMNS = {
    "k": Column("k", Kind.CATEGORY, categories=CATEGORIES),
    "x": Column("x", Kind.INTEGER, (mpq(0), mpq(2)), nullable=False),
    "r": Column("r", Kind.REAL, (mpq(0), mpq(1))),
}
Row = tuple[str | None, int]
ROWS: tuple[Row, ...] = (*product(CATEGORIES, (0, 2)), (None, 2))


def of(*values: Any, column: str = "k") -> dict[str, Any]:
    return {"where": {column: {"one_of": tuple(mpq(v) if isinstance(v, int) else v for v in values)}}}


def between(least: Any, most: Any, column: str = "x") -> dict[str, Any]:
    return {"where": {column: {"between": (mpq(least), mpq(most))}}}


def to(condition: dict[str, Any], column: str) -> dict[str, Any]:
    return {"where": {column: condition}}


COUNT: dict[str, Any] = {"kind": "count"}
SUM: dict[str, Any] = {"kind": "sum", "column": "x"}
HISTOGRAM: dict[str, Any] = {"kind": "histogram", "column": "k"}


def charges(specs: list[dict[str, Any]], costs: list[int], rows_per_unit: int = 1) -> list[int]:
    return charge_together([build(spec, COLUMNS, 50, rows_per_unit) for spec in specs], costs)


A, B, D = of("a"), of("b"), of("d")
MISSING, NOT_A = to({"is_missing": True}, "k"), to({"negated": {"one_of": ["a"]}}, "k")
OUTSIDE = to({"negated": {"between": (mpq(0), mpq(1))}}, "r")
BELOW, ABOVE = to({"below": mpq(1, 2)}, "r"), to({"above": mpq(1, 2)}, "r")


@pytest.mark.parametrize(
    ("specs", "costs", "expected", "of_many_rows"),
    [
        ([COUNT | A, COUNT | B, COUNT | D], [3, 5, 4], [0, 5, 4], [1, 5, 4]),
        ([COUNT | A, SUM | B, HISTOGRAM | {"where": D["where"]}], [1, 1, 1], [1, 1, 0], [1, 1, 0]),
        ([COUNT | A, COUNT | B], [3, 5], [3, 5], [3, 5]),
        ([COUNT | A, SUM | A, COUNT | B, SUM | B, COUNT | D], [3, 3, 2, 2, 5], [3, 3, 0, 0, 5], [3, 3, 1, 0, 5]),
        ([COUNT | of("a", "b"), COUNT | B, COUNT | D, COUNT | A], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
        ([COUNT | between(0, 1), COUNT | between(2, 4), COUNT | of(5, column="x")], [1, 2, 3], [0, 2, 3], [1, 2, 3]),
        ([COUNT | between(0, 2), COUNT | between(2, 4), COUNT | of(5, column="x")], [1, 2, 3], [1, 2, 3], [1, 2, 3]),
        ([COUNT | between(0, 9), COUNT | of(1, 3, column="x"), COUNT | of(9, column="x")], [1, 1, 1], [1] * 3, [1] * 3),
        ([COUNT | of(*each, column="x") for each in ((0, 9), (1, 3), (9, 4), (5,))],
         [1, 2, 3, 1], [1, 2, 3, 0], [1, 2, 3, 1]),
        ([COUNT | NOT_A, COUNT | A, COUNT | MISSING], [1, 2, 3], [0, 2, 3], [1, 2, 3]),
        ([COUNT | NOT_A, COUNT | D, COUNT | MISSING], [1, 2, 3], [1, 2, 3], [1, 2, 3]),
        ([COUNT | to({"is_missing": False}, "k"), COUNT | A, COUNT | MISSING], [1, 2, 3], [1, 2, 3], [1, 2, 3]),
        ([COUNT | BELOW, COUNT | of(mpq(1, 2), column="r"), COUNT | ABOVE], [1, 2, 3], [0, 2, 3], [1, 2, 3]),
        ([COUNT | BELOW, COUNT | to({"at_least": mpq(1, 2)}, "r"), COUNT | to({"is_missing": True}, "r")],
         [1, 2, 3], [0, 2, 3], [1, 2, 3]),
        ([COUNT | OUTSIDE, COUNT | BELOW, COUNT | MISSING],
         [1, 2, 3], [1, 2, 3], [1, 2, 3]),
        ([COUNT | OUTSIDE, COUNT | to({"negated": {"at_most": mpq(1)}}, "r"),
          COUNT | between(0, 0, "r"), COUNT | between(1, 1, "r")], [1, 1, 3, 4], [0, 0, 3, 4], [1, 0, 3, 4]),
        ([COUNT | to({"negated": {"one_of": (mpq(3), mpq(4))}}, "x"), COUNT | of(3, column="x"),
          COUNT | of(4, column="x"), COUNT | between(3, 4)], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]),
        ([COUNT | {"group_by": "k"}, COUNT | A, COUNT | B, COUNT | D], [9, 1, 1, 1], [9, 1, 1, 0], [9, 1, 1, 0]),
        ([{"kind": "mean", "column": "x"}, COUNT | A, COUNT | B], [9, 1, 1], [9, 1, 1], [9, 1, 1]),
        ([COUNT | {"where": A["where"] | between(0, 1)["where"]}, COUNT | B, COUNT | D],
         [1, 1, 1], [1, 1, 0], [1, 1, 0]),
    ],
)  # fmt: skip
def test_known_charges(
    specs: list[dict[str, Any]], costs: list[int], expected: list[int], of_many_rows: list[int]
) -> None:
    """The two dearest parts; with several rows a person twice the dearest one. No order changes the sum."""
    assert charges(specs, costs) == expected
    assert charges(specs, costs, 2) == of_many_rows
    order = list(range(len(specs)))
    random.Random(1).shuffle(order)
    again = charges([specs[i] for i in order], [costs[i] for i in order])
    assert sum(again) == sum(expected)


@pytest.mark.parametrize("shared", [0, 2])
def test_the_cost_is_linear_in_the_conditions(shared: int) -> None:
    """Also where each three questions have five columns of their own, or share some with all others."""

    def calls(questions: int) -> int:
        names = [f"x{i}" for i in range(shared)] + [f"y{i}_{j}" for i in range(questions // 3) for j in range(5)]
        columns = {name: Column(name, Kind.INTEGER, (mpq(0), mpq(10**6)), nullable=False) for name in names}
        statistics = [
            build(COUNT | {"where": {
                name: {"between": (mpq(2 * i), mpq(2 * i + 2 * (name[0] == "x")))}
                for name in [*names[:shared], *(f"y{i // 3}_{j}" for j in range(5))]
            }}, columns, 50, 1)
            for i in range(questions)
        ]  # fmt: skip
        return count_calls(lambda: charge_together(statistics, [1] * questions))

    few, many = calls(60), calls(240)
    assert many < 6 * few


def place(bins: CategoryBins, value: Any) -> int:
    return bins.count - 1 if value is None else bins.categories.index(value)


def values(statistic: Statistic, rows: tuple[Row, ...]) -> tuple[Any, ...]:
    """The statistic's numbers in units of its sensitivity."""
    needs = statistic.needs
    assert isinstance(needs, CellSums)
    counts, totals = [0] * (needs.count + 1), [0] * needs.count
    for k, x in rows:
        row = {"k": k, "x": x}
        cell = needs.count
        if all(each.holds(row[each.column]) for each in needs.conditions):
            cell = place(needs.axes[0][1], k) if needs.axes else 0
            if needs.summed:
                totals[cell] += needs.summed[1].code(x)
        counts[cell] += 1
    answer = (*counts, *(totals if needs.summed else ()))
    return tuple(value / statistic.sensitivity for value in statistic.values(answer))


PARTS: list[tuple[list[dict[str, Any]], list[int]]] = [
    ([COUNT | A, COUNT | B, COUNT | D], [3, 5, 5]),
    ([HISTOGRAM | A, HISTOGRAM | B, HISTOGRAM | D, COUNT | B], [4, 1, 1, 2]),
    ([SUM | A, SUM | B, SUM | D | {"centred": True}, COUNT | A], [4, 1, 7, 1]),
    ([COUNT | A | {"group_by": "k"}, SUM | B | {"group_by": "k"}, COUNT | D], [2, 2, 2]),
    ([COUNT | A, COUNT | NOT_A, COUNT | MISSING], [3, 2, 1]),
    ([SUM | A, SUM | NOT_A | {"centred": True}, HISTOGRAM | MISSING, COUNT | D], [4, 1, 2, 1]),
    ([COUNT | between(0, 0), COUNT | between(1, 1), SUM | between(2, 2), HISTOGRAM | between(2, 3)], [3, 1, 2, 2]),
]


@pytest.mark.parametrize(("specs", "costs"), PARTS)
@pytest.mark.parametrize(("n", "rows_per_unit"), [(2, 1), (3, 1), (3, 2), (2, 3)])
def test_the_charges_cover_the_loss_between_all_neighbours(
    specs: list[dict[str, Any]], costs: list[int], n: int, rows_per_unit: int
) -> None:
    """Each number that moves by d sensitivities loses d times its share of ε."""
    statistics = [build(spec, COLUMNS, n, rows_per_unit) for spec in specs]
    charged = sum(charge_together(statistics, costs))
    assert charged < sum(costs) or rows_per_unit > 1
    shares = [mpq(cost, statistic.mechanisms) for statistic, cost in zip(statistics, costs, strict=True)]
    known = {
        rows: [values(statistic, rows) for statistic in statistics] for rows in combinations_with_replacement(ROWS, n)
    }
    largest = mpq(0)
    for rows, numbers in known.items():
        for others, other_numbers in known.items():
            if n - (Counter(rows) & Counter(others)).total() > rows_per_unit:
                continue
            loss = sum(
                share * sum(abs(a - b) for a, b in zip(own, other, strict=True))
                for share, own, other in zip(shares, numbers, other_numbers, strict=True)
            )
            largest = max(largest, loss)
    assert largest <= charged
    if rows_per_unit == 1 and all(spec["kind"] == "count" for spec in specs):
        assert largest == charged
