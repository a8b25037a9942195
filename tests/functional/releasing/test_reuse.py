"""Reuse: what was released before is released again, for nothing."""

import re
from typing import Any

import pytest
from service_world import Service, Table

MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "y": {"kind": "real", "bounds": ["-1.5", "2.5"]},
    "yes": {"kind": "boolean"},
}
ROWS = "x,y,yes\n" + "".join(f"{i},{i / 50},{i % 2}\n" for i in range(50))


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, ROWS)


def test_an_earlier_release_answers_for_nothing(table: Table) -> None:
    """`reused` true, `charged` "0". `id`, `value`, `mechanism`, `privacy`, `created_at` are the old ones; `accuracy` is
    at the asked α. Anyone with an allowance, even a spent one, may reuse anyone's."""
    first = table.fresh(MEAN, epsilon="0.5", alpha="0.1")
    _, other = table.another("0")
    for asked in ({"epsilon": "0.5"}, {"epsilon": "0.4"}, {"accuracy": 60}):
        answer = table.release(MEAN | {"bounds": ["0", 1e2]}, client=other, alpha="0.01", **asked)
        assert answer.status_code == 200, answer.text
        reused = answer.json()
        assert reused["reused"] is True
        assert reused["budget"] == {"charged": "0", "dataset_remaining": "9.5", "allowance_remaining": "0"}
        unchanged = ("id", "dataset", "statistic", "value", "value_exact", "value_in_range", "mechanism", "privacy")
        for member in (*unchanged, "created_at"):
            assert reused[member] == first[member]
        assert reused["accuracy"]["alpha"] == 0.01
        assert reused["accuracy"]["radius"] > first["accuracy"]["radius"]
        assert reused["accuracy"]["resolution"] == first["accuracy"]["resolution"]
        reach = reused["accuracy"]["radius"] + reused["accuracy"]["resolution"]
        expected = [max(first["value_in_range"] - reach, 0), min(first["value_in_range"] + reach, 100)]
        assert reused["accuracy"]["interval"] == pytest.approx(expected)
    assert table.plan(MEAN, epsilon="0.5").json()["reused"] is True
    assert table.plan(MEAN, epsilon="0.5").json()["budget"]["charged"] == "0"
    # A better answer is not known, and this principal may not pay for one.
    assert table.release(MEAN, client=other, epsilon="0.6").json()["scope"] == "allowance"
    assert table.release(MEAN | {"bounds": [0, 99]}, client=other, epsilon="0.5").status_code == 409
    assert table.release(MEAN, epsilon="0.5", reuse=False).json()["reused"] is False


def test_a_plan_shows_the_accuracy_of_the_release_that_answers_beside_that_of_a_new_one(table: Table) -> None:
    """The summary is about the one that answers; plans of batches and derived statistics show it as well."""
    histogram = {"kind": "histogram", "column": "yes"}
    for statistic, asked in ((MEAN, {"accuracy": 40}), (histogram, {"epsilon": "0.3"})):
        fresh = table.plan(statistic, alpha="0.1", **asked).json()
        assert "reused_accuracy" not in fresh
        table.fresh(statistic, epsilon="0.5")
        planned = table.plan(statistic, alpha="0.1", **asked).json()
        answer = table.release(statistic, alpha="0.1", **asked).json()["accuracy"]
        answer.pop("interval")
        assert (planned["reused"], planned["accuracy"], planned["reused_accuracy"]) == (True, fresh["accuracy"], answer)
        assert all(answer[name] < fresh["accuracy"][name] for name in answer if "radius" in name)
        (told,) = re.findall(r"within ([\d.]+) of", planned["summary"])
        assert 0 <= float(told) - answer["radius"] - answer["resolution"] < 1
        body = {"items": [{"statistic": statistic, **asked}], "alpha": "0.1"}
        (item,) = table.analyst.post(f"{table.path}/batches/plan", json=body).json()["items"]
        for name in ("accuracy", "reused", "reused_accuracy", "summary"):
            assert item[name] == planned[name]
    derived = {"derived": {"kind": "sum", "column": "x"}, "epsilon": "0.2"}
    (component,) = table.analyst.post(f"{table.path}/derived/plan", json=derived).json()["components"]
    assert component["reused_accuracy"]["radius"] < component["accuracy"]["radius"]


