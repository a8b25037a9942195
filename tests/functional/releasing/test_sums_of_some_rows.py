"""Sums of some rows are computed from whatever costs less: a plain sum, or a centred sum and a count."""

from typing import Any

import pytest
from service_world import Service, Table

COLUMNS: dict[str, dict[str, Any]] = {
    "mass": {"kind": "integer", "bounds": [2000, 7000]},
    "change": {"kind": "integer", "bounds": [-100, 100], "nullable": False},
    "k": {"kind": "category", "categories": ["s", "t"], "nullable": False},
}
N = 400
ROWS = "mass,change,k\n" + "".join(f"{2000 + 12 * i},{i % 201 - 100},{'st'[i % 2]}\n" for i in range(N))
IN_S = {"k": {"in": ["s"]}}
SUM: dict[str, Any] = {"kind": "sum", "column": "mass", "where": IN_S}
TRUTH = sum(2000 + 12 * i for i in range(0, N, 2))
COUNT = {"kind": "count", "where": IN_S}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, ROWS)


@pytest.fixture
def one_table(one_service: Service) -> Table:
    return one_service.table(COLUMNS, ROWS)


def ask(table: Table, derived: dict[str, Any], path: str = "derived", **asked: Any) -> dict[str, Any]:
    answer = table.analyst.post(f"{table.path}/{path}", json={"derived": derived, **asked})
    assert answer.is_success, answer.text
    document: dict[str, Any] = answer.json()
    return document


def roles(document: dict[str, Any]) -> dict[str, str]:
    return {each["role"]: each["charged"] for each in document["components"]}


def test_after_a_mean_of_some_rows_their_sum_is_free(table: Table) -> None:
    """Since the mean's components are a centred sum and a count; the plan says which releases answer."""
    mean = ask(table, SUM | {"kind": "mean"}, epsilon="3")
    planned = ask(table, SUM, "derived/plan", epsilon="0.5")
    assert roles(planned) == {"centred_sum": "0", "count": "0"}
    plain = table.plan({**SUM}, epsilon="0.5", grid_refinement="auto").json()["accuracy"]
    assert planned["expected"]["half_width"] <= plain["radius"] + plain["resolution"]
    document = ask(table, SUM, epsilon="0.5")
    assert (document["budget"]["charged"], roles(document)) == ("0", roles(planned))
    assert [each["release_id"] for each in document["components"]] == [
        each["release_id"] for each in mean["components"]
    ]
    assert document["derived"] == planned["derived"] == {**SUM, "bounds": [2000, 7000]}
    value, (low, high) = document["estimates"]["sum"]["value"], document["estimates"]["sum"]["interval"]
    assert (high - low) / 2 == pytest.approx(planned["expected"]["half_width"])
    assert low <= value <= high
    assert abs(value - TRUTH) < 4 * (high - low)
    assert table.budget()["epsilon_spent"] == "3"
    # For more accuracy than these releases have, whatever is cheapest is released.
    finer = ask(table, SUM, "derived/plan", epsilon="8")
    assert roles(finer) == {"sum": "8"}


def test_if_the_count_is_known_the_centred_sum_costs_less(one_table: Table) -> None:
    assert roles(ask(one_table, SUM, "derived/plan", epsilon="0.1")) == {"sum": "0.1"}
    known = one_table.fresh(COUNT, epsilon="2", grid_refinement="auto")
    planned = ask(one_table, SUM, "derived/plan", epsilon="0.1")
    charged = roles(planned)
    assert charged["count"] == "0"
    assert 0.06 < float(charged["centred_sum"]) < 0.08  # 5,000/7,000 of it, and what the count's noise takes
    assert planned["components"][1]["release_id"] == known["id"]
    document = ask(one_table, SUM, epsilon="0.1")
    assert roles(document) == charged
    assert document["epsilon"] == planned["epsilon"] == "0.1"
    assert float(one_table.budget()["epsilon_spent"]) == pytest.approx(2 + float(charged["centred_sum"]))
    again = ask(one_table, SUM, epsilon="0.1")
    assert (again["estimates"], again["budget"]["charged"]) == (document["estimates"], "0")
    # Another filter's count is of no use, and neither is any if nothing may be reused.
    assert set(roles(ask(one_table, SUM | {"where": {"k": {"in": ["t"]}}}, "derived/plan", epsilon="0.1"))) == {"sum"}
    assert roles(ask(one_table, SUM, "derived/plan", epsilon="0.1", reuse=False)) == {"sum": "0.1"}


def test_an_accuracy_is_met_by_what_is_cheapest(one_table: Table) -> None:
    plain = ask(one_table, SUM, "derived/plan", accuracy=200_000)
    one_table.fresh(COUNT, epsilon="2", grid_refinement="auto")
    planned = ask(one_table, SUM, "derived/plan", accuracy=200_000)
    assert set(roles(planned)) == {"centred_sum", "count"}
    assert planned["epsilon"] == plain["epsilon"]
    assert float(planned["budget"]["charged"]) < float(plain["budget"]["charged"])
    low, high = ask(one_table, SUM, accuracy=200_000)["estimates"]["sum"]["interval"]
    assert (high - low) / 2 <= 200_000


def test_sums_by_group_of_numbers_around_zero_cost_half(one_table: Table) -> None:
    """The centred sum is the sum then, and is drawn at the full ε for all groups."""
    asked = {"kind": "sum", "column": "change", "group_by": "k"}
    planned = ask(one_table, asked, "derived/plan", epsilon="1")
    ((role, charged),) = roles(planned).items()
    assert role == "centred_sum"
    assert float(charged) == pytest.approx(0.5, abs=0.01)
    document = ask(one_table, asked, epsilon="1")
    assert roles(document) == roles(planned)
    assert [each["label"] for each in document["bins"]] == ["s", "t", "other"]
    for low, high in document["estimates"]["sum"]["interval"]:
        assert (high - low) / 2 == pytest.approx(planned["expected"]["half_width"])


def test_sums_of_known_values_use_the_mean_s_releases(one_table: Table) -> None:
    known = {"kind": "mean", "column": "mass", "where": IN_S, "missing": "exclude"}
    ask(one_table, known, epsilon="3")
    document = ask(one_table, known | {"kind": "sum"}, epsilon="0.5")
    assert roles(document) == {"centred_sum": "0", "count": "0"}
    assert document["derived"] == {**SUM, "bounds": [2000, 7000], "missing": "exclude"}
