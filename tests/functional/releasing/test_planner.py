"""What only a plan tells: curves with their cliffs, the bias of a guess, summaries; and plans without a dataset."""

import json
from decimal import Decimal
from itertools import pairwise, product
from typing import Any

import httpx
import pytest
from gmpy2 import mpq
from service_world import Service, Table

from app.dp.mechanism.bias import bias, largest_bias
from app.dp.mechanism.parameters import derive_parameters
from app.dp.numbers.exact import json_number, round_up

MEAN = {"kind": "mean", "column": "x"}
OF_KIND_A = {"kind": "count", "where": {"kind": {"in": ["a"]}}}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "kind": {"kind": "category", "categories": ["b", "a"], "nullable": False},
}
ROWS = "x,kind\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(100))
UNIT = Decimal("1e-9")
RULE = "counting missing values of x as 50; values outside 0 to 100 count as the nearer bound"


@pytest.fixture
def table(one_service: Service) -> Table:
    return one_service.table(COLUMNS, ROWS)


def free(service: Service, statistic: dict[str, Any], n: int = 100, **question: Any) -> httpx.Response:
    return service.admin.post("/v1/plan", json={"statistic": statistic, "n": n, **question})


def test_a_curve_has_its_points_and_every_cliff_between(table: Table) -> None:
    question = {"epsilon": "0.5", "grid_refinement": 0, "curve": {"from": "0.01", "to": "10", "points": 200}}
    curve = table.plan(MEAN, **question).json()["curve"]
    epsilons = [Decimal(point["epsilon"]) for point in curve]
    assert (epsilons[0], epsilons[-1]) == (Decimal("0.01"), 10)
    assert epsilons == sorted(set(epsilons))
    asked = [point for point in curve if not point["cliff"]]
    assert len(asked) == 200
    ratios = [Decimal(b["epsilon"]) / Decimal(a["epsilon"]) for a, b in pairwise(asked)]
    assert max(ratios) - min(ratios) < Decimal("1e-6")
    # Each plan's cliff is the next of the curve's.
    cliffs, at = [], "0.01"
    while (following := table.plan(MEAN, epsilon=at, grid_refinement=0).json()["cliff"]) and Decimal(
        following["epsilon"]
    ) <= 10:
        cliffs.append(at := following["epsilon"])
        (point,) = [point for point in curve if point["epsilon"] == at]
        assert point["radius"] == following["accuracy"]
    assert [point["epsilon"] for point in curve if point["cliff"]] == cliffs
    assert len(cliffs) == 10
    radii = [point["radius"] for point in curve]
    assert radii == sorted(radii, reverse=True)


def test_the_first_point_may_be_a_cliff(table: Table) -> None:
    cliff = table.plan(MEAN, epsilon="0.7", grid_refinement=0).json()["cliff"]["epsilon"]
    for start, expected in ((Decimal(cliff), True), (Decimal(cliff) - UNIT, False)):
        asked = {"from": str(start), "to": str(2 * start), "points": 2}
        curve = table.plan(MEAN, epsilon=1, grid_refinement=0, curve=asked).json()["curve"]
        assert curve[0]["cliff"] is expected


def test_units_may_be_too_coarse_for_so_many_points(table: Table) -> None:
    curve = table.plan(MEAN, epsilon=1, curve={"from": "1e-9", "to": "4e-9", "points": 1000}).json()["curve"]
    assert [point["epsilon"] for point in curve] == ["0.000000001", "0.000000002", "0.000000003", "0.000000004"]


def test_curve_plan_and_release_agree_to_the_last_digit(service: Service) -> None:
    table = service.table(COLUMNS, ROWS)
    asked = {"from": "0.05", "to": "2", "points": 7}
    for statistic in (MEAN, {"kind": "histogram", "column": "kind"}, OF_KIND_A):
        question = {"alpha": "0.01", "gamma": "0.2", "grid_refinement": 2}
        curve = table.plan(statistic, epsilon=1, curve=asked, **question).json()["curve"]
        columns = {"x": COLUMNS["x"], "kind": COLUMNS["kind"]}
        freely = free(service, statistic, epsilon=1, curve=asked, columns=columns, **question).json()
        assert freely["curve"] == [
            {name: point[name] for name in ("epsilon", "radius", "tight_radius", "cliff")} for point in curve
        ]
        for point in curve[::3]:
            plan = table.plan(statistic, epsilon=point["epsilon"], **question).json()
            assert plan["accuracy"].items() >= {name: point[name] for name in ("radius", "tight_radius")}.items()
            without = free(service, statistic, epsilon=point["epsilon"], columns=columns, **question).json()
            for name in ("statistic", "accuracy", "privacy", "mechanism", "cliff"):
                assert without[name] == plan[name]
        release = table.fresh(statistic, epsilon=curve[2]["epsilon"], **question)
        assert release["accuracy"]["radius"] == curve[2]["radius"]
        assert release["accuracy"]["tight_radius"] == curve[2]["tight_radius"]
        table.grant(table.analyst_name, "10")