def test_a_coarser_grid_does_not_answer_for_a_finer_one(table: Table) -> None:
    """When its radius at the asked α is at most the one wanted: a release at ε = 1 has a larger radius than one at
    ε = 0.999 with refinement 10. α, γ, refinement and principal do not count."""
    coarse = table.fresh(MEAN, epsilon="1", grid_refinement=0)
    finer = table.plan(MEAN, epsilon="0.999", grid_refinement=10).json()
    assert finer["accuracy"]["radius"] < coarse["accuracy"]["radius"]
    assert (finer["reused"], finer["budget"]["charged"]) == (False, "0.999")
    assert table.release(MEAN, epsilon="0.999", grid_refinement=10).status_code == 201
    # Now the finer one has the smaller radius, and answers for the coarser.
    again = table.release(MEAN, epsilon="1", gamma="0.5", grid_refinement=0)
    assert again.json()["mechanism"]["grid_refinement"] == 10


def test_a_number_answers_an_epsilon_only_where_its_tight_radius_is_no_larger_either(table: Table) -> None:
    """With ε = 1 the radius is 3.996 and the tight radius 3.908 sensitivities; a fine grid has 3.94 of both."""
    table.fresh(MEAN, epsilon="0.76", grid_refinement=10)
    planned = table.plan(MEAN, epsilon="1", grid_refinement=0).json()
    accuracy = planned["accuracy"]
    finer = table.plan(MEAN, epsilon="0.76", grid_refinement=10).json()["accuracy"]
    assert accuracy["tight_radius"] < finer["tight_radius"] < finer["radius"] < accuracy["radius"]
    assert planned["reused"] is False
    assert table.release(MEAN, epsilon="1", grid_refinement=0).status_code == 201
    # Where an accuracy is wanted, that is all that is wanted.
    assert table.plan(MEAN, accuracy=accuracy["radius"], grid_refinement=0).json()["reused"] is True


def test_a_histogram_answers_only_where_none_of_its_radii_is_larger_than_planned(table: Table) -> None:
    """At α a finer grid at less ε has the smaller radius, at α/101 it has not."""
    histogram = {"kind": "histogram", "column": "x", "bins": 100, "bounds": [0, 100]}
    table.fresh(histogram, epsilon="0.75", grid_refinement=10)
    planned = table.plan(histogram, epsilon="0.99", grid_refinement=0).json()
    assert planned["accuracy"]["simultaneous_radius"] == pytest.approx(17.375, abs=0.001)
    assert planned["reused"] is False
    answer = table.release(histogram, epsilon="0.99", grid_refinement=0)
    assert answer.status_code == 201
    assert answer.json()["accuracy"]["simultaneous_radius"] == planned["accuracy"]["simultaneous_radius"]


def test_it_is_the_radius_at_the_asked_alpha_that_counts(table: Table) -> None:
    """At α = 0.9 the grid is most of the radius, at α = 1e-9 the scale: one of two releases is better at each."""
    fine = table.fresh(MEAN, epsilon="0.9", grid_refinement=10)
    coarse = table.fresh(MEAN, epsilon="1", grid_refinement=0)
    for alpha, best in (("0.9", fine), ("1e-9", coarse)):
        plans = [
            table.plan(MEAN, alpha=alpha, epsilon=one["privacy"]["epsilon"], reuse=False, **refinement).json()
            for one, refinement in ((fine, {"grid_refinement": 10}), (coarse, {"grid_refinement": 0}))
        ]
        widest = max(plan["accuracy"]["radius"] for plan in plans)
        assert table.release(MEAN, alpha=alpha, accuracy=widest).json()["id"] == best["id"]


def test_a_gamma_does_not_count_but_its_bound_may(table: Table) -> None:
    """At a tiny α the radius is 2B, and B is smaller for a larger γ."""
    loose = table.fresh(MEAN, epsilon="0.001", gamma="1e-6")
    tight = table.fresh(MEAN, epsilon="0.001", gamma="0.5")
    assert tight["mechanism"]["bound"] < loose["mechanism"]["bound"]
    for gamma in ("1e-6", "0.05"):
        assert table.release(MEAN, epsilon="0.001", alpha="1e-30", gamma=gamma).json()["id"] == tight["id"]
    assert table.release(MEAN, epsilon="0.001", gamma="0.05").json()["id"] == loose["id"]


