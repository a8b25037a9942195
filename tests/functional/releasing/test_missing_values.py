"""Means and what else follows from the known values, over HTTP, on households of whose incomes some are missing."""

import statistics
from typing import Any

import households
import httpx
import pytest
from service_world import Service, Table

MEAN = {"kind": "mean", "column": "income"}
KNOWN = {"income": {"is_missing": False}}
RULE = "counting missing values of income as 75,000; values outside 0 to 150,000 count as the nearer bound"
SURE = {"alpha": "1e-12"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(households.COLUMNS, households.as_csv(), limit="100", allowance="100")


def ask(table: Table, derived: dict[str, Any], **question: Any) -> httpx.Response:
    body = {"derived": derived | {"missing": "exclude"}, **SURE, **question}
    return table.analyst.post(f"{table.path}/derived", json=body, headers={"Idempotency-Key": str(derived)})


def test_the_mean_of_all_rows_says_how_it_counts_missing_values(table: Table) -> None:
    released = table.release(MEAN, epsilon=2, **SURE).json()
    low, high = released["accuracy"]["interval"]
    assert households.MEAN < 33_000 < low < 33_814.548 < high
    rule = {"missing_as": 75_000, "clamped_to": [0, 150_000], "rule": RULE}
    assert released["treatment"] == {"income": rule}
    assert f", {RULE}; this release cost ε = 2." in released["summary"]
    narrow = table.plan(MEAN | {"bounds": [0, 100_000]}, epsilon=1).json()
    assert narrow["summary"].endswith(" With these bounds, missing values of income count as 50,000, not as 75,000.")
    again = table.release(MEAN, epsilon="0.5", **SURE).json()
    assert (again["reused"], again["treatment"]) == (True, {"income": rule})


def test_the_mean_of_the_known_values(table: Table) -> None:
    """From two releases; each of them is known to whoever asks for the count, the share of the missing, or the mean."""
    known = ask(table, MEAN, epsilon=3).json()
    low, high = known["estimates"]["mean"]["interval"]
    assert low < households.MEAN < high < 33_000
    assert known["treatment"]["income"]["missing_as"] == "excluded"
    assert known["treatment"]["income"]["rule"].startswith("leaving out rows without a value of income; values outside")
    assert known["derived"] == MEAN | {"bounds": [0, 150_000], "missing": "exclude"}
    assert [each["charged"] for each in known["components"]] == ["2", "1"]
    missing = table.release({"kind": "missing", "column": "income"}, epsilon=1, **SURE).json()
    counted = table.release({"kind": "count", "where": KNOWN}, epsilon=1, **SURE).json()
    assert (missing["budget"]["charged"], counted["budget"]["charged"]) == ("0", "0")
    assert missing["value"] + counted["value"] == households.HOUSEHOLDS
    assert abs(missing["value"] - 215) <= missing["accuracy"]["radius"]
    assert "The number of the 5,000 rows without a value of income is " in missing["summary"]
    assert " % of all (" in missing["summary"]
    assert missing["statistic"] == {"kind": "missing", "column": "income"}
    plain = table.release(MEAN, epsilon=1, **SURE).json()
    assert (plain["budget"]["charged"], plain["id"]) == ("0", known["components"][0]["release_id"])
    assert plain["accuracy"]["interval"][0] < 33_814.548 < plain["accuracy"]["interval"][1]
    total = ask(table, MEAN | {"kind": "sum"}, epsilon=1).json()["estimates"]["sum"]["interval"]
    assert total[0] < households.MEAN * households.KNOWN < total[1]


def test_the_mean_of_each_region_is_one_call_at_the_price_of_two_releases(table: Table) -> None:
    truths: dict[str, list[int]] = {region: [] for region in households.REGIONS}
    for income, _, region in households.households():
        truths[region] += [] if income is None else [income]
    answer = ask(table, MEAN | {"group_by": "region"}, epsilon=4).json()
    assert (answer["budget"]["charged"], len(answer["components"])) == ("4", 2)
    assert [each["label"] for each in answer["bins"]] == [*households.REGIONS, "other"]
    for incomes, (low, high) in zip(truths.values(), answer["estimates"]["mean"]["interval"], strict=False):
        assert low < sum(incomes) / len(incomes) < high


def test_the_spread_of_some_known_values(table: Table) -> None:
    region = households.REGIONS[0]
    incomes = [income for income, _, each in households.households() if each == region and income is not None]
    spread = MEAN | {"kind": "variance", "where": {"region": region}}
    plan = table.analyst.post(
        f"{table.path}/derived/plan",
        json={"derived": spread | {"missing": "exclude"}, "epsilon": 40, "guesses": {"standard_deviation": 9000}},
    )
    assert (plan.status_code, plan.json()["errors"][0]["where"]) == (422, "guesses.count")
    answer = ask(table, spread, epsilon=40).json()
    low, high = answer["estimates"]["variance"]["interval"]
    assert low < statistics.variance(incomes) < high
    assert answer["derived"]["where"] == {"region": {"in": [region]}}
    assert answer["treatment"]["income"]["missing_as"] == "excluded"


def test_the_spread_of_the_known_values_shares_its_count(table: Table) -> None:
    spread = ask(table, MEAN | {"kind": "variance"}, epsilon=4).json()
    low, high = spread["estimates"]["variance"]["interval"]
    incomes = [income for income, *_ in households.households() if income is not None]
    variance = sum((income - households.MEAN) ** 2 for income in incomes) / (len(incomes) - 1)
    assert low < variance < high < 4 * variance
    root = ask(table, MEAN | {"kind": "standard_deviation"}, epsilon=4).json()
    assert root["budget"]["charged"] == "0"
    line = ask(table, {"kind": "regression", "columns": ["size", "income"]}, epsilon=4).json()
    assert [each["role"] for each in line["components"]] == ["covariance", "variance_x", "sum_x", "sum_y", "count"]
    assert [each["reused"] for each in line["components"]] == [False] * 4 + [True]


def test_what_only_all_rows_have(table: Table) -> None:
    """Each refusal says what to do instead, and charges nothing."""
    for statistic in (MEAN | {"missing": "exclude"}, {"kind": "variance", "column": "income", "missing": "exclude"}):
        refused = table.release(statistic, epsilon=1)
        assert refused.status_code == 422
        (error,) = refused.json()["errors"]
        assert error["where"] == "statistic"
        assert error["what"].endswith("is derived: send it to `derived`")
    assert ask(table, {"kind": "proportion", "column": "region", "category": "Corse"}, epsilon=1).status_code == 422
    assert table.release({"kind": "missing", "column": "region"}, epsilon=1).status_code == 422
    assert table.budget()["epsilon_spent"] == "0"