def test_a_curve_says_what_can_be_had_now(service: Service) -> None:
    """What the remaining budget affords, and what an earlier release makes free."""
    table = service.table(COLUMNS, ROWS, limit="1.5", allowance="1.3")
    asked = {"from": "0.1", "to": "3", "points": 20}
    before = table.plan(MEAN, epsilon=1, curve=asked).json()["curve"]
    assert [point["affordable"] for point in before] == [
        Decimal(point["epsilon"]) <= Decimal("1.3") for point in before
    ]
    assert not any(point["reused"] for point in before)
    released = table.fresh(MEAN, epsilon="0.3")
    after = table.plan(MEAN, epsilon=1, curve=asked).json()["curve"]
    free_now = [point["radius"] >= released["accuracy"]["radius"] for point in after]
    assert [point["reused"] for point in after] == free_now
    assert [point["affordable"] for point in after] == [
        known or Decimal(point["epsilon"]) <= 1 for known, point in zip(free_now, after, strict=True)
    ]
    assert any(point["affordable"] and not point["reused"] for point in after)
    for point in after[:: len(after) // 5]:
        assert table.plan(MEAN, epsilon=point["epsilon"]).json()["reused"] is point["reused"]
    # What is known can be had by whoever has nothing left.
    table.fresh(MEAN | {"bounds": [0, 50]}, epsilon=1)
    spent = table.plan(MEAN, epsilon=1, curve=asked).json()["curve"]
    assert [point["affordable"] for point in spent] == free_now
    anew = table.plan(MEAN, epsilon=1, reuse=False, curve=asked).json()["curve"]
    assert not any(point["reused"] for point in anew)
    # The owner has no allowance: it may plan, and can have nothing.
    assert not any(
        point["affordable"] for point in table.plan(MEAN, client=table.owner, epsilon=1, curve=asked).json()["curve"]
    )


def test_the_bias_of_a_guess(table: Table) -> None:
    """In the statistic's units: Δ times the closed form at the guess, less the centre, over Δ."""
    for guess, refinement in product(("42", "99.9", "0", "50"), (0, 10)):
        question = {"epsilon": "0.5", "grid_refinement": refinement, "guess": guess}
        plan = table.plan(MEAN, **question).json()
        parameters = derive_parameters(mpq(1, 2), mpq(50), grid_refinement=refinement)
        assert plan["bias"] == {
            "guess": json_number(mpq(guess)),
            "at_guess": json_number(bias(parameters, mpq(guess) - 50)),
            "largest": round_up(largest_bias(parameters)),
        }
        assert free(table.service, MEAN | {"bounds": [0, 100]}, **question).json()["bias"] == plan["bias"]
    assert table.plan(MEAN, epsilon="0.5", guess=50).json()["bias"]["at_guess"] == 0
    assert "bias" not in table.plan(MEAN, epsilon="0.5").json()


def test_a_guess_outside_counts_as_the_nearer_end(table: Table) -> None:
    for statistic, end in ((MEAN, 100), ({"kind": "histogram", "column": "kind"}, 100), (OF_KIND_A, 100)):
        beyond, at_end = (table.plan(statistic, epsilon="0.5", guess=guess).json()["bias"] for guess in ("1e9", end))
        assert beyond["at_guess"] == at_end["at_guess"] != 0


def test_summaries_say_what_it_means(service: Service) -> None:
    table = service.table(COLUMNS, ROWS, limit="1", allowance="1")
    assert table.plan(MEAN, epsilon="0.5").json()["summary"] == (
        "The mean of x over all 100 rows would cost ε = 0.5 and be within 6.0 of the truth with 95 % confidence,"
        f" {RULE}."
    )
    assert "which is more than you can spend now" in table.plan(MEAN, epsilon="1.5").json()["summary"]
    release = table.release(MEAN, epsilon="0.5").json()
    told = release["summary"]
    assert told.startswith("The mean of x over all 100 rows is ")
    assert told.endswith(f" (95 % confidence), {RULE}; this release cost ε = 0.5.")
    value, error = (float(word) for word in told.split(" is ")[1].split(" (")[0].split(" ± "))
    radius = release["accuracy"]["radius"]
    assert value - error <= release["value_in_range"] - radius < release["value_in_range"] + radius <= value + error
    assert error < radius + 0.2
    assert table.plan(MEAN, accuracy=20).json()["summary"].startswith("An earlier release answers this at no cost: ")
    again = table.release(MEAN, accuracy=20, alpha="0.2").json()
    assert again["summary"].startswith("The mean of x over all 100 rows is ")
    assert again["summary"].endswith(
        f" (80 % confidence), {RULE}; an earlier release, which cost ε = 0.5, answers this at no cost."
    )
    assert service.admin.get(f"/v1/releases/{release['id']}").json()["summary"] == told
    many = table.release({"kind": "histogram", "column": "kind"}, epsilon="0.5").json()
    assert many["summary"].startswith("Each of the 3 counts by kind of all 100 rows is within ")


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (MEAN | {"bounds": [0, 100]}, {"mechanism": {"sensitivity": 1, "centre": 50, "b_prime": 50}}),
        ({"kind": "sum", "column": "x", "bounds": [-5, 5]}, {"mechanism": {"sensitivity": 10, "b_prime": 500}}),
        ({"kind": "histogram", "column": "x", "bins": 4}, {"mechanism": {"epsilon_per_bin": 0.25}}),
        ({"kind": "histogram", "column": "x", "edges": [0, "1.5", 3]}, {"statistic": {"edges": [0, 1.5, 3]}}),
        ({"kind": "histogram", "columns": ["x", "y"], "bins": [3, 2], "bounds": [None, [0, 1]]}, {"bins": None}),
        ({"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 1], [2, 3]]}, {"privacy": {"n": 100}}),
        (MEAN | {"bounds": ["2021-01-01", "2021-04-11"]}, {"mechanism": {"sensitivity": 1, "b_prime": 50}}),
    ],
    ids=json.dumps,
)
def test_what_is_implied_without_a_dataset(
    one_service: Service, asked: dict[str, Any], answered: dict[str, Any]
) -> None:
    with one_service.unchanged():
        plan = free(one_service, asked, epsilon="0.5")
    assert plan.status_code == 200, plan.text
    for name, expected in answered.items():
        if expected is None:
            assert plan.json()[name] is None
        else:
            assert plan.json()[name].items() >= expected.items()
    assert "budget" not in plan.json()


def test_the_number_of_bins_is_that_of_all_bins(one_service: Service) -> None:
    plan = free(one_service, {"kind": "histogram", "column": "x", "bins": 4}, epsilon="0.5").json()
    assert [each["kind"] for each in plan["bins"]] == ["category", "category", "category", "other"]
    table = one_service.table({"x": {"kind": "category", "categories": ["a", "b"]}}, "x\n" + "a\n" * 100)
    real = table.plan({"kind": "histogram", "column": "x"}, epsilon="0.5").json()
    assert len(real["bins"]) == 4
    for name in ("accuracy", "privacy", "mechanism", "cliff"):
        assert plan[name] == real[name]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"statistic": MEAN}, "statistic.bounds"),
        ({"statistic": {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 1], None]}}, "statistic.bounds.1"),
        ({"statistic": {"kind": "histogram", "column": "x"}}, "statistic.bins"),
        ({"statistic": {"kind": "histogram", "column": "x", "bins": 10_002}}, "statistic.bins"),
        ({"statistic": {"kind": "histogram", "column": "x", "bins": 1}}, "statistic.bins"),
        ({"statistic": {"kind": "histogram", "column": "x", "bins": "month"}}, "statistic.bins"),
        ({"statistic": MEAN | {"bounds": ["2021-01-01", 5]}}, "statistic.bounds.1"),
        ({"statistic": {"kind": "count", "where": {"x": {"in": ["a"]}}}}, "statistic.where.0"),
        ({"statistic": {"kind": "count", "group_by": "x"}}, "statistic.group_by"),
        ({"statistic": MEAN, "columns": {"x": {"kind": "integer", "bounds": [1, 1]}}}, "columns.0.bounds"),
        ({"statistic": MEAN, "columns": {"y": {"kind": "integer", "bounds": [1, 2]}}}, "statistic.column"),
        ({"n": 0}, "n"),
        ({"n": -1}, "n"),
        ({"n": 1}, "n"),
        ({"n": "1e18"}, "n"),
        ({"n": 10**18}, "n"),
        ({"n": "1e16"}, "n"),
        ({"n": None}, "n"),
        ({"rows_per_unit": 0}, "rows_per_unit"),
        ({"guess": "1e101"}, "guess"),
        ({"guess": True}, "guess"),
        ({"guess": "1e1000000000"}, "guess"),
        ({"guess": "1e999"}, "guess"),
        ({"guess": "NaN"}, "guess"),
        ({"curve": {"from": "1", "to": "1", "points": 2}}, "curve"),
        ({"curve": {"from": "2", "to": "1", "points": 2}}, "curve"),
        ({"curve": {"from": "0", "to": "1", "points": 2}}, "curve.from"),
        ({"curve": {"from": "1e-400", "to": "1", "points": 2}}, "curve.from"),
        ({"curve": {"from": "0.1", "to": "1e7", "points": 2}}, "curve.to"),
        ({"curve": {"from": "0.1", "to": "1", "points": 0}}, "curve.points"),
        ({"curve": {"from": "0.1", "to": "1", "points": "2.5"}}, "curve.points"),
        ({"curve": {"from": "0.1", "to": "1", "points": 1}}, "curve.points"),
        ({"curve": {"from": "0.1", "to": "1", "points": 1001}}, "curve.points"),
        ({"curve": {"from": "0.1", "to": "1"}}, "curve.points"),
        ({"curve": {"from": "0.1", "to": "1", "points": 2, "log": True}}, "curve"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_bad_plans_are_refused_by_where_and_what(one_service: Service, body: dict[str, Any], where: str) -> None:
    whole = {"statistic": MEAN | {"bounds": [0, 100]}, "n": 100, "epsilon": "0.5"} | body
    with one_service.unchanged():
        answer = one_service.admin.post("/v1/plan", json=whole)
    assert answer.status_code == 422, answer.text
    assert answer.json()["type"] == "/problems/invalid-request"
    assert [error["where"] for error in answer.json()["errors"]] == [where]


def test_the_most_that_a_plan_may_be_asked(one_service: Service) -> None:
    """As many rows, rows a person, points and halvings as there may be, and the smallest α."""
    most = {"n": 10**15, "rows_per_unit": 1000, "grid_refinement": 30, "alpha": "1e-999", "gamma": "1e-999"}
    curve = {"from": "0.001", "to": 1000, "points": 1000}
    for statistic in (MEAN | {"bounds": ["-1e100", "1e100"]}, {"kind": "histogram", "column": "x", "bins": 10_001}):
        plan = free(one_service, statistic, epsilon=1, curve=curve, guess="1e100", **most)
        assert plan.status_code == 200, plan.text
        document = plan.json()
        assert sum(not point["cliff"] for point in document["curve"]) == 1000
        assert abs(document["bias"]["at_guess"]) <= document["bias"]["largest"]
        assert 0 < document["accuracy"]["alpha"] == document["mechanism"]["gamma"] < 1e-300


def test_a_curve_beyond_the_largest_epsilon_is_refused(table: Table) -> None:
    for answer in (
        table.plan(MEAN, epsilon=1, curve={"from": 1, "to": 1001, "points": 3}),
        free(table.service, MEAN | {"bounds": [0, 1]}, epsilon=1, curve={"from": 1, "to": 1001, "points": 3}),
    ):
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/epsilon-too-large")


def test_who_may_plan_without_a_dataset(one_service: Service) -> None:
    body = {"statistic": MEAN | {"bounds": [0, 100]}, "n": 100, "epsilon": "0.5"}
    for role, status in (("admin", 200), ("owner", 200), ("analyst", 200), ("auditor", 403)):
        assert one_service.principal(role)[1].post("/v1/plan", json=body).status_code == status
    assert one_service.stranger.post("/v1/plan", json=body).status_code == 401
    # 401 and 403 come before the body is judged.
    assert one_service.principal("auditor")[1].post("/v1/plan", json={}).status_code == 403


def test_a_release_takes_neither_curve_nor_guess(table: Table) -> None:
    for extra in ({"curve": {"from": "0.1", "to": "1", "points": 2}}, {"guess": 1}):
        assert table.release(MEAN, epsilon="0.5", **extra).status_code == 422


def test_a_filter_without_declared_columns_asks_for_them(one_service: Service) -> None:
    table = one_service.table({"x": {"kind": "integer", "bounds": [0, 1]}}, "x\n1\n0\n")
    body = {"statistic": {"kind": "count", "where": {"a": 1}}, "n": 500, "epsilon": 1}
    (error,) = table.analyst.post("/v1/plan", json=body).json()["errors"]
    assert error["what"].endswith("declare all columns in `columns`")
