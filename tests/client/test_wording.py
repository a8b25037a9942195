"""How answers are told: what an error bar holds for, years, spoken names and units."""

import copy
import json
from importlib.resources import files
from typing import Any

from snapledger_client import Batch, BatchPlan, Derived, Plan, Release
from snapledger_client.models.releases import parse_release

STORY = json.loads((files("app.api.openapi") / "examples.json").read_text())
ESTIMATE = next(each["response"] for each in STORY if each["path"].endswith("/releases") and each["status"] == 201)
DERIVED = next(each["response"] for each in STORY if each["path"].endswith("/derived") and each["status"] == 201)
BINNED = {"kind": "count", "group_by": "species"}


def find_answer(path: str, status: int = 200) -> dict[str, Any]:
    """Return a copy of the recorded answer of a path."""
    return copy.deepcopy(
        next(each["response"] for each in STORY if each["path"].endswith(path) and each["status"] == status)
    )


def make_release(**members: Any) -> Release:
    return parse_release(copy.deepcopy(ESTIMATE) | members)


def make_groups() -> dict[str, Any]:
    """Return the answer of two counts."""
    accuracy = ESTIMATE["accuracy"] | {"radius": 2, "simultaneous_radius": 3, "interval": [[1, 5], [2, 6]]}
    bins = [{"kind": "category", "label": label} for label in ("Adelie", "Gentoo")]
    counts = {"value": [3, 4], "value_exact": ["3", "4"], "value_in_range": [3, 4]}
    return copy.deepcopy(ESTIMATE) | counts | {"statistic": BINNED, "accuracy": accuracy, "bins": bins}


def make_derived(statistic: dict[str, Any], value: Any, interval: Any, **members: Any) -> Derived:
    estimates = {statistic["kind"]: {"value": value, "interval": interval}}
    return Derived.model_validate(copy.deepcopy(DERIVED) | {"derived": statistic, "estimates": estimates} | members)


def shown(answer: Any) -> str:
    """What a notebook shows."""
    return str(answer._repr_html_())


def test_a_radius_of_several_numbers_holds_for_each() -> None:
    groups = parse_release(make_groups())
    for text in (str(groups), shown(groups)):
        assert "2 bins, each ± 2.0 (95 %)" in text
    batch = find_answer("/batches", 201)
    assert "2 numbers, each ± 2.0 (95 %)" in str(Batch.parse(json.dumps(batch | {"items": [make_groups()]}).encode()))
    assert "each" not in str(make_release())


def test_a_planned_radius_of_several_numbers_holds_for_each() -> None:
    document = find_answer("{name}/plan")
    assert "each" not in str(Plan.model_validate(document))
    plan = Plan.model_validate(document | {"statistic": BINNED})
    assert str(plan).startswith("count by species: each within ± ")
    assert ">each ± " in shown(plan)
    again = Plan.model_validate(document | {"statistic": BINNED, "reused_accuracy": document["accuracy"]})
    assert "an earlier release answers it at no cost, each within ± " in str(again)
    rows = str(BatchPlan.model_validate(find_answer("/batches/plan"))).splitlines()
    assert [" each ± " in row for row in rows if " of b" in row] == [False, False, True]  # the last is a histogram


def test_intervals_that_follow_hold_together() -> None:
    quantile = {"kind": "quantile", "column": "x", "probabilities": ["0.25", "0.5"], "bounds": [0, 9]}
    several = make_derived(quantile, [2, 4], [[1, 3], [3, 5]])
    assert "2 values, 95 % together;" in str(several)
    assert "95 % together, from " in shown(several)
    single = make_derived(quantile | {"probabilities": ["0.5"]}, [4], [[3, 5]])
    assert "95 %;" in str(single)
    assert "together" not in str(single) + shown(single)


def test_years_have_no_separators_and_other_numbers_have_them() -> None:
    year = {"kind": "mean", "column": "birth_year", "bounds": [1900, 2020]}
    accuracy = {**ESTIMATE["accuracy"], "radius": 1.5, "interval": [1977.32, 1980.32]}
    mean = make_release(statistic=year, value_in_range=1978.82, accuracy=accuracy)
    for text in (str(mean), shown(mean)):
        assert "1978.8 ± 1.6" in text
        assert "1,97" not in text
    income = make_release(statistic=year | {"column": "income"}, value_in_range=1978.82, accuracy=accuracy)
    assert "1,978.8 ± 1.6" in str(income)
    in_years = {"columns": {"born": {"unit": "year"}}}
    mean = make_release(statistic=year | {"column": "born"}, value_in_range=1978.82, accuracy=accuracy, **in_years)
    assert "1978.8 ± 1.6" in str(mean)
    median = {"kind": "quantile", "column": "born", "probabilities": ["0.5"], "bounds": [1900, 2020]}
    assert "2,215 (1,950 to 2,350)" in str(make_derived(median | {"bounds": [0, 9000]}, [2215], [[1950, 2350]]))
    assert "1984 (1950 to 2010)" in str(make_derived(median, [1984], [[1950, 2010]], **in_years))
    dates = median | {"column": "year_of_birth", "bounds": ["1900-01-01", "2020-01-01"]}
    assert "1,984 (" in str(make_derived(dates, [1984], [[1950, 2010]]))


def test_kinds_are_spoken() -> None:
    spread = {"kind": "standard_deviation", "column": "x", "bounds": [0, 9]}
    for text in (str(make_derived(spread, 2, [1, 3])), shown(make_derived(spread, 2, [1, 3]))):
        assert "standard deviation of x" in text
        assert "standard_deviation" not in text
