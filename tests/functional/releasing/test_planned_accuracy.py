"""Accuracies of derived statistics and relative ones: the smallest ε for the interval that is planned at guesses."""

from decimal import Decimal
from typing import Any

import httpx
import pytest
from filtered_table import COLUMNS, content
from service_world import X_COLUMNS, Service, Table, numbers_csv

PAIR = {"columns": ["accuracy", "x"]}
BINNED = {"column": "accuracy", "bins": 10}
SIDES = {"standard_deviation_x": 15, "standard_deviation_y": 1}

# What is wanted, the accuracy, the guesses, and what the planned width is of.
WANTED: list[tuple[dict[str, Any], Any, dict[str, Any], str]] = [
    ({"kind": "standard_deviation", "column": "accuracy"}, 5, {}, "worst_case"),
    ({"kind": "standard_deviation", "column": "accuracy"}, 5, {"standard_deviation": 14}, "guesses"),
    ({"kind": "sum", "column": "accuracy"}, 300, {}, "worst_case"),
    ({"kind": "proportion", "where": {"k": {"in": ["a"]}}}, "0.02", {}, "worst_case"),
    ({"kind": "proportion", "column": "b", "group_by": "k"}, "0.1", {"proportion": 0.5, "count": 50}, "guesses"),
    ({"kind": "mean", "column": "accuracy", "where": {"k": {"in": ["a"]}}}, 5, {"mean": 15, "count": 80}, "guesses"),
    ({"kind": "mean", "column": "accuracy", "group_by": "k"}, 5, {"mean": 30, "count": 50}, "guesses"),
    ({"kind": "correlation", **PAIR}, "0.2", {"correlation": 0.3, **SIDES}, "guesses"),
    (
        {"kind": "regression", **PAIR},
        "0.02",
        {"slope": "0.025", "standard_deviation_x": 15, "mean_x": 30, "mean_y": 1},
        "guesses",
    ),
    ({"kind": "cumulative", **BINNED}, 10, {}, "worst_case"),
    ({"kind": "margin", "columns": ["k", "b"], "column": "k"}, 10, {}, "worst_case"),
    ({"kind": "quantile", **BINNED, "probabilities": [0.5]}, 20, {"mean": 50, "standard_deviation": 25}, "guesses"),
    (
        {"kind": "quantile", "column": "accuracy", "bins": 50, "probabilities": [0.5]},
        10,
        {"mean": 30, "standard_deviation": 20, "count": 190},
        "guesses",
    ),
]


@pytest.fixture
def table(one_service: Service) -> Table:
    return one_service.table(COLUMNS, content(), limit="1000000", allowance="1000000")


def plan(table: Table, statistic: dict[str, Any], **question: Any) -> httpx.Response:
    return table.analyst.post(f"{table.path}/derived/plan", json={"derived": statistic, **question})


@pytest.mark.slow
def test_the_smallest_epsilon_for_an_accuracy(table: Table) -> None:
    for statistic, accuracy, guesses, basis in WANTED:
        answer = plan(table, statistic, accuracy=accuracy, guesses=guesses)
        assert answer.status_code == 200, answer.text
        planned = answer.json()
        assert planned["expected"]["basis"] == basis
        assert planned["expected"]["half_width"] <= float(accuracy)
        epsilon = Decimal(planned["epsilon"])
        same = plan(table, statistic, epsilon=str(epsilon), guesses=guesses).json()
        assert (same["expected"], same["components"]) == (planned["expected"], planned["components"])
        shares = sum(Decimal(each["epsilon"]) for each in planned["components"])
        assert epsilon - Decimal("4e-9") <= shares <= epsilon
        less = plan(table, statistic, epsilon=str(epsilon - Decimal("1e-9")), guesses=guesses).json()
        assert less["expected"]["half_width"] is None or less["expected"]["half_width"] > float(accuracy)
        spent = Decimal(table.budget()["epsilon_spent"])
        body = {"derived": statistic, "accuracy": accuracy, "guesses": guesses, "reuse": False}
        released = table.analyst.post(f"{table.path}/derived", json=body, headers={"Idempotency-Key": str(epsilon)})
        document = released.json()
        assert (released.status_code, document["epsilon"]) == (201, planned["epsilon"])
        charged = Decimal(document["budget"]["charged"])
        assert [each["epsilon"] for each in document["components"]] == [
            each["epsilon"] for each in planned["components"]
        ]
        assert epsilon - Decimal("4e-9") <= charged <= epsilon
        assert Decimal(table.budget()["epsilon_spent"]) == spent + charged


