"""Releases over HTTP: on their grid, debited exactly, answered again for nothing."""

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
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


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def on_grid(exact: str, mechanism: dict[str, Any]) -> bool:
    """A multiple of the grid from the centre, or at plus or minus the bound."""
    distance = (Fraction(exact) - Fraction(mechanism["centre"])) / Fraction(mechanism["grid"])
    at_bound = abs(abs(float(Fraction(exact) - Fraction(mechanism["centre"]))) - mechanism["bound"])
    return abs(distance - round(distance)) < 1e-9 or at_bound < 1e-9 * mechanism["bound"]


@pytest.mark.parametrize("statistic", STATISTICS, ids=json.dumps)
@pytest.mark.parametrize("refinement", [0, 3])
def test_every_release_is_on_its_grid_or_at_the_bound(table: Table, statistic, refinement) -> None:
    for epsilon in ("0.3", "1", "7"):
        answer = table.fresh(statistic, epsilon=epsilon, grid_refinement=refinement)
        mechanism = answer["mechanism"]
        for value, exact, clamped in zip(
            listed(answer["value"]), listed(answer["value_exact"]), listed(answer["value_in_range"]), strict=True
        ):
            assert on_grid(exact, mechanism)
            assert value == float(Fraction(exact))
            assert mechanism["centre"] - mechanism["b_prime"] <= clamped + 1e-9
            assert clamped <= mechanism["centre"] + mechanism["b_prime"] + 1e-9


@pytest.mark.parametrize("statistic", STATISTICS, ids=json.dumps)
def test_a_plan_and_its_release_agree(table: Table, statistic) -> None:
    plan = table.plan(statistic, epsilon="0.7", reuse=False).json()
    answer = table.fresh(statistic, epsilon="0.7")
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


