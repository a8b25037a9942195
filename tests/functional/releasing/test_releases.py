"""Releases over HTTP: on their grid, true, debited exactly."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import Service, Table

MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "y": {"kind": "real", "bounds": [-1.5, 2.5]},
    "z": {"kind": "decimal", "scale": 2, "bounds": ["-0.50", "9.99"]},
    "kind": {"kind": "category", "categories": ["red", "grün", "b'l\"ue"], "nullable": False},
    "yes": {"kind": "boolean"},
}
STATISTICS: list[dict[str, Any]] = [
    MEAN,
    {"kind": "mean", "column": "y", "bounds": [-1, 2]},
    {"kind": "mean", "column": "yes"},
    {"kind": "variance", "column": "z"},
    {"kind": "covariance", "columns": ["x", "y"]},
    {"kind": "covariance", "columns": ["yes", "z"], "bounds": [None, [0, 5]]},
    {"kind": "histogram", "column": "x", "edges": [0, 10, 50, 100]},
    {"kind": "histogram", "column": "y", "bins": 7},
    {"kind": "histogram", "column": "kind"},
    {"kind": "histogram", "column": "yes"},
]


def csv_of(n: int) -> str:
    kinds = ["red", "grün", '"b\'l""ue"', "other"]
    lines = [f"{i % 101},{i / n - 0.5},{i % 9}.{i % 7}5,{kinds[i % 4]},{'true' if i % 3 else 'NA'}" for i in range(n)]
    return "\n".join(["x,y,z,kind,yes", *lines]) + "\n"


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, csv_of(60), limit="1000000", allowance="1000000")


@pytest.fixture
def one_table(one_service: Service) -> Table:
    """For what no database has a part in."""
    return one_service.table(COLUMNS, csv_of(60), limit="1000000", allowance="1000000")


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def intervals(answer: dict[str, Any]) -> list[list[float]]:
    found: Any = answer["accuracy"]["interval"]
    return found if isinstance(answer["value"], list) else [found]


def on_grid(exact: str, mechanism: dict[str, Any]) -> bool:
    """A multiple of the grid from the centre, or at plus or minus the bound."""
    distance = (Fraction(exact) - Fraction(mechanism["centre"])) / Fraction(mechanism["grid"])
    at_bound = abs(abs(float(Fraction(exact) - Fraction(mechanism["centre"]))) - mechanism["bound"])
    return abs(distance - round(distance)) < 1e-9 or at_bound < 1e-9 * mechanism["bound"]


@pytest.mark.parametrize("statistic", STATISTICS, ids=json.dumps)
@pytest.mark.parametrize("refinement", [0, 3])
def test_every_release_is_on_its_grid_or_at_the_bound(one_table: Table, statistic, refinement) -> None:
    """`value` is the mechanism's output; `value_in_range` is it clamped to the statistic's public range; `interval` is
    `value_in_range ± (radius + resolution)`, cut to the range."""
    for epsilon in ("0.3", "1", "7"):
        answer = one_table.fresh(statistic, epsilon=epsilon, grid_refinement=refinement)
        mechanism = answer["mechanism"]
        lowest, highest = (mechanism["centre"] + sign * mechanism["b_prime"] for sign in (-1, 1))
        for value, exact, clamped in zip(
            listed(answer["value"]), listed(answer["value_exact"]), listed(answer["value_in_range"]), strict=True
        ):
            assert on_grid(exact, mechanism)
            assert value == float(Fraction(exact))
            assert clamped == pytest.approx(min(max(value, lowest), highest), rel=1e-12)
        reach = answer["accuracy"]["radius"] + answer["accuracy"]["resolution"]
        for middle, interval in zip(listed(answer["value_in_range"]), intervals(answer), strict=True):
            expected = [max(middle - reach, lowest), min(middle + reach, highest)]
            assert interval == pytest.approx(expected, rel=1e-9, abs=1e-9 * reach)


@pytest.mark.parametrize("statistic", STATISTICS, ids=json.dumps)
def test_a_plan_and_its_release_agree(one_table: Table, statistic) -> None:
    plan = one_table.plan(statistic, epsilon="0.7", reuse=False).json()
    answer = one_table.fresh(statistic, epsilon="0.7")
    for member in ("dataset", "statistic", "privacy", "mechanism"):
        assert plan[member] == answer[member]
    assert plan.get("bins") == answer.get("bins")
    assert plan["accuracy"] == {name: value for name, value in answer["accuracy"].items() if name != "interval"}
    assert plan["budget"]["charged"] == answer["budget"]["charged"] == "0.7"
    assert not {"id", "value", "value_exact", "value_in_range", "created_at"} & plan.keys()


def test_with_much_budget_the_statistics_are_true(one_service: Service) -> None:
    rows = [(i % 101, Fraction(i, 60) - Fraction(1, 2)) for i in range(60)]
    table = one_service.table(COLUMNS, csv_of(60), limit="1000000", allowance="1000000")
    xs = [Fraction(x) for x, _ in rows]
    mean = sum(xs) / 60
    variance = sum((x - mean) ** 2 for x in xs) / 59
    ys = [Fraction(float(y)) for _, y in rows]
    covariance = sum((x - mean) * (y - sum(ys) / 60) for x, y in zip(xs, ys, strict=True)) / 59
    for statistic, truth in (
        (MEAN, mean),
        ({"kind": "variance", "column": "x"}, variance),
        ({"kind": "covariance", "columns": ["x", "y"]}, covariance),
    ):
        answer = table.fresh(statistic, epsilon=1000, alpha="1e-9")
        reach = answer["accuracy"]["radius"] + answer["accuracy"]["resolution"]
        assert abs(Fraction(answer["value_exact"]) - truth) <= reach
    counts = table.fresh({"kind": "histogram", "column": "kind"}, epsilon=1000, alpha="1e-9")
    assert [bin_["label"] for bin_ in counts["bins"]] == ["red", "grün", "b'l\"ue", "other"]
    assert [bin_["kind"] for bin_ in counts["bins"]] == ["category", "category", "category", "other"]
    assert [round(value) for value in counts["value"]] == [15, 15, 15, 15]
    booleans = table.fresh({"kind": "histogram", "column": "yes"}, epsilon=1000, alpha="1e-9")
    assert [bin_["label"] for bin_ in booleans["bins"][:2]] == ["false", "true"]
    assert booleans["bins"][2]["kind"] == "missing"
    assert [round(value) for value in booleans["value"]] == [0, 40, 20]


def test_a_limit_is_spent_to_the_last_nano_and_no_further(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(20), limit="0.3", allowance="0.5")
    remaining = [table.fresh(MEAN, epsilon="0.1")["budget"]["dataset_remaining"] for _ in range(3)]
    assert remaining == ["0.2", "0.1", "0"]
    refused = table.release(MEAN, epsilon="0.1", reuse=False)
    assert refused.status_code == 409
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert problem["type"] == "/problems/budget-exhausted"
    members = {name: problem[name] for name in ("status", "scope", "requested", "remaining", "limit")}
    assert members == {"status": 409, "scope": "dataset", "requested": "0.1", "remaining": "0", "limit": "0.3"}
    assert table.budget()["epsilon_spent"] == "0.3"


def test_the_allowance_refuses_before_the_dataset_does(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(20), limit="5", allowance="0.000000001")
    assert table.release(MEAN, epsilon="1e-9", reuse=False).status_code == 201
    problem = table.release(MEAN, epsilon="1E-9", reuse=False).json()
    assert (problem["scope"], problem["remaining"], problem["limit"]) == ("allowance", "0", "0.000000001")
    assert table.budget()["epsilon_spent"] == "0.000000001"


@SERVICE_ON_POSTGRES_SLOWLY
def test_two_principals_cannot_drain_more_than_there_is(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50), limit="1", allowance="1")
    _, other = table.another("1")

    def ask(index: int) -> int:
        client = other if index % 2 else table.analyst
        return table.release(MEAN, client=client, epsilon="0.01", reuse=False).status_code

    with ThreadPoolExecutor(24) as pool:
        statuses = Counter(pool.map(ask, range(240)))
    assert statuses == {201: 100, 409: 140}
    budget = table.budget()
    assert (budget["epsilon_spent"], budget["epsilon_remaining"]) == ("1", "0")
    assert sum(Decimal(allowance["epsilon_spent"]) for allowance in budget["allowances"]) == 1
    entries = table.entries()
    assert [entry["seq"] for entry in entries] == list(range(1, 104))
    assert Decimal(entries[-1]["epsilon_spent"]) == 1
