"""Derived statistics over HTTP: what follows, what it costs, what is known already, and all or nothing."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from filtered_table import COLUMNS, content
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import X_COLUMNS, Service, Table, numbers_csv

PRECISE: dict[str, Any] = {"epsilon": "1000", "grid_refinement": 30}
LINE = {"columns": ["accuracy", "x"]}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, content(), limit="1000000", allowance="1000000")


def ask(table: Table, statistic: dict[str, Any], *, key: str | None = None, **question: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    body = {"derived": statistic, **(PRECISE | question)}
    return table.analyst.post(f"{table.path}/derived", json=body, headers=headers)


def plan(table: Table, statistic: dict[str, Any], **question: Any) -> httpx.Response:
    return table.analyst.post(f"{table.path}/derived/plan", json={"derived": statistic, **(PRECISE | question)})


# Of the five rows of the table, forty times: accuracy 10, 20, 30, 40, 50; x 0.5, -0.5, 1.5, 2.5, 0.25.
VALUES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kind": "standard_deviation", "column": "accuracy"}, {"standard_deviation": (200 * 200 / 199) ** 0.5}),
    ({"kind": "sum", "column": "accuracy"}, {"sum": 6000}),
    ({"kind": "proportion", "column": "b"}, {"proportion": 0.4}),
    ({"kind": "proportion", "column": "k", "category": "a"}, {"proportion": 0.4}),
    ({"kind": "proportion", "where": {"accuracy": {"between": [10, 30]}}}, {"proportion": 0.6}),
    ({"kind": "mean", "column": "accuracy", "where": {"k": {"in": ["a"]}}}, {"mean": 15}),
    ({"kind": "mean", "column": "accuracy", "group_by": "k"}, {"mean": [15, 30, 50, 40]}),
    (
        {"kind": "mean", "column": "x", "group_by": "k", "where": {"accuracy": {"between": [0, 50]}}},
        {"mean": [0, 1.5, 0.25, 2.5]},
    ),
    ({"kind": "mean", "column": "x", "weight": "accuracy"}, {"mean": 152.5 / 150}),
    ({"kind": "mean", "column": "x", "weight": "accuracy", "where": {"k": {"in": ["a"]}}}, {"mean": -1 / 6}),
    ({"kind": "mean", "column": "x", "weight": "accuracy", "group_by": "k"}, {"mean": [-1 / 6, 1.5, 0.25, 2.5]}),
    ({"kind": "proportion", "column": "b", "group_by": "k"}, {"proportion": [0.5, 0, 0, 1]}),
    ({"kind": "proportion", "column": "k", "category": "b", "group_by": "k"}, {"proportion": [0, 1, 0, 0]}),
    ({"kind": "correlation", **LINE}, {"correlation": 0.3386}),
    ({"kind": "regression", **LINE}, {"slope": 0.025, "intercept": 0.1}),
    (
        {"kind": "cumulative", "column": "accuracy", "edges": [0, 15, 25, 45, 100]},
        {"cumulative": [40, 80, 160, 200]},
    ),
    ({"kind": "margin", "columns": ["k", "b"], "column": "b"}, {"margin": [40, 80, 80]}),
    ({"kind": "margin", "columns": ["k", "b"], "column": "k"}, {"margin": [80, 40, 40, 40]}),
]


@SERVICE_ON_POSTGRES_SLOWLY
def test_values(table: Table) -> None:
    for statistic, expected in VALUES:
        answer = ask(table, statistic)
        assert answer.status_code in {200, 201}, answer.text
        document = answer.json()
        assert document["estimates"].keys() == expected.keys()
        for name, value in expected.items():
            estimate = document["estimates"][name]
            within = 0.2 if isinstance(value, list) else 0.03 if name == "intercept" else 0.002
            assert estimate["value"] == pytest.approx(value, rel=0.1, abs=within)
            pairs = zip(estimate["value"], estimate["interval"], strict=True) if isinstance(value, list) else None
            for each, (low, high) in pairs or [(estimate["value"], estimate["interval"])]:
                assert low <= each <= high
        planned = plan(table, document["derived"]).json()
        assert planned["derived"] == document["derived"]
        assert planned["budget"]["charged"] == "0"
        for component in document["components"]:
            stored = table.analyst.get(f"/v1/releases/{component['release_id']}").json()
            of_release, of_component = stored["statistic"], component["statistic"]
            if component["reused"] and of_component["kind"] == "sum":  # a mean of all rows answers for their sum
                of_release = of_release | {"kind": "sum"}
            assert of_release == of_component
            assert component["accuracy"]["alpha"] == pytest.approx(0.05 / len(document["components"]))
        again = ask(table, document["derived"])
        assert again.status_code == 200
        assert again.json()["estimates"] == document["estimates"]
        assert again.json()["budget"]["charged"] == "0"


def test_quantiles_are_as_exact_as_the_bins(table: Table) -> None:
    statistic = {"kind": "quantile", "column": "accuracy", "bins": 10, "probabilities": [0.1, 0.5, "0.81"]}
    estimate = ask(table, statistic).json()["estimates"]["quantile"]
    assert estimate["interval"] == [[10, 20], [30, 40], [50, 60]]
    assert estimate["value"] == sorted(estimate["value"])


def test_a_median_of_many_bins_is_counted_in_few_cells(table: Table) -> None:
    """By default: coarse cells, and fine cells around it, for the ε that was asked for."""
    statistic = {"kind": "quantile", "column": "accuracy", "bins": 100, "probabilities": [0.5]}
    planned = plan(table, statistic, epsilon="600").json()
    answer = ask(table, statistic, key="median", epsilon="600")
    document = answer.json()
    assert document["derived"] == statistic | {"bounds": [0, 100], "method": "adaptive"} == planned["derived"]
    assert document["estimates"]["quantile"]["interval"] == [[30, 31]]
    (component,) = document["components"]
    assert (component["charged"], table.entries()[-1]["epsilon"]) == ("600", "600")
    stored = table.analyst.get(f"/v1/releases/{component['release_id']}").json()
    assert len(stored["value"]) == len(stored["bins"])
    assert [stored["bins"][place]["label"] for place in (0, 32, 33)] == ["coarse cell 1", "no value", "fine cell 1"]
    assert stored["mechanism"]["epsilon_per_bin"] == 200
    assert ask(table, statistic, key="median", epsilon="600").content == answer.content
    again = ask(table, document["derived"], epsilon="500").json()
    assert (again["budget"]["charged"], again["estimates"]) == ("0", document["estimates"])


def test_a_median_is_searched_for(table: Table) -> None:
    """Of many bins only a few counts are released, for the ε that was asked for; a histogram tells more of a few."""
    statistic = {"kind": "quantile", "column": "accuracy", "bins": 100, "probabilities": [0.5], "method": "search"}
    planned = plan(table, statistic, epsilon="700").json()
    assert planned["budget"]["charged"] == "700"
    answer = ask(table, statistic, key="median", epsilon="700")
    document = answer.json()
    assert document["derived"] == statistic | {"bounds": [0, 100]} == planned["derived"]
    assert document["estimates"]["quantile"]["interval"] == [[30, 31]]
    (component,) = document["components"]
    assert (component["role"], component["charged"], document["budget"]["charged"]) == ("search", "700", "700")
    assert component["statistic"] == planned["components"][0]["statistic"]
    stored = table.analyst.get(f"/v1/releases/{component['release_id']}").json()
    steps = [each["label"] for each in stored["bins"]]
    assert steps == [f"step {step}" for step in range(1, 8)]
    assert all(0 <= count <= 200 for count in stored["value_in_range"])
    assert stored["mechanism"]["epsilon_per_bin"] == 100
    assert table.entries()[-1]["epsilon"] == "700"
    assert ask(table, statistic, key="median", epsilon="700").content == answer.content
    again = ask(table, document["derived"], epsilon="600")
    assert (again.status_code, again.json()["estimates"]) == (200, document["estimates"])
    # The whole search is released as well, by itself and for nothing now.
    search = table.release(component["statistic"], epsilon="700")
    assert (search.status_code, search.json()["id"]) == (200, component["release_id"])


def test_quantiles_follow_from_what_is_asked_for(table: Table) -> None:
    statistic = {"kind": "quantile", "column": "accuracy", "bins": 100, "probabilities": [0.5]}
    histogram = table.release({"kind": "histogram", "column": "accuracy", "bins": 100}, **PRECISE).json()
    known = ask(table, statistic | {"method": "histogram"}).json()
    assert (known["budget"]["charged"], known["components"][0]["release_id"]) == ("0", histogram["id"])
    rows = {"where": {"k": {"in": ["a"]}}}
    quartiles = ask(table, statistic | rows | {"method": "search", "probabilities": [0.75, 0.25]}).json()
    (component,) = quartiles["components"]
    assert component["statistic"]["probabilities"] == [0.25, 0.75]
    low, high = quartiles["estimates"]["quantile"]["interval"][::-1]
    assert low[0] <= 10 <= low[1]
    assert high[0] <= 20 <= high[1]
    stored = table.analyst.get(f"/v1/releases/{component['release_id']}").json()
    assert stored["bins"][0] == {"kind": "step", "label": "all values"}
    assert stored["value_in_range"][0] == pytest.approx(80, abs=1)


def test_only_what_is_missing_is_charged(table: Table) -> None:
    variance = table.release({"kind": "variance", "column": "x"}, **(PRECISE | {"epsilon": "1000"})).json()
    statistic = {"kind": "correlation", **LINE}
    planned = plan(table, statistic, epsilon="3").json()
    assert planned["budget"]["charged"] == "2"
    assert [each["release_id"] for each in planned["components"]] == [None, None, variance["id"]]
    spent, entries = table.budget()["epsilon_spent"], len(table.entries())
    document = ask(table, statistic, epsilon="3").json()
    assert document["budget"]["charged"] == "2"
    assert [each["charged"] for each in document["components"]] == ["1", "1", "0"]
    assert document["components"][2]["release_id"] == variance["id"]
    assert float(table.budget()["epsilon_spent"]) == float(spent) + 2
    debits = table.entries()[entries:]
    assert [entry["release_id"] for entry in debits] == [each["release_id"] for each in document["components"][:2]]
    # A line needs two means more; its covariance and variance are known now.
    line = ask(table, {"kind": "regression", **LINE}, epsilon="2").json()
    assert [each["reused"] for each in line["components"]] == [True, True, False, False]


def test_its_components_share_a_scan(table: Table) -> None:
    before = table.service.scans()
    answer = ask(table, {"kind": "regression", **LINE})
    assert len(answer.json()["components"]) > 2
    assert table.service.scans() - before == 1


def test_one_key_one_answer(table: Table) -> None:
    statistic = {"kind": "regression", **LINE}
    first = ask(table, statistic, key="one")
    again = ask(table, statistic, key="one")
    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")
    assert ask(table, statistic, key="one", alpha=0.1).json()["type"] == "/problems/key-reused"
    fresh = ask(table, statistic, key="another")
    assert (fresh.status_code, fresh.json()["budget"]["charged"]) == (200, "0")
    assert ask(table, statistic, key="another").content == fresh.content
    assert ask(table, statistic, reuse=False).status_code == 400
    drawn = ask(table, statistic, reuse=False, key="fresh").json()
    assert drawn["budget"]["charged"] == PRECISE["epsilon"]
    assert not {c["release_id"] for c in drawn["components"]} & {c["release_id"] for c in first.json()["components"]}


def test_all_components_or_none(service: Service) -> None:
    table = service.table(COLUMNS, content(), limit="2", allowance="2.5")
    statistic = {"kind": "correlation", **LINE}
    with service.unchanged():
        refused = ask(table, statistic, epsilon="3", grid_refinement=0, key="k")
        assert refused.status_code == 409
        assert {name: refused.json()[name] for name in ("scope", "requested", "remaining")} == {
            "scope": "dataset",
            "requested": "3",
            "remaining": "2",
        }
        planned = plan(table, statistic, epsilon="3").json()
        assert not planned["budget"]["affordable"]
    assert ask(table, statistic, epsilon="1.5", key="k").status_code == 201


def test_parallel_requests_against_a_small_budget(service: Service) -> None:
    table = service.table(COLUMNS, content(), limit="10", allowance="10")

    def one(i: int) -> int:
        return ask(table, {"kind": "regression", **LINE}, epsilon="4", key=f"k{i}", reuse=False).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(one, range(8)))
    assert sorted(statuses) == [201, 201, *[409] * 6]
    assert table.budget()["epsilon_spent"] == "8"
    assert len([entry for entry in table.entries() if entry["kind"] == "debit"]) == 8
    with ThreadPoolExecutor(8) as pool:
        twins = list(pool.map(lambda _: ask(table, {"kind": "sum", "column": "x"}, epsilon="1", key="same"), range(8)))
    assert {twin.content for twin in twins} == {twins[0].content}
    assert table.budget()["epsilon_spent"] == "9" if twins[0].json()["budget"]["charged"] == "1" else "8"


def test_of_a_mean_of_perhaps_no_rows_the_bounds_are_known(one_service: Service) -> None:
    table = one_service.table(COLUMNS, content())
    statistic = {"kind": "mean", "column": "x", "where": {"accuracy": {"in": [11]}}}
    document = ask(table, statistic, epsilon="0.0001", alpha=1e-9).json()  # so that 0 lies within the count's interval
    assert document["estimates"]["mean"]["interval"] == [-1, 3]


def test_a_correlation_of_noise_stays_within_its_range(one_service: Service) -> None:
    table = one_service.table({"x": {"kind": "integer", "bounds": [0, 100]}, "b": {"kind": "boolean"}}, "x,b\n1,\n2,\n")
    for i in range(10):
        correlation = ask(table, {"kind": "correlation", "columns": ["x", "b"]}, epsilon="0.01", key=f"c{i}").json()
        low, high = correlation["estimates"]["correlation"]["interval"]
        assert -1 <= low <= high <= 1
        value = ask(table, {"kind": "standard_deviation", "column": "x"}, epsilon="0.01").json()
        assert value["estimates"]["standard_deviation"]["value"] >= 0


HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({"kind": "nothing"}, "derived.kind"),
    ({"kind": "standard_deviation"}, "derived.column"),
    ({"kind": "standard_deviation", "column": "k"}, "derived.column"),
    ({"kind": "standard_deviation", "column": "nobody"}, "derived.column"),
    ({"kind": "standard_deviation", "column": "x", "bounds": [1, 1]}, "derived.bounds"),
    ({"kind": "sum", "column": "x", "category": "a"}, "derived"),
    ({"kind": "proportion"}, "derived.column"),
    ({"kind": "proportion", "column": "x"}, "derived.column"),
    ({"kind": "proportion", "column": "k"}, "derived.category"),
    ({"kind": "proportion", "column": "k", "category": "' OR 1=1"}, "derived.category"),
    ({"kind": "proportion", "column": "b", "category": "true"}, "derived.column"),
    ({"kind": "proportion", "where": {"k": {"in": ["a"]}}, "category": "a"}, "derived.category"),
    ({"kind": "mean", "column": "x"}, "derived.where"),
    ({"kind": "mean", "column": "x", "group_by": "b"}, "derived.group_by"),
    ({"kind": "proportion", "column": "x", "group_by": "k"}, "derived.column"),
    ({"kind": "mean", "column": "accuracy", "weight": "x"}, "derived.weight"),
    ({"kind": "mean", "column": "accuracy", "weight": "k"}, "derived.weight"),
    ({"kind": "mean", "column": "accuracy", "weight": "accuracy"}, "derived.weight"),
    ({"kind": "mean", "column": "accuracy", "weight": "nowhere"}, "derived.weight"),
    ({"kind": "mean", "column": "x", "weight": "accuracy", "where": {"k": {"in": ["c"]}}}, "derived.where.0.in.0"),
    ({"kind": "mean", "column": "x", "weight": "accuracy", "group_by": "b"}, "derived.group_by"),
    ({"kind": "proportion", "column": "b", "group_by": "k", "where": {"b": {"in": [True]}}}, "derived.where"),
    ({"kind": "correlation", **LINE, "group_by": "k"}, "derived"),
    ({"kind": "mean", "column": "x", "where": {"k": {"in": ["OR 1=1"]}}}, "derived.where.0.in.0"),
    ({"kind": "correlation", "columns": ["x"]}, "derived.columns"),
    ({"kind": "correlation", "columns": ["x", "x"]}, "derived.columns"),
    ({"kind": "regression", "columns": ["x", "k"]}, "derived.columns.1"),
    ({"kind": "cumulative", "column": "k"}, "derived.column"),
    ({"kind": "cumulative", "column": "x"}, "derived.edges"),
    ({"kind": "cumulative", "column": "x", "bins": 10001}, "derived.bins"),
    ({"kind": "quantile", "column": "x", "bins": 3, "probabilities": []}, "derived.probabilities"),
    ({"kind": "quantile", "column": "x", "bins": 3, "probabilities": [0.5, 1]}, "derived.probabilities.1"),
    ({"kind": "quantile", "column": "x", "bins": 3, "probabilities": [0.5], "method": "guess"}, "derived.method"),
    (
        {
            "kind": "quantile",
            "column": "x",
            "bins": 3,
            "probabilities": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
            "method": "search",
        },
        "derived.probabilities",
    ),
    ({"kind": "margin", "columns": ["k", "b"], "column": "x"}, "derived.column"),
]


def test_a_share_of_no_category_is_told_as_missing(one_service: Service) -> None:
    table = one_service.shared_table(COLUMNS, content(1))
    (error,) = plan(table, {"kind": "proportion", "column": "k"}, epsilon="1").json()["errors"]
    assert error["what"].startswith("is missing; it must be one of the declared categories: 'a'")


@pytest.mark.parametrize(("statistic", "where"), HOSTILE)
def test_what_follows_from_nothing_is_refused(one_service: Service, statistic: dict[str, Any], where: str) -> None:
    table = one_service.shared_table(COLUMNS, content(1))
    for answer in (ask(table, statistic, epsilon="1"), plan(table, statistic, epsilon="1")):
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["where"] == where
        assert "OR 1=1" not in answer.text


def test_more_groups_than_have_intervals_are_refused(one_service: Service) -> None:
    """Intervals are computed while the account is locked, so a request may not make them take long."""
    columns = {"x": X_COLUMNS["x"], "k": {"kind": "category", "categories": [f"c{i}" for i in range(999)]}}
    table = one_service.table(columns, "x,k\n1,c1\n2,c2\n")
    answer = plan(table, {"kind": "mean", "column": "x", "group_by": "k"}, epsilon="1")
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "derived.group_by")
    assert "at most 1,000 groups" in answer.text


def test_other_refusals(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100))
    statistic = {"kind": "standard_deviation", "column": "x"}
    assert ask(table, statistic, epsilon="1001").json()["type"] == "/problems/epsilon-too-large"
    assert plan(table, statistic, epsilon="1001").json()["type"] == "/problems/epsilon-too-large"
    two = {"kind": "mean", "column": "x", "where": {"x": {"between": [0, 1]}}}
    assert ask(table, two, epsilon="1e-9").json()["errors"][0]["where"] == "epsilon"
    _, stranger = one_service.principal("analyst")
    path, body = f"{table.path}/derived", json.dumps({"derived": statistic, "epsilon": "1"})
    for where in (path, f"{path}/plan"):
        headers = {"Content-Type": "application/json"}
        assert stranger.post(where, content=body, headers=headers).status_code == 404
        assert one_service.stranger.post(where, content=body, headers=headers).status_code == 401
    assert table.owner.delete(table.path).status_code == 204
    for answer in (ask(table, statistic, epsilon="1"), plan(table, statistic, epsilon="1")):
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/closed")