def test_among_several_the_smallest_radius_then_the_oldest(table: Table) -> None:
    """Among several the smallest radius, then the oldest; never by value."""
    made = [table.fresh(MEAN, epsilon=epsilon) for epsilon in ("0.5", "0.7", "0.7", "0.6", "0.7")]
    assert table.release(MEAN, epsilon="0.5").json()["id"] == made[1]["id"]
    better = table.fresh(MEAN, epsilon="0.700000001")
    assert table.release(MEAN, epsilon="0.5").json()["id"] == better["id"]


@pytest.mark.parametrize(
    ("first", "same"),
    [
        (MEAN, MEAN | {"bounds": ["0.0", "1e2"]}),
        ({"kind": "covariance", "columns": ["x", "y"]}, {"kind": "covariance", "columns": ["y", "x"]}),
        (
            {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 50], None]},
            {"kind": "covariance", "columns": ["y", "x"], "bounds": [["-1.5", 2.5], [0, 50]]},
        ),
        (
            {"kind": "histogram", "column": "x", "bins": 4},
            {"kind": "histogram", "column": "x", "edges": [0, 25, "50.0", 75, 1e2]},
        ),
        ({"kind": "mean", "column": "y", "bounds": [0, "0.1"]}, {"kind": "mean", "column": "y", "bounds": [0, 0.1]}),
    ],
    ids=str,
)
def test_the_same_statistic(table: Table, first: dict[str, Any], same: dict[str, Any]) -> None:
    """Same dataset, kind, columns (a covariance's in any order), exact bounds or edges after defaults."""
    made = table.fresh(first, epsilon="0.5")
    again = table.release(same, epsilon="0.5")
    assert (again.status_code, again.json()["id"]) == (200, made["id"])


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (MEAN, {"kind": "variance", "column": "x"}),
        (MEAN, {"kind": "mean", "column": "y"}),
        (MEAN, MEAN | {"bounds": [0, "100.0000000000000000000000000000000000000001"]}),
        (MEAN, MEAN | {"bounds": ["-1e-40", 100]}),
        ({"kind": "histogram", "column": "x", "bins": 4}, {"kind": "histogram", "column": "x", "bins": 5}),
        (
            {"kind": "histogram", "column": "x", "edges": [0, 25, 50]},
            {"kind": "histogram", "column": "x", "edges": [0, 26, 50]},
        ),
        (
            {"kind": "covariance", "columns": ["x", "y"], "bounds": [[0, 2], [0, 1]]},
            {"kind": "covariance", "columns": ["y", "x"], "bounds": [[0, 2], [0, 1]]},
        ),
    ],
    ids=str,
)
def test_another_statistic(table: Table, first: dict[str, Any], other: dict[str, Any]) -> None:
    table.fresh(first, epsilon="0.5")
    assert table.release(other, epsilon="0.5").status_code == 201


def test_another_dataset_s_release_is_another(service: Service, table: Table) -> None:
    table.fresh(MEAN, epsilon="0.5")
    twin = service.table(COLUMNS, ROWS)
    assert twin.release(MEAN, epsilon="0.5").status_code == 201


def test_releases_can_be_read_again(service: Service, table: Table) -> None:
    """`GET /v1/datasets/{name}/releases`, `GET /v1/releases` (one's own), `GET /v1/releases/{id}`: earlier releases; an
    analyst sees those of its datasets, without what they left of others' allowances."""
    mine = [table.fresh(MEAN, epsilon="0.1") for _ in range(2)]
    _, other = table.another("1")
    others = table.release(MEAN, client=other, epsilon="0.2").json()
    assert table.release(MEAN, epsilon="0.2").json()["id"] == others["id"]  # reuse makes no release
    hidden = [one | {"budget": one["budget"] | {"allowance_remaining": None}} for one in (*mine, others)]
    for client, own, seen in (
        (table.analyst, mine, [*mine, hidden[2]]),
        (other, [others], [*hidden[:2], others]),
        (table.owner, [], [*mine, others]),
    ):
        assert client.get("/v1/releases").json() == {"releases": own, "next": None}
        assert client.get(f"{table.path}/releases").json()["releases"] == seen
        assert client.get(f"/v1/releases/{others['id']}").json() == seen[2]
    _, auditor = service.principal("auditor")
    assert auditor.get(f"/v1/releases/{others['id']}").json() == others
    assert table.budget()["epsilon_spent"] == "0.4"
