"""Plans: free, and what they say comes true."""

import json
from decimal import Decimal
from typing import Any

import pytest
from service_world import Service, Table

MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "y": {"kind": "real", "bounds": ["-0.1", "0.2"]},
    "z": {"kind": "decimal", "scale": 2, "bounds": ["-0.50", "9.99"]},
    "kind": {"kind": "category", "categories": ["b", "a"]},
    "yes": {"kind": "boolean", "nullable": False},
}


@pytest.fixture(scope="module")
def table(running) -> Table:
    service: Service = running("sqlite")
    rows = "".join(f"{i},0.{i % 3},{i % 9}.5,{'ab'[i % 2]},true\n" for i in range(100))
    return service.table(COLUMNS, "x,y,z,kind,yes\n" + rows)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ({"kind": "mean", "column": "x"}, {"bounds": [0, 100]}),
        ({"kind": "mean", "column": "x", "bounds": ["0", 1e2]}, {"bounds": [0, 100]}),
        ({"kind": "mean", "column": "x", "bounds": [-5, 200.5]}, {"bounds": [-5, 200.5]}),
        ({"kind": "mean", "column": "x", "bounds": [10, 20]}, {"bounds": [10, 20]}),
        ({"kind": "variance", "column": "y"}, {"bounds": [-0.1, 0.2]}),
        ({"kind": "mean", "column": "yes"}, {}),
        ({"kind": "covariance", "columns": ["y", "x"]}, {"bounds": [[-0.1, 0.2], [0, 100]]}),
        ({"kind": "covariance", "columns": ["x", "y"], "bounds": [None, [0, 1]]}, {"bounds": [[0, 100], [0, 1]]}),
        ({"kind": "covariance", "columns": ["yes", "z"]}, {"bounds": [None, [-0.5, 9.99]]}),
        ({"kind": "histogram", "column": "kind"}, {}),
        ({"kind": "histogram", "column": "yes"}, {}),
        ({"kind": "histogram", "column": "x", "edges": [0, "1.5", 3]}, {}),
        ({"kind": "histogram", "column": "x", "bins": 4}, {"bounds": [0, 100]}),
        ({"kind": "histogram", "column": "x", "bins": 4, "bounds": [0, 8]}, {}),
    ],
    ids=json.dumps,
)
def test_every_default_is_filled_in(table: Table, asked: dict[str, Any], answered: dict[str, Any]) -> None:
    """`statistic`: …, every default filled in. `bounds` default to the declared ones and may be narrower or wider."""
    statistic = table.plan(asked, epsilon=1).json()["statistic"]
    assert statistic.items() >= ({name: asked[name] for name in ("kind", "column", "columns") if name in asked}).items()
    assert statistic.items() >= answered.items()
    assert table.plan(statistic, epsilon=1).json()["statistic"] == statistic


def test_a_plan_debits_nothing_and_a_release_keeps_its_word(service: Service) -> None:
    """A plan reads no data and debits nothing. It answers 200 with everything below but `id`, `value`, `value_exact`,
    `value_in_range`, `interval` and `created_at`; its `charged` and `reused` say what a release would do now."""
    table = service.table(COLUMNS, "x,y,z,kind,yes\n" + "1,0,0,a,true\n" * 10)
    for question in ({"epsilon": "0.5"}, {"accuracy": 40, "alpha": "0.1"}, {"epsilon": "0.2"}, {"accuracy": 90}):
        with service.unchanged():
            plan = table.plan(MEAN, **question).json()
        release = table.release(MEAN, **question).json()
        assert plan["budget"]["charged"] == release["budget"]["charged"]
        assert plan["reused"] is release["reused"]
        assert release.keys() - plan.keys() == {"id", "value", "value_exact", "value_in_range", "created_at"}
        assert "interval" not in plan["accuracy"]


@pytest.mark.parametrize(
    ("epsilon", "repeatable"), [("0.5", 6), ("3", 1), ("3.000000001", 0), ("0.000000001", 3 * 10**9)]
)
def test_how_often_the_remaining_budget_affords_it(one_service: Service, epsilon: str, repeatable: int) -> None:
    """`budget.affordable`, `budget.repeatable` (how often the remaining budget affords it)."""
    for limit, allowance in (("3", "10"), ("10", "3")):
        table = one_service.table(COLUMNS, "x,y,z,kind,yes\n" + "1,0,0,a,true\n" * 10, limit=limit, allowance=allowance)
        budget = table.plan(MEAN, epsilon=epsilon).json()["budget"]
        assert (budget["affordable"], budget["repeatable"]) == (repeatable > 0, repeatable)
        assert (budget["dataset_remaining"], budget["allowance_remaining"]) == (limit, allowance)
        assert table.release(MEAN, epsilon=epsilon).status_code == (201 if repeatable else 409)


