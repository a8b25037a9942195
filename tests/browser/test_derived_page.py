"""Derived statistics in the browser: every kind is asked for as it was chosen, planned, paid once and shown."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from dashboard import Dashboard, Penguins, press_release, rounded, valued
from playwright.sync_api import Page, expect
from service_world import Service, key_of

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"column": "body_mass_g", "bounds": ["2000", "7000"]}
BOTH = {"columns": ["body_mass_g", "bill_length_mm"], "bounds": [["2000", "7000"], ["30", "65"]]}
KNOWN = {"missing": "exclude"}
BINNED = MASS | {"bins": "10"}
TABLE = {"columns": ["body_mass_g", "bill_length_mm"], "bins": ["10", "10"], "bounds": BOTH["bounds"]}
KINDS = [
    ("standard_deviation", MASS | KNOWN),
    ("sum", MASS | KNOWN),
    ("proportion", {"column": "species", "category": "Adelie"}),
    ("variance", MASS | KNOWN),
    ("correlation", BOTH | KNOWN),
    ("regression", BOTH | KNOWN),
    ("cumulative", BINNED),
    ("quantile", BINNED | {"probabilities": ["0.25", "0.5", "0.75"]}),
    ("margin", TABLE | {"column": "body_mass_g"}),
]


MEAN_OF_SOME = "Mean of some rows, weighted, or of the known values"


def form(dashboard: Dashboard, penguins: Penguins, kind: str) -> Page:
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/derived")
    page.get_by_label("Kind").select_option(kind)
    return page


def derived(page: Page) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for it: what was sent, and the service's answer."""
    with page.expect_response(lambda answer: answer.url.endswith("/derived")) as answered:
        press_release(page)
    page.locator(".result").wait_for()
    request = answered.value.request
    assert len(request.headers["idempotency-key"]) == 36
    return request.post_data_json["derived"], answered.value.json()


def shown(value: float, grouping: str) -> str:
    """A number as the dashboard spells it: six significant digits, or all of a whole one; tiny ones by an exponent."""
    if value != 0 and abs(value) < 1e-4:
        mantissa, _, exponent = f"{value:.4e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    return format(rounded(value), grouping).removesuffix(".0")


@pytest.mark.parametrize(("kind", "asked"), KINDS, ids=[kind for kind, _ in KINDS])
def test_every_kind(opened: Opened, penguins: Penguins, kind: str, asked: dict[str, Any]) -> None:
    dashboard = opened()
    page = form(dashboard, penguins, kind)
    page.get_by_text("This would cost ε 0.").wait_for()
    sent, answer = derived(page)
    assert sent == {"kind": kind, **asked}
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
            if kind == "quantile":  # it may be a year
                told = told[0].replace(",", ""), told[1].replace(",", "")
            assert set(told) <= set(re.split(r"[\t\n()]+", text))
    if kind == "cumulative":
        assert page.locator(".result tbody th").all_inner_texts()[:2] == ["below 2500", "below 3000"]
    dashboard.settled()
    dashboard.assert_accessible()


def test_a_mean_of_some_rows_and_then_for_nothing(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "mean")
    page.get_by_label("Filter by", exact=True).select_option("species")
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Gentoo").uncheck()
    sent, answer = derived(page)
    assert sent == {"kind": "mean", **MASS, "where": {"species": {"in": ["Adelie", "Chinstrap"]}}} | KNOWN
    expect(page.locator(".result h2")).to_be_focused()
    expect(page.get_by_text("Earlier releases answer this at no cost.")).to_be_visible()
    spent = sum(entry["kind"] == "debit" for entry in penguins.table.entries())
    assert spent == len(answer["components"]) == 2
    page.locator(".result table a").first.click()
    expect(page.locator("h1")).to_have_text(f"A release of {penguins.name}")