def test_a_part_of_the_guess(table: Table) -> None:
    statistic = {"kind": "mean", "column": "accuracy", "where": {"k": {"in": ["a"]}}}
    guesses = {"mean": -20, "count": 80}
    part = plan(table, statistic, relative_accuracy="0.25", guesses=guesses).json()
    assert part == plan(table, statistic, accuracy=5, guesses=guesses).json()
    share = {"kind": "proportion", "column": "b"}
    half = plan(table, share, relative_accuracy="0.1", guesses={"proportion": "0.5"}).json()
    assert half == plan(table, share, accuracy="0.05").json()


def test_what_a_plan_says_of_the_interval(table: Table) -> None:
    statistic = {"kind": "quantile", **BINNED, "probabilities": [0.5]}
    guesses = {"mean": 30, "standard_deviation": 20}
    told = plan(table, statistic, epsilon="5", guesses=guesses).json()
    assert told["summary"].startswith(
        "Its releases would cost ε = 5. Its interval with 95 % confidence would be about ±"
    )
    assert "if the guesses are right; no quantile is known closer than to a bin." in told["summary"]
    assert told["expected"]["half_width"] >= 5
    unknown = plan(table, statistic, epsilon="5").json()
    assert unknown["expected"] is None
    assert "give guesses of `mean` and `standard_deviation`" in unknown["summary"]
    line = {"kind": "regression", **PAIR}
    guesses = {"slope": 0, "standard_deviation_x": 0, "mean_x": 0, "mean_y": 0}
    endless = plan(table, line, epsilon="0.1", guesses=guesses).json()
    assert endless["expected"] == {"half_width": None, "basis": "guesses"}
    assert "no ends" in endless["summary"]
    total = plan(table, {"kind": "sum", "column": "accuracy"}, epsilon="1", alpha="0.1").json()
    assert "with 90 % confidence" in total["summary"]
    assert "whatever the data" in total["summary"]


MEAN: dict[str, Any] = {"kind": "mean", "column": "accuracy", "where": {"k": {"in": ["a"]}}}
QUANTILE: dict[str, Any] = {"kind": "quantile", "column": "accuracy", "bins": 5}
BELL = {"mean": 30, "standard_deviation": 20}
REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (MEAN, {}, "body"),
    (MEAN, {"epsilon": "1", "accuracy": 1}, "body"),
    (MEAN, {"accuracy": 0, "guesses": {"mean": 1, "count": 1}}, "accuracy"),
    (MEAN, {"accuracy": 1}, "guesses.mean"),
    (MEAN, {"accuracy": 1, "guesses": {"mean": 1}}, "guesses.count"),
    (MEAN, {"epsilon": "1", "guesses": {"mean": 1}}, "guesses.count"),
    (MEAN, {"epsilon": "1", "guesses": {"mean": 1, "count": -1}}, "guesses.count"),
    (MEAN, {"epsilon": "1", "guesses": {"median": 1}}, "guesses"),
    (MEAN, {"epsilon": "1", "guesses": {"slope": 1}}, "guesses.slope"),
    (MEAN, {"relative_accuracy": "0.1", "guesses": {"mean": 0, "count": 5}}, "guesses.mean"),
    (
        {"kind": "correlation", **PAIR},
        {"epsilon": "1", "guesses": {"correlation": "1.5", **SIDES}},
        "guesses.correlation",
    ),
    ({"kind": "cumulative", **BINNED}, {"epsilon": "1", "guesses": {"mean": 1}}, "guesses.mean"),
    ({"kind": "cumulative", **BINNED}, {"relative_accuracy": "0.1"}, "relative_accuracy"),
    (QUANTILE | {"probabilities": [0.5]}, {"accuracy": "9.9", "guesses": BELL}, "accuracy"),
    (
        QUANTILE | {"probabilities": ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]},
        {"accuracy": 30, "guesses": BELL},
        "accuracy",
    ),
]