def test_an_earlier_release_answers_for_nothing(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    first = table.fresh(MEAN, epsilon="0.5", alpha="0.1")
    other_name, other = service.principal("analyst")
    table.grant(other_name, "0")
    for asked in ({"epsilon": "0.5"}, {"epsilon": "0.4"}, {"accuracy": 60}):
        answer = table.release(MEAN | {"bounds": ["0", 1e2]}, client=other, alpha="0.01", **asked)
        assert answer.status_code == 200, answer.text
        reused = answer.json()
        assert reused["reused"] is True
        assert reused["budget"] == {"charged": "0", "dataset_remaining": "9.5", "allowance_remaining": "0"}
        for member in ("id", "value", "value_exact", "mechanism", "privacy", "created_at"):
            assert reused[member] == first[member]
        assert reused["accuracy"]["alpha"] == 0.01
        assert reused["accuracy"]["radius"] > first["accuracy"]["radius"]
    assert table.plan(MEAN, epsilon="0.5").json()["reused"] is True
    assert table.plan(MEAN, epsilon="0.5").json()["budget"]["charged"] == "0"
    # A better answer is not known, and this principal may not pay for one.
    assert table.release(MEAN, client=other, epsilon="0.6").json()["scope"] == "allowance"
    assert table.release(MEAN | {"bounds": [0, 99]}, client=other, epsilon="0.5").status_code == 409


def test_a_coarser_grid_does_not_answer_for_a_finer_one(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    table.fresh(MEAN, epsilon="1")
    finer = table.plan(MEAN, epsilon="0.999", grid_refinement=10).json()
    assert finer["reused"] is False
    assert table.release(MEAN, epsilon="0.999", grid_refinement=10).status_code == 201
    # Now the finer one has the smaller radius, and answers for the coarser.
    assert table.release(MEAN, epsilon="1").json()["mechanism"]["grid_refinement"] == 10


def test_a_covariance_is_the_same_in_either_order(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    first = table.fresh({"kind": "covariance", "columns": ["x", "y"]}, epsilon="0.5")
    swapped = {"kind": "covariance", "columns": ["y", "x"], "bounds": [[-1.5, 2.5], None]}
    again = table.release(swapped, epsilon="0.5")
    assert (again.status_code, again.json()["id"]) == (200, first["id"])


def test_a_key_is_answered_byte_for_byte(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    path = f"{table.path}/releases"
    headers = {"Idempotency-Key": "one key"}
    body = '{"statistic": {"kind": "mean", "column": "x"}, "epsilon": 0.5, "reuse": false}'
    first = table.analyst.post(path, content=body, headers=headers | {"Content-Type": "application/json"})
    assert first.status_code == 201
    assert "Idempotency-Replayed" not in first.headers
    reordered = '{"reuse":false,"epsilon":5.0e-1,"statistic":{"column":"x","kind":"mean"}}'
    again = table.analyst.post(path, content=reordered, headers=headers | {"Content-Type": "application/json"})
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert table.budget()["epsilon_spent"] == "0.5"
    other = table.release(MEAN, key="one key", epsilon="0.5")
    assert other.status_code == 422
    assert other.json()["type"] == "/problems/key-reused"


def test_reuse_is_stored_as_its_key_s_answer(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    first = table.fresh(MEAN, epsilon="0.5")
    reused = table.release(MEAN, key="second", epsilon="0.5")
    table.fresh(MEAN, epsilon="2")  # would answer better now
    again = table.release(MEAN, key="second", epsilon="0.5")
    assert (again.status_code, again.content) == (200, reused.content)
    assert again.json()["id"] == first["id"]


def test_a_fresh_draw_needs_a_key(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    answer = table.analyst.post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": 1, "reuse": False})
    assert answer.status_code == 400
    assert answer.json()["type"] == "/problems/key-required"
    assert table.analyst.post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": 1}).status_code == 201


def test_fifty_twins_are_one_debit_and_one_answer(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    gate = threading.Barrier(50)

    def ask(_: int) -> tuple[int, bytes]:
        gate.wait()
        answer = table.release(MEAN, key="the one", epsilon="0.5", reuse=False)
        return answer.status_code, answer.content

    with ThreadPoolExecutor(50) as pool:
        answers = set(pool.map(ask, range(50)))
    assert len(answers) == 1
    assert answers.pop()[0] == 201
    assert table.budget()["epsilon_spent"] == "0.5"
    kinds = [entry["kind"] for entry in table.owner.get(f"{table.path}/ledger").json()["entries"]]
    assert kinds == ["open", "allow", "debit"]


def test_two_principals_cannot_drain_more_than_there_is(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50), limit="1", allowance="1")
    name, other = service.principal("analyst")
    table.grant(name, "1")

    def ask(index: int) -> int:
        client = other if index % 2 else table.analyst
        return table.release(MEAN, client=client, epsilon="0.01", reuse=False).status_code

    with ThreadPoolExecutor(24) as pool:
        statuses = Counter(pool.map(ask, range(240)))
    assert statuses == {201: 100, 409: 140}
    budget = table.budget()
    assert (budget["epsilon_spent"], budget["epsilon_remaining"]) == ("1", "0")
    assert sum(Decimal(allowance["epsilon_spent"]) for allowance in budget["allowances"]) == 1
    entries = table.owner.get(f"{table.path}/ledger", params={"limit": 1000}).json()["entries"]
    assert [entry["seq"] for entry in entries] == list(range(1, 104))
    assert Decimal(entries[-1]["epsilon_spent"]) == 1


def test_releases_can_be_read_again(service: Service) -> None:
    table = service.table(COLUMNS, csv_of(50))
    made = [table.fresh(MEAN, epsilon="0.1") for _ in range(5)]
    page = table.analyst.get(f"{table.path}/releases", params={"limit": 3}).json()
    assert page["releases"] == made[:3]
    rest = table.analyst.get(f"{table.path}/releases", params={"limit": 3, "after": page["next"]}).json()
    assert rest == {"releases": made[3:], "next": None}
    assert table.analyst.get("/v1/releases").json()["releases"] == made
    assert table.analyst.get(f"/v1/releases/{made[2]['id']}").json() == made[2]
    _, stranger = service.principal("analyst")
    assert stranger.get(f"/v1/releases/{made[2]['id']}").status_code == 404
    assert stranger.get("/v1/releases").json() == {"releases": [], "next": None}


def test_many_intervals_are_told_by_their_edges(one_service: Service) -> None:
    table = one_service.table(COLUMNS, csv_of(50))
    answer = table.fresh({"kind": "histogram", "column": "y", "bins": 1001}, epsilon=1)
    assert answer["bins"] is None
    assert len(answer["edges"]) == 1002
    assert len(answer["value"]) == 1002  # and `missing`
    assert len(table.fresh({"kind": "histogram", "column": "y", "bins": 1000}, epsilon=1)["bins"]) == 1001
