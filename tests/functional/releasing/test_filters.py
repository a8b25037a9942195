"""Filters, groups, sums and two-way tables over HTTP: what is answered, what is refused, and what is reused."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from filtered_table import COLUMNS, content
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import Service, Table

A = {"k": {"in": ["a"]}}
PRECISE = {"epsilon": "1000", "grid_refinement": 30}


@pytest.fixture(scope="module")
def filtered(running: Callable[[str], Service]) -> Table:
    return running("sqlite").table(COLUMNS, content(), limit="1000000", allowance="1000000")


def released(table: Table, statistic: dict[str, Any], **question: Any) -> dict[str, Any]:
    answer = table.release(statistic, **(PRECISE | question))
    assert answer.status_code in {200, 201}, answer.text
    document: dict[str, Any] = answer.json()
    return document


VALUES: list[tuple[dict[str, Any], float | list[float]]] = [
    ({"kind": "count", "where": {"k": {"in": ["a"]}}}, 80),
    ({"kind": "count", "where": {"k": {"in": ["a", "b"]}, "accuracy": {"between": [15, 30.5]}}}, 80),
    ({"kind": "count", "where": {"b": {"in": [True]}}}, 80),
    ({"kind": "count", "where": {"b": {"in": [False]}}}, 40),
    ({"kind": "count", "where": {"accuracy": {"in": [10, "50", "5e1", 60]}}}, 80),
    ({"kind": "count", "where": {"x": {"between": [0.25, 1.5]}}}, 120),
    ({"kind": "count", "where": {"k": "a", "b": True}}, 40),
    ({"kind": "count", "where": {"k": ["a", "b"], "accuracy": 30}}, 40),
    ({"kind": "count", "where": {"k": {"not": "a"}}}, 80),
    ({"kind": "count", "where": {"k": {"not": ["a", "b"]}}}, 40),
    ({"kind": "count", "where": {"b": {"is_missing": True}}}, 80),
    ({"kind": "count", "where": {"b": {"not": {"is_missing": True}}}}, 120),
    ({"kind": "count", "where": {"accuracy": {"above": 20, "at_most": "4e1"}}}, 80),
    ({"kind": "count", "where": {"x": {"not": {"below": 0.5}}}}, 120),
    ({"kind": "count", "group_by": "k"}, [80, 40, 40, 40]),
    ({"kind": "count", "group_by": "k", "where": {"accuracy": {"between": [20, 40]}}}, [40, 40, 0, 40]),
    ({"kind": "sum", "column": "accuracy", "where": {"k": {"in": ["a"]}}}, 1200),
    ({"kind": "sum", "column": "accuracy"}, 6000),
    ({"kind": "sum", "column": "accuracy", "group_by": "k"}, [1200, 1200, 2000, 1600]),
    ({"kind": "sum", "column": "b", "group_by": "k", "where": {"accuracy": {"between": [0, 10]}}}, [40, 0, 0, 0]),
    ({"kind": "histogram", "column": "accuracy", "bins": 2, "where": {"b": {"in": [True]}}}, [80, 0, 0, 120]),
    ({"kind": "histogram", "columns": ["k", "b"]}, [40, 40, 0, 0, 0, 40, 0, 0, 40, 0, 40, 0]),
    (
        {
            "kind": "histogram",
            "columns": ["accuracy", "b"],
            "edges": [[0, 25, 100], None],
            "where": {"k": {"in": ["a"]}},
        },
        [40, 40, 0, 0, 0, 0, 0, 0, 0, 120],
    ),
]


@pytest.mark.parametrize(("statistic", "expected"), VALUES)
def test_values(filtered: Table, statistic: dict[str, Any], expected: Any) -> None:
    document = released(filtered, statistic)
    exact = expected if isinstance(expected, list) else [expected]
    values = document["value"] if isinstance(expected, list) else [document["value"]]
    intervals = document["accuracy"]["interval"]
    assert len(values) == len(exact)
    assert values == pytest.approx(exact, abs=20 * document["mechanism"]["scale"])
    for (low, high), value in zip(intervals if isinstance(expected, list) else [intervals], values, strict=True):
        assert low <= min(max(value, low), high) <= high
    planned = filtered.plan(document["statistic"], **PRECISE).json()
    for member in ("statistic", "mechanism", "privacy", "bins", "axes"):
        assert planned.get(member) == document.get(member)
    assert planned["reused"] is True


@pytest.mark.parametrize("rows_per_unit", [1, 3])
def test_what_the_parts_of_a_release_are(one_service: Service, rows_per_unit: int) -> None:
    table = one_service.table(COLUMNS, content(), rows_per_unit=rows_per_unit)
    n = 5 * 40

    def planned(statistic: dict[str, Any]) -> dict[str, Any]:
        answer = table.plan(statistic, epsilon="1")
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    condition = {"k": {"in": ["a"]}}
    one = planned({"kind": "count", "where": condition})
    assert (one["mechanism"]["sensitivity"], one["mechanism"]["centre"]) == (rows_per_unit, n / 2)
    total = planned({"kind": "sum", "column": "x", "where": condition, "bounds": [1, 3]})
    assert (total["mechanism"]["sensitivity"], total["mechanism"]["centre"]) == (3 * rows_per_unit, n * 3 / 2)
    grouped = planned({"kind": "sum", "column": "x", "group_by": "k"})
    assert grouped["mechanism"]["sensitivity"] == 4
    assert grouped["mechanism"]["epsilon_per_bin"] == pytest.approx(1 / (2 * rows_per_unit))
    assert [each["label"] for each in grouped["bins"]] == ["a", "b", "other", "missing"]
    assert "simultaneous_radius" in grouped["accuracy"]
    histogram = planned({"kind": "histogram", "column": "b", "where": condition})
    assert histogram["bins"][-1] == {"kind": "outside", "label": "outside"}
    assert histogram["mechanism"]["epsilon_per_bin"] == grouped["mechanism"]["epsilon_per_bin"]
    joint = planned({"kind": "histogram", "columns": ["x", "k"], "bins": [1001, None]})
    assert joint["bins"] is None
    assert [len(joint["axes"][0]["edges"]), joint["axes"][0]["bins"], len(joint["axes"][1]["bins"])] == [1002, None, 4]
    assert joint["mechanism"] == histogram["mechanism"]


@SERVICE_ON_POSTGRES_SLOWLY
def test_reuse_knows_a_filter_however_it_is_written(service: Service) -> None:
    table = service.table(COLUMNS, content())
    first = table.release(
        {"kind": "count", "where": {"k": {"in": ["b", "a"]}, "accuracy": {"between": [9.5, 40]}}}, epsilon="1"
    ).json()
    again = {"kind": "count", "where": {"accuracy": {"between": ["1e1", 40.9]}, "k": {"in": ["a", "b", "a"]}}}
    answer = table.release(again, epsilon="0.5", alpha=0.2)
    assert answer.status_code == 200
    document = answer.json()
    assert (document["id"], document["budget"]["charged"]) == (first["id"], "0")
    assert document["statistic"] == first["statistic"]
    assert document["accuracy"]["alpha"] == 0.2
    assert document["accuracy"]["radius"] < first["accuracy"]["radius"]
    spelled = {"k": ["a", "b"], "accuracy": {"at_least": 10, "below": 41}}
    document = table.release({"kind": "count", "where": spelled}, epsilon="0.5").json()
    assert (document["id"], document["statistic"]) == (first["id"], first["statistic"])
    known = table.release({"kind": "count", "where": {"k": {"is_missing": False}}}, epsilon="1").json()
    missing = table.release({"kind": "count", "where": {"k": {"is_missing": True}}}, epsilon="0.5").json()
    assert (missing["id"], missing["value"], missing["budget"]["charged"]) == (known["id"], 200 - known["value"], "0")
    for other in ({"k": {"in": ["a"]}}, {"k": {"in": ["a", "b"]}}, {"accuracy": {"in": [10]}}):
        assert table.release({"kind": "count", "where": other}, epsilon="0.5").status_code == 201


@SERVICE_ON_POSTGRES_SLOWLY
def test_reuse_of_a_table_at_another_alpha(service: Service) -> None:
    table = service.table(COLUMNS, content())
    statistic = {
        "kind": "histogram",
        "columns": ["k", "accuracy"],
        "bins": [None, 3],
        "where": {"accuracy": {"in": [10]}},
    }
    first = table.release(statistic, epsilon="1").json()
    again = table.release(statistic, epsilon="0.5", alpha=0.3).json()
    assert {name: again[name] for name in ("id", "value", "axes", "bins", "privacy")} == {
        name: first[name] for name in ("id", "value", "axes", "bins", "privacy")
    }
    assert len(again["accuracy"]["interval"]) == len(again["value"]) == 4 * 4 + 1


def hostile() -> list[tuple[dict[str, Any], str]]:
    condition = {"k": {"in": ["a"]}}
    return [
        ({"kind": "count"}, "statistic.where"),
        ({"kind": "count", "where": {}}, "statistic.where"),
        ({"kind": "count", "where": []}, "statistic.where"),
        ({"kind": "count", "where": {"nobody": {"in": ["a"]}}}, "statistic.where.0"),
        ({"kind": "count", "where": condition | {"k' OR 1=1 --": {"in": ["a"]}}}, "statistic.where.1"),
        ({"kind": "count", "where": {"k": {}}}, "statistic.where.0"),
        ({"kind": "count", "where": {"k": {"in": []}}}, "statistic.where.0.in"),
        ({"kind": "count", "where": {"k": {"in": "a"}}}, "statistic.where.0.in"),
        ({"kind": "count", "where": {"k": {"in": None}}}, "statistic.where.0"),
        ({"kind": "count", "where": {"k": {"one_of": ["a"]}}}, "statistic.where.0"),
        ({"kind": "count", "where": {"k": None}}, "statistic.where.0"),
        ({"kind": "count", "where": {"k": "nobody"}}, "statistic.where.0.in.0"),
        ({"kind": "count", "where": {"k": []}}, "statistic.where.0"),
        ({"kind": "count", "where": {"k": ["a", None]}}, "statistic.where.0.1"),
        ({"kind": "count", "where": {"k": {"not": {"not": "a"}}}}, "statistic.where.0.not"),
        ({"kind": "count", "where": {"k": {"not": {"in": ["a", 1]}}}}, "statistic.where.0.not.in.1"),
        ({"kind": "count", "where": {"k": {"is_missing": 1}}}, "statistic.where.0.is_missing"),
        ({"kind": "count", "where": {"k": {"below": 3}}}, "statistic.where.0.below"),
        ({"kind": "count", "where": {"accuracy": {"at_least": 3, "above": 2}}}, "statistic.where.0.above"),
        ({"kind": "count", "where": {"accuracy": {"above": 3, "below": "4"}}}, "statistic.where.0"),
        ({"kind": "count", "where": {"accuracy": {"between": [1, 2], "below": 2}}}, "statistic.where.0"),
        ({"kind": "count", "where": {"accuracy": {"at_least": "now()"}}}, "statistic.where.0.at_least"),
        ({"kind": "count", "where": {"k": {"in": ["a'; DROP TABLE releases; --"]}}}, "statistic.where.0.in.0"),
        ({"kind": "count", "where": {"k": {"in": ["a", ["a"]]}}}, "statistic.where.0.in.1"),
        ({"kind": "count", "where": {"k": {"in": [None]}}}, "statistic.where.0.in.0"),
        ({"kind": "count", "where": {"k": {"in": ["\ud800"]}}}, "statistic.where.0.in.0"),
        ({"kind": "count", "where": {"accuracy": {"in": ["1) OR (1=1"]}}}, "statistic.where.0.in.0"),
        ({"kind": "count", "where": {"accuracy": {"in": [True]}}}, "statistic.where.0.in.0"),
        ({"kind": "count", "where": {"accuracy": {"in": list(range(10_001))}}}, "statistic.where.0.in"),
        ({"kind": "count", "where": {"accuracy": {"between": [1, "now()"]}}}, "statistic.where.0.between.1"),
        ({"kind": "count", "where": {"accuracy": {"between": [2, 1]}}}, "statistic.where.0.between"),
        ({"kind": "count", "where": {"accuracy": {"between": [1]}}}, "statistic.where.0.between"),
        ({"kind": "count", "where": {"x": {"between": [1, "1e999"]}}}, "statistic.where.0.between.1"),
        ({"kind": "count", "where": {"b": {"in": [1]}}}, "statistic.where.0.in.0"),
        ({"kind": "count", "group_by": "x"}, "statistic.group_by"),
        ({"kind": "count", "group_by": ["k"]}, "statistic.group_by"),
        ({"kind": "mean", "column": "x", "where": condition}, "statistic"),
        ({"kind": "histogram", "columns": ["k", "k"]}, "statistic.columns"),
        ({"kind": "histogram", "columns": ["k", "x"], "bins": 3}, "statistic.bins"),
        ({"kind": "histogram", "columns": ["k", "x"], "bins": [None, 10_001]}, "statistic.bins.1"),
        ({"kind": "histogram", "column": "k", "columns": ["k", "b"]}, "statistic"),
        ({"kind": "histogram", "columns": ["x", "accuracy"], "bins": [1000, 1000]}, "statistic.columns"),
    ]


@pytest.mark.parametrize(("statistic", "where"), hostile())
def test_hostile_filters_are_refused_in_their_place(filtered: Table, statistic: dict[str, Any], where: str) -> None:
    for path in ("plan", "releases"):
        body = json.dumps({"statistic": statistic, "epsilon": "1"})
        answer: httpx.Response = filtered.analyst.post(
            f"{filtered.path}/{path}", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["where"] == where
        for sent in ("DROP", "OR 1=1", "nobody", "now()", "OR (1=1"):
            assert sent not in answer.text


@pytest.mark.slow
def test_ten_thousand_values(filtered: Table) -> None:
    statistic = {"kind": "count", "where": {"accuracy": {"in": list(range(20, 10_020))}}}
    assert released(filtered, statistic)["value"] == pytest.approx(160, abs=1)


def test_columns_named_like_the_members_of_an_answer(one_service: Service) -> None:
    names = ["a", "accuracy", "bins", "budget", "created_at", "privacy", "value_in_range"]
    declared = {name: {"kind": "integer", "bounds": [0, 10]} for name in names}
    table = one_service.table(declared, "\n".join([",".join(names), *["1,2,3,4,5,6,7"] * 9, ""]))
    where = {name: {"between": [0, 9]} for name in names}
    for statistic in (
        {"kind": "count", "where": where},
        {"kind": "histogram", "column": "a", "bins": 2, "where": where},
    ):
        first = table.release(statistic, epsilon="1").json()
        again = table.release(statistic, epsilon="0.5", alpha=0.3).json()
        assert again["reused"]
        for member in ("id", "statistic", "value", "privacy", "mechanism", "created_at"):
            assert again[member] == first[member]
        assert again["accuracy"]["alpha"] == 0.3