@pytest.mark.parametrize(("statistic", "question", "where"), REFUSED)
def test_accuracies_that_cannot_be_planned_are_refused(
    one_service: Service, statistic: dict[str, Any], question: dict[str, Any], where: str
) -> None:
    table = one_service.shared_table(COLUMNS, content(2))
    for answer in (
        plan(table, statistic, **question),
        table.analyst.post(f"{table.path}/derived", json={"derived": statistic, **question}),
    ):
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["where"] == where
    assert table.budget()["epsilon_spent"] == "0"


def test_accuracies_beyond_what_can_be_asked(one_service: Service) -> None:
    table = one_service.table(COLUMNS, content(2))
    guesses = {"mean": 15, "count": 5}
    assert plan(table, MEAN, accuracy=60, guesses=guesses).json()["type"] == "/problems/accuracy-trivial"
    answer = plan(table, MEAN, accuracy="0.001", guesses=guesses).json()
    assert answer["type"] == "/problems/accuracy-unattainable"
    assert float(answer["epsilon"]) > 2000


def test_a_radius_that_is_a_part_of_a_guess(service: Service) -> None:
    table = service.table(X_COLUMNS, numbers_csv(100))
    mean = {"kind": "mean", "column": "x"}
    relative = {"relative_accuracy": "0.02", "guess": -250}
    absolute = table.plan(mean, accuracy=5).json()
    planned = table.plan(mean, **relative).json()
    assert (planned["privacy"], planned["accuracy"]) == (absolute["privacy"], absolute["accuracy"])
    assert planned["bias"]["guess"] == -250
    released = table.release(mean, **relative)
    assert (released.status_code, released.json()["privacy"]) == (201, absolute["privacy"])
    items = [{"statistic": {"kind": "variance", "column": "x"}, "relative_accuracy": "0.5", "guess": 200}]
    batch = table.analyst.post(f"{table.path}/batches/plan", json={"items": items}).json()
    exact = table.plan(items[0]["statistic"], accuracy=100).json()
    assert batch["items"][0]["privacy"] == exact["privacy"]


SINGLE: list[tuple[dict[str, Any], str]] = [
    ({"relative_accuracy": "0.1"}, "guess"),
    ({"relative_accuracy": "0.1", "guess": 0}, "guess"),
    ({"relative_accuracy": "0.1", "guess": 5, "accuracy": 1}, "exactly one"),
    ({"relative_accuracy": 0, "guess": 5}, "above 0"),
    ({"epsilon": "1", "guess": 5}, "leave it out"),
    ({}, "exactly one"),
]


@pytest.mark.parametrize(("question", "told"), SINGLE)
def test_a_part_of_no_guess_is_refused(one_service: Service, question: dict[str, Any], told: str) -> None:
    table = one_service.shared_table(X_COLUMNS, numbers_csv(100))
    statistic = {"kind": "mean", "column": "x"}
    alone = table.analyst.post(f"{table.path}/releases", json={"statistic": statistic, **question})
    items = {"items": [{"statistic": statistic, **question}]}
    for answer in (alone, table.analyst.post(f"{table.path}/batches/plan", json=items)):
        assert answer.status_code == 422, answer.text
        assert told in answer.text or "needs" in answer.text
