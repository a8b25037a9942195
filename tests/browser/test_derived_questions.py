"""Derived statistics in the browser: every kind is asked for as it was chosen, planned, paid once and shown."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from asking import ask_for, at_least, choose_categories, count_missing, release, unfold
from dashboard import Dashboard, Penguins, press_release, valued
from playwright.sync_api import Page, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"column": "body_mass_g", "bounds": ["2000", "7000"]}
BOTH = {"columns": ["body_mass_g", "bill_length_mm"], "bounds": [["2000", "7000"], ["30", "65"]]}
KNOWN = {"missing": "exclude"}
BINNED = MASS | {"bins": "10"}
TABLE = {"columns": ["body_mass_g", "bill_length_mm"], "bins": ["10", "10"], "bounds": BOTH["bounds"]}
SOME = {"where": {"species": {"in": ["Adelie", "Chinstrap"]}}}
KINDS = [
    ("mean", MASS | KNOWN),
    ("standard_deviation", MASS | KNOWN),
    ("sum", MASS | KNOWN),
    ("proportion", {"column": "species", "category": "Adelie"}),
    ("variance", MASS | KNOWN),
    ("covariance", BOTH | KNOWN),
    ("correlation", BOTH | KNOWN),
    ("regression", BOTH | KNOWN),
    ("cumulative", BINNED),
    ("quantile", MASS | {"bins": "100", "probabilities": ["0.5"]}),
    ("margin", TABLE | {"column": "body_mass_g"}),
]


def planned(page: Page) -> None:
    page.get_by_label("The plan").get_by_text("Nothing is charged until you release.").wait_for()


@pytest.mark.parametrize(("kind", "asked"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_kind(opened: Opened, penguins: Penguins, kind: str, asked: dict[str, Any]) -> None:
    dashboard = opened()
    page = ask_for(dashboard, penguins, kind)
    planned(page)
    sent = release(page)
    answer = sent.answer
    assert (sent.to, sent.statistic) == ("derived", {"kind": kind, **asked})
    assert len(sent.key) == 36
    links = page.locator(".result table a")
    assert links.count() == len(answer["components"])
    for at, component in enumerate(answer["components"]):
        assert links.nth(at).get_attribute("href").endswith(component["release_id"])
    text = page.locator(".result").inner_text()
    for estimate in answer["estimates"].values():
        several = isinstance(estimate["value"], list)
        values, intervals = (estimate[name] if several else [estimate[name]] for name in ("value", "interval"))
        for value, ends in zip(values, intervals, strict=True):
            if None in {value, *ends}:
                continue
            told = valued(value, *ends, whole=kind in {"cumulative", "margin"})
            assert set(told) <= set(re.split(r"[\t\n()]+", text))
    if kind == "cumulative":
        assert page.locator(".result tbody th").all_inner_texts()[:2] == ["below 2500", "below 3000"]
    dashboard.settled()
    dashboard.assert_accessible()


@pytest.mark.parametrize("kind", ["mean", "sum", "variance", "standard_deviation", "covariance", "correlation"])
def test_every_statistic_of_numbers_takes_a_filter(opened: Opened, penguins: Penguins, kind: str) -> None:
    page = ask_for(opened(), penguins, kind)
    choose_categories(page, "species", "Adelie", "Chinstrap")
    of = BOTH if kind in {"covariance", "correlation"} else MASS
    planned(page)
    assert release(page).statistic == {"kind": kind, **of, **SOME, **KNOWN}


def test_a_regression_of_some_rows(opened: Opened, service: Service) -> None:
    penguins = Penguins.registered(service, limit="100", allowance="100")
    page = ask_for(opened(), penguins, "regression")
    at_least(page, "body_mass_g", "3000")
    page.get_by_label("ε", exact=True).fill("9")
    where = {"where": {"body_mass_g": {"at_least": "3000"}}}
    assert release(page).statistic == {"kind": "regression", **BOTH, **where, **KNOWN}


def test_a_mean_of_some_rows_and_then_for_nothing(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "mean")
    choose_categories(page, "species", "Adelie", "Chinstrap")
    sent = release(page)
    assert sent.statistic == {"kind": "mean", **MASS, **SOME, **KNOWN}
    expect(page.locator(".result h2")).to_be_focused()
    expect(page.get_by_label("The plan").get_by_text("Earlier releases answer this.")).to_be_visible()
    spent = sum(entry["kind"] == "debit" for entry in penguins.table.entries())
    assert spent == len(sent.answer["components"]) == 2
    page.locator(".result table a").first.click()
    expect(page.locator("h1")).to_have_text(f"A release of {penguins.name}")


def test_a_mean_for_each_group(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "mean")
    page.get_by_label("For each").select_option("species")
    expect(page.get_by_label("Rows in each group")).to_have_value("114")  # supposed: a third of 344
    expect(page.get_by_text("A small group has a wider one.")).to_be_visible()
    assert release(page).statistic == {"kind": "mean", **MASS, "group_by": "species", **KNOWN}
    expect(page.locator(".result tbody th").first).to_have_text("Adelie")


def test_a_lost_answer_is_had_again(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "sum")
    planned(page)
    page.evaluate(
        """([dataset, body]) => sessionStorage.setItem('snapledger.pending',
        JSON.stringify([{dataset, to: 'derived', body, key: 'a-key-of-a-lost-answer'}]))""",
        [penguins.name, {"derived": {"kind": "sum", **MASS}, "epsilon": "0.5"}],
    )
    page.get_by_role("link", name="Releases").click()
    page.get_by_text("There are no releases yet").wait_for()
    assert page.get_by_role("button", name="Ask for it again").count() == 0
    page.get_by_role("link", name="Ask a question").click()
    page.get_by_role("button", name="Ask for it again").click()
    page.locator(".result").wait_for()
    assert page.evaluate("sessionStorage.getItem('snapledger.pending')") == "[]"


def test_a_share_of_rows_that_meet_conditions(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "proportion")
    page.get_by_label("Share of").select_option(label="rows that meet the filter")
    expect(page.get_by_text("Choose a filter: the share is of the rows that meet it.")).to_be_visible()
    choose_categories(page, "species", "Adelie", "Chinstrap")
    expect(page.get_by_text("percentage points").first).to_be_visible()
    assert release(page).statistic == {"kind": "proportion", **SOME}


def test_an_error_of_a_share_is_in_percentage_points(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "proportion")
    planned(page)
    page.get_by_label("Precision").select_option("accuracy")
    page.get_by_label("Error", exact=True).fill("2.5")
    assert release(page).body["accuracy"] == "0.025"


def test_a_share_of_what_is_true(opened: Opened, service: Service) -> None:
    table = service.table(
        {"answer": {"kind": "boolean"}, "age": {"kind": "integer", "bounds": [0, 9]}},
        "answer,age\n" + "true,1\nfalse,5\n" * 20,
    )
    page = ask_for(opened(), Penguins.of(table, service), "proportion")
    assert release(page).statistic == {"kind": "proportion", "column": "answer"}
    at_least(page, "age", "4")  # among some rows, it is their mean
    where = {"age": {"at_least": "4"}}
    assert release(page).statistic == {"kind": "mean", "column": "answer", "where": where}


def test_a_share_in_each_group(opened: Opened, service: Service) -> None:
    columns = {
        "answer": {"kind": "category", "categories": ["yes", "no"]},
        "town": {"kind": "category", "categories": ["a", "b"]},
        "age": {"kind": "integer", "bounds": [0, 9]},
    }
    table = service.table(columns, "answer,town,age\n" + "yes,a,1\nno,b,5\n" * 20)
    page = ask_for(opened(), Penguins.of(table, service), "proportion")
    at_least(page, "age", "4")
    expect(page.get_by_text("The filter does not apply")).to_be_visible()
    page.get_by_label("For each").select_option("town")
    expect(page.get_by_text("The filter does not apply")).to_be_hidden()
    shared = {"column": "answer", "category": "yes", "group_by": "town", "where": {"age": {"at_least": "4"}}}
    assert release(page).statistic == {"kind": "proportion", **shared}


def test_the_margin_of_the_second_column_over_some_rows(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "margin")
    page.get_by_label("First column").select_option("species")
    page.get_by_label("Second column").select_option("body_mass_g")
    page.get_by_label("Counts of").select_option(label="the second column")
    choose_categories(page, "species", "Adelie", "Chinstrap")
    two = {"columns": ["species", "body_mass_g"], "bins": [None, "10"], "bounds": [None, ["2000", "7000"]]}
    sent = release(page)
    assert sent.statistic == {"kind": "margin", "column": "body_mass_g", **two, **SOME}
    rows = page.get_by_role("region", name="margin, with intervals").locator("tbody th").all_inner_texts()
    assert rows == [each["label"] for each in sent.answer["bins"]]


def test_quantiles_of_some_rows(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "quantile")
    page.get_by_label("Percentages").fill("25, 50, 97.5")
    at_least(page, "bill_length_mm", "45")
    sent = release(page).statistic
    assert sent["where"] == {"bill_length_mm": {"at_least": "45"}}
    assert sent["probabilities"] == ["0.25", "0.5", "0.975"]


def test_the_method_of_quantiles(opened: Opened, penguins: Penguins) -> None:
    """The service chooses, unless the form does: then the answer is by that method."""
    page = ask_for(opened(), penguins, "quantile")
    unfold(page, "Intervals of body_mass_g")
    page.get_by_label("How many").fill("10")
    unfold(page, "Advanced")
    expect(page.get_by_text("An adaptive histogram needs fewer counts")).to_be_visible()
    assert release(page).answer["derived"]["method"] == "histogram"  # of ten bins
    page.get_by_label("Method").select_option(label="search")
    sent = release(page)
    assert (sent.statistic["method"], sent.answer["derived"]["method"]) == ("search", "search")
    assert [component["role"] for component in sent.answer["components"]] == ["search"]
    page.get_by_label("What you want to know").select_option("mean")
    expect(page.get_by_label("Method")).to_be_hidden()


def test_the_width_of_an_interval_is_planned(opened: Opened, penguins: Penguins) -> None:
    """Before paying, from guesses: supposed ones first, and then those that somebody types."""
    page = ask_for(opened(), penguins, "mean")
    at_least(page, "bill_length_mm", "35")
    mean, count = page.get_by_label("Mean of body_mass_g"), page.get_by_label("Rows that count")
    expect(mean).to_have_value("3250")  # a quarter of the way up
    expect(count).to_have_value("172")  # half of the rows
    mean.fill("4200")
    count.fill("150")
    expect(page.get_by_text("would be about this wide if the guesses below are right")).to_be_visible()
    page.get_by_label("Precision").select_option("relative_accuracy")
    page.get_by_label("Error in percent").fill("10")
    expect(page.get_by_role("img", name="An interval of ± 420 in the possible range")).to_be_visible()
    sent = release(page).body
    assert (sent["relative_accuracy"], sent["guesses"]) == ("0.1", {"mean": "4200", "count": "150"})
    expect(page.locator(".result")).to_be_visible()


def test_a_mean_is_weighted_by_a_column(opened: Opened, service: Service) -> None:
    """By one whose bounds are at least 0; the two ways to treat missing values are compared, with their units."""
    columns = {
        "income": {"kind": "integer", "bounds": [-9, 90000], "unit": "€", "label": "Household income"},
        "persons": {"kind": "integer", "bounds": [0, 20], "nullable": False},
    }
    table = service.table(columns, "income,persons\n" + "30000,2\n50000,3\n" * 200, limit="100", allowance="100")
    page = ask_for(opened(), Penguins.of(table, service), "mean")
    unfold(page, "Advanced")
    weights = page.get_by_label("Weight", exact=True)
    assert weights.locator("option").all_inner_texts() == ["each row alike", "weighted by persons"]
    weights.select_option("persons")
    page.get_by_label("ε", exact=True).fill("10")
    page.get_by_label("Mean of Household income (€)").fill("40000")
    page.get_by_label("Mean of persons").fill("2.5")
    note = page.get_by_role("group", name="What counts")
    expect(note.get_by_text("instead, the same ε gives ±")).to_contain_text("€")
    sent = release(page)
    asked = {"column": "income", "bounds": ["-9", "90000"], "weight": "persons"}
    assert sent.statistic == {"kind": "mean"} | asked | KNOWN
    assert sent.answer["units"] == {"mean": "€"}
    expect(page.locator(".result .value")).to_contain_text("€")


def test_what_is_told_of_certainty_and_cost(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "standard_deviation")
    count_missing(page)
    page.get_by_label("Confidence").fill("90")
    assert release(page).body["alpha"] == "0.1"
    expect(page.locator("#status")).to_have_text("Released for ε 0.5.")
    expect(page.locator(".result")).to_contain_text("The standard deviation is in the interval with 90 % confidence.")
    expect(page.locator("output")).to_contain_text("for nothing")
    press_release(page, costs=False)
    expect(page.locator("#status")).to_have_text("Earlier releases answered, at no cost.")
    unfold(page, "Exact figures")
    known = page.get_by_role("region", name="The releases that it would be derived from").locator("tbody td").last
    expect(known).to_have_text("0, known")
    page.get_by_label("ε", exact=True).fill("6")
    plan = page.get_by_label("The plan")
    expect(plan.get_by_text("This costs more than you have left.")).to_be_visible()
    expect(page.locator("output")).to_contain_text("for more than you have left")
    expect(plan.locator(".verdict")).to_have_class("verdict refused")
    press_release(page, costs=False)
    expect(plan.get_by_role("alert")).to_contain_text("Budget exhausted")
    assert sum(entry["kind"] == "debit" for entry in penguins.table.entries()) == 1


def test_a_lost_answer_is_told_where_it_was_asked_and_can_be_given_up(
    opened: Opened, penguins: Penguins, service: Service
) -> None:
    other = Penguins.registered(service)
    dashboard = opened()
    page = ask_for(dashboard, penguins, "sum")
    planned(page)
    body = {"derived": {"kind": "sum", "column": "nowhere"}, "epsilon": "0.5"}
    requests = [
        {"dataset": name, "to": "derived", "body": body, "key": key}
        for name, key in ((penguins.name, "first"), (penguins.name, "second"), (other.name, "third"))
    ]
    page.evaluate("(all) => sessionStorage.setItem('snapledger.pending', JSON.stringify(all))", requests)
    page.reload()
    again = page.get_by_role("button", name="Ask for it again")
    expect(again).to_have_count(2)
    page.get_by_role("button", name="Dismiss").first.click()
    expect(again).to_have_count(1)
    kept = "JSON.parse(sessionStorage.getItem('snapledger.pending')).map(({ key }) => key)"
    assert page.evaluate(kept) == ["second", "third"]
    again.click()
    expect(page.get_by_role("alert")).to_contain_text("is not a column of this dataset")
    assert page.evaluate(kept) == ["third"]  # a refusal is an answer