@pytest.mark.parametrize("statistic", [MEAN, {"kind": "histogram", "column": "x", "bins": 4}], ids=json.dumps)
def test_the_cliff_is_where_the_grid_halves(table: Table, statistic: dict[str, Any]) -> None:
    """`cliff` (`{"epsilon", "accuracy"}`, the next ε above at which the grid halves; null above the largest ε)."""
    plan = table.plan(statistic, epsilon="0.7", grid_refinement=0).json()
    cliff = Decimal(plan["cliff"]["epsilon"])
    beyond = table.plan(statistic, epsilon=str(cliff), grid_refinement=0).json()
    before = table.plan(statistic, epsilon=str(cliff - Decimal("1e-9")), grid_refinement=0).json()
    assert before["mechanism"]["grid"] == plan["mechanism"]["grid"] == 2 * beyond["mechanism"]["grid"]
    assert beyond["accuracy"]["radius"] == plan["cliff"]["accuracy"]
    assert table.plan(statistic, epsilon=1000, grid_refinement=0).json()["cliff"] is None
    assert table.plan(statistic, epsilon="0.3", grid_refinement="auto").json()["cliff"] is None


def test_accuracy_and_epsilon_agree(table: Table) -> None:
    """Exactly one of `epsilon` and `accuracy` (the notes' radius wanted; per bin for a histogram)."""
    for statistic in (MEAN, {"kind": "variance", "column": "y"}, {"kind": "histogram", "column": "kind"}):
        wide = table.plan(statistic, epsilon="0.9").json()
        plan = table.plan(statistic, accuracy=wide["accuracy"]["radius"]).json()
        assert plan["accuracy"]["radius"] <= wide["accuracy"]["radius"]
        assert Decimal(plan["privacy"]["epsilon"]) <= Decimal("0.9")


def test_bins_come_in_their_order(table: Table) -> None:
    """`bins`: intervals ascending or categories as declared (`false`, `true`), then `other` (categories), then
    `missing` (nullable); each has `kind` and `label` (`[2000, 3000)`, the last `]`), intervals `lower` and `upper`."""
    of_kinds = table.plan({"kind": "histogram", "column": "kind"}, epsilon=1).json()
    assert [tuple(one.values()) for one in of_kinds["bins"]] == [
        *(("category", "b"), ("category", "a"), ("other", "other"), ("missing", "missing"))
    ]
    of_truth = table.plan({"kind": "histogram", "column": "yes"}, epsilon=1).json()
    assert [tuple(one.values()) for one in of_truth["bins"]] == [("category", "false"), ("category", "true")]
    of_reals = table.plan({"kind": "histogram", "column": "y", "edges": ["-0.1", 0, "0.3"]}, epsilon=1).json()
    assert of_reals["bins"] == [
        {"kind": "interval", "label": "[-0.1, 0)", "lower": -0.1, "upper": 0},
        {"kind": "interval", "label": "[0, 0.3]", "lower": 0, "upper": 0.3},
        {"kind": "missing", "label": "missing"},
    ]
    assert of_reals["mechanism"]["epsilon_per_bin"] == 0.5
    assert of_reals["accuracy"]["simultaneous_radius"] > of_reals["accuracy"]["radius"]
    assert "simultaneous_radius" not in table.plan(MEAN, epsilon=1).json()["accuracy"]


def test_over_a_thousand_intervals_are_told_by_their_edges(table: Table) -> None:
    """Over 1,000 intervals `edges` stands instead of `bins` (null)."""
    answer = table.plan({"kind": "histogram", "column": "y", "bins": 1001}, epsilon=1).json()
    assert (answer["bins"], len(answer["edges"])) == (None, 1002)
    answer = table.plan({"kind": "histogram", "column": "y", "bins": 1000}, epsilon=1).json()
    assert (len(answer["bins"]), "edges" in answer) == (1001, False)


def test_the_ends_of_what_may_be_asked(table: Table) -> None:
    """`edges` (at most 10,000 given) or `bins` (at most 1,000,000). Bounds: at most 10¹⁰⁰ in size, at least 10⁻¹⁰⁰
    apart. 0 < α < 1, 0 < γ <= 1."""
    edges = [str(i) for i in range(10_000)]
    for statistic, members in (
        ({"kind": "histogram", "column": "x", "edges": edges}, {}),
        ({"kind": "histogram", "column": "x", "bins": 1_000_000}, {}),
        (MEAN | {"bounds": ["-1e100", "1e100"]}, {}),
        ({"kind": "covariance", "columns": ["y", "z"], "bounds": [["-1e100", "1e100"], ["-1e100", "1e100"]]}, {}),
        ({"kind": "variance", "column": "y", "bounds": ["-1e100", "1e100"]}, {}),
        (MEAN | {"bounds": ["0", "1e-100"]}, {}),
        (MEAN, {"alpha": "1e-999", "gamma": "1e-999"}),
        (MEAN, {"alpha": "0." + "9" * 40, "gamma": 1, "grid_refinement": 30}),
        (MEAN, {"epsilon": "1e-9"}),
    ):
        answer = table.plan(statistic, **{"epsilon": 1} | members)
        assert answer.status_code == 200, answer.text[:500]
    for statistic in (
        {"kind": "histogram", "column": "x", "edges": [*edges, "10000"]},
        {"kind": "histogram", "column": "x", "bins": 1_000_001},
        MEAN | {"bounds": [0, "1.0000000000000000000000000000000000000001e100"]},
        MEAN | {"bounds": [0, "9e-101"]},
    ):
        assert table.plan(statistic, epsilon=1).status_code == 422