def test_a_lost_answer_is_had_again_on_its_own_page(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = form(dashboard, penguins, "sum")
    page.get_by_text("This would cost ε 0.").wait_for()
    page.evaluate(
        """([dataset, body]) => sessionStorage.setItem('snapledger.pending',
        JSON.stringify([{dataset, to: 'derived', body, key: 'a-key-of-a-lost-answer'}]))""",
        [penguins.name, {"derived": {"kind": "sum", **MASS}, "epsilon": "0.5"}],
    )
    page.get_by_role("link", name="Plan and release").click()
    page.get_by_label("Along the curve").wait_for()
    assert page.get_by_role("button", name="Ask for it again").count() == 0
    page.get_by_role("link", name="Derived").click()
    page.get_by_role("button", name="Ask for it again").click()
    page.locator(".result").wait_for()
    assert page.evaluate("sessionStorage.getItem('snapledger.pending')") == "[]"


def only(page: Page, column: str) -> None:
    page.get_by_label("Filter by", exact=True).select_option(column)
    page.get_by_role("button", name="Add a condition").click()


def test_a_share_of_rows_that_meet_conditions(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "proportion")
    page.get_by_label("Share of").select_option(label="rows that meet conditions")
    only(page, "species")
    page.get_by_label("Gentoo").uncheck()
    assert derived(page)[0] == {"kind": "proportion", "where": {"species": {"in": ["Adelie", "Chinstrap"]}}}


def test_a_share_of_what_is_true(opened: Opened, service: Service) -> None:
    table = service.table({"answer": {"kind": "boolean"}}, "answer\n" + "true\nfalse\n" * 20)
    page = form(opened(), Penguins.of(table, service), "proportion")
    assert derived(page)[0] == {"kind": "proportion", "column": "answer"}


def test_the_margin_of_the_second_column_over_some_rows(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "margin")
    page.get_by_label("Margin of").select_option(label="the second column")
    page.get_by_label("First column").select_option("species")
    page.get_by_label("Second column").select_option("body_mass_g")
    only(page, "species")
    where = {"species": {"in": ["Adelie", "Chinstrap", "Gentoo"]}}
    two = {"columns": ["species", "body_mass_g"], "bins": [None, "10"], "bounds": [None, ["2000", "7000"]]}
    sent, answer = derived(page)
    assert sent == {"kind": "margin", "column": "body_mass_g", **two, "where": where}
    rows = page.get_by_role("region", name="margin, with intervals").locator("tbody th").all_inner_texts()
    assert rows == [each["label"] for each in answer["bins"]]


def test_quantiles_of_some_rows(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "quantile")
    only(page, "bill_length_mm")
    page.get_by_label("To", exact=True).fill("45")
    sent, _ = derived(page)
    assert sent["where"] == {"bill_length_mm": {"between": ["30", "45"]}}


def test_the_method_of_quantiles(opened: Opened, penguins: Penguins) -> None:
    """The service chooses, unless the form does: then the answer is by that method."""
    page = form(opened(), penguins, "quantile")
    expect(page.get_by_text("A search needs fewer counts")).to_be_visible()
    page.get_by_label("Probabilities").fill("0.5")
    assert derived(page)[1]["derived"]["method"] == "histogram"  # of ten bins
    page.get_by_label("Method").select_option(label="search")
    sent, answer = derived(page)
    assert (sent["method"], answer["derived"]["method"]) == ("search", "search")
    assert [component["role"] for component in answer["components"]] == ["search"]


def test_the_width_of_an_interval_is_planned(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "mean")
    only(page, "species")
    page.get_by_label("Your guesses").fill("mean=4200, count=150")
    expect(page.get_by_text("with 95 % confidence would be about ±")).to_be_visible()
    page.get_by_label("Choose by").select_option("relative_accuracy")
    page.get_by_label("Accuracy wanted").fill("0.1")
    expect(page.get_by_text("about ± 420, if the guesses are right.")).to_be_visible()
    with page.expect_request(lambda request: request.url.endswith("/derived")) as asked:
        press_release(page)
    sent = asked.value.post_data_json
    assert (sent["relative_accuracy"], sent["guesses"]) == ("0.1", {"mean": "4200", "count": "150"})
    expect(page.locator(".result")).to_be_visible()


def test_a_mean_is_weighted_by_a_column(opened: Opened, service: Service) -> None:
    """By one whose bounds are at least 0; the two ways to treat missing values are compared, with their units."""
    columns = {
        "income": {"kind": "integer", "bounds": [-9, 90000], "unit": "€", "label": "Household income"},
        "persons": {"kind": "integer", "bounds": [0, 20], "nullable": False},
    }
    table = service.table(columns, "income,persons\n" + "30000,2\n50000,3\n" * 200, limit="100", allowance="100")
    page = form(opened(), Penguins.of(table, service), "mean")
    expect(page.get_by_label("Column")).to_contain_text("income: Household income (€)")
    weights = page.get_by_label("Weight", exact=True)
    assert weights.locator("option").all_inner_texts() == ["each row alike", "persons"]
    weights.select_option("persons")
    page.get_by_label("ε", exact=True).fill("10")
    page.get_by_label("Your guesses").fill("mean=40000, weight=2.5, count=390")
    compared = page.get_by_role("region", name="With and without missing values").locator("tbody tr")
    expect(compared.first).to_contain_text("€, if your guess is right")
    page.get_by_label("Your guesses").fill("")
    sent, answer = derived(page)
    asked = {"column": "income", "bounds": ["-9", "90000"], "weight": "persons"}
    assert sent == {"kind": "mean"} | asked | KNOWN
    assert answer["units"] == {"mean": "€"}
    expect(page.locator(".result .value")).to_contain_text("€")


def test_what_is_told_of_certainty_and_cost(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "standard_deviation")
    page.get_by_label("Missing values", exact=True).select_option(label="counted as the owner declared")
    page.get_by_text("More options").click()
    page.get_by_label("α", exact=True).fill("0.1")
    derived(page)
    expect(page.locator("#status")).to_have_text("Released for ε 0.5.")
    expect(page.locator(".result")).to_contain_text("The standard deviation is in the interval with 90 % confidence.")
    expect(page.locator("output")).to_have_text("for ε 0")
    press_release(page, costs=False)
    expect(page.locator("#status")).to_have_text("Earlier releases answered, at no cost.")
    known = page.get_by_role("region", name="The releases that it would be derived from").locator("tbody td").last
    expect(known).to_have_text("0, known")
    page.get_by_label("ε", exact=True).fill("6")
    expect(page.get_by_text("This costs more than you have left.")).to_be_visible()
    expect(page.locator("output")).to_have_text("for more than you have left")
    expect(page.locator(".verdict")).to_have_class("verdict refused")
    press_release(page, costs=False)
    expect(page.get_by_role("alert")).to_contain_text("Budget exhausted")
    assert sum(entry["kind"] == "debit" for entry in penguins.table.entries()) == 1


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ({"a": "category"}, ["Proportion"]),
        (
            {"a": "boolean"},
            ["Standard deviation", "Sum", "Proportion", MEAN_OF_SOME, "Variance of the known values"],
        ),
        (
            {"a": "category", "b": "integer"},
            [
                "Standard deviation",
                "Sum",
                "Proportion",
                MEAN_OF_SOME,
                "Variance of the known values",
                "Cumulative counts",
                "Quantiles",
                "Margin of a two-way table",
            ],
        ),
    ],
)
def test_only_what_a_table_allows_is_offered(
    opened: Opened, service: Service, columns: dict[str, str], kinds: list[str]
) -> None:
    declared = {"category": {"categories": ["x", "y"]}, "integer": {"bounds": [0, 9]}, "boolean": {}}
    described = {name: {"kind": kind, **declared[kind]} for name, kind in columns.items()}
    table = service.table(described, f"{','.join(columns)}\n" + f"{','.join('1' * len(columns))}\n" * 2)
    page = opened().sign_in(key_of(table.analyst), f"#/datasets/{table.name}/derived")
    assert page.get_by_label("Kind").locator("option").all_inner_texts() == kinds


def test_a_lost_answer_is_told_where_it_was_asked_and_can_be_given_up(
    opened: Opened, penguins: Penguins, service: Service
) -> None:
    other = Penguins.registered(service)
    dashboard = opened()
    page = form(dashboard, penguins, "sum")
    page.get_by_text("This would cost ε 0.").wait_for()
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
