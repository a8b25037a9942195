"""Derived statistics in the browser: every kind is asked for as it was chosen, planned, paid once and shown."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"column": "body_mass_g", "bounds": ["2000", "7000"]}
BOTH = {"columns": ["body_mass_g", "bill_length_mm"], "bounds": [["2000", "7000"], ["30", "65"]]}
BINNED = MASS | {"bins": "10"}
TABLE = {"columns": ["body_mass_g", "bill_length_mm"], "bins": ["10", "10"], "bounds": BOTH["bounds"]}
KINDS = [
    ("standard_deviation", MASS),
    ("sum", MASS),
    ("proportion", {"column": "species", "category": "Adelie"}),
    ("correlation", BOTH),
    ("regression", BOTH),
    ("cumulative", BINNED),
    ("quantile", BINNED | {"probabilities": ["0.25", "0.5", "0.75"]}),
    ("margin", TABLE | {"column": "body_mass_g"}),
]


def form(dashboard: Dashboard, penguins: Penguins, kind: str) -> Page:
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/derived")
    page.get_by_label("Kind").select_option(kind)
    return page


def derived(page: Page) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for it: what was sent, and the service's answer."""
    with page.expect_response(lambda answer: answer.url.endswith("/derived")) as answered:
        page.get_by_role("button", name="Release", exact=True).click()
    page.locator(".result").wait_for()
    request = answered.value.request
    assert len(request.headers["idempotency-key"]) == 36
    return request.post_data_json["derived"], answered.value.json()


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
    for estimate in answer["estimates"].values():
        values = estimate["value"] if isinstance(estimate["value"], list) else [estimate["value"]]
        text = page.locator(".result").inner_text()
        figure = "{:}" if kind == "quantile" else "{:,}"  # a quantile may be a year
        assert all(value is None or figure.format(float(f"{value:.6g}")).removesuffix(".0") in text for value in values)
        assert kind != "quantile" or not re.search(r"\d,\d{3}", text)
    if kind == "cumulative":
        assert page.locator(".result tbody th").all_inner_texts()[:2] == ["below 2500", "below 3000"]
    dashboard.settled()
    dashboard.assert_accessible()


def test_a_mean_of_some_rows_and_then_for_nothing(opened: Opened, penguins: Penguins) -> None:
    page = form(opened(), penguins, "mean")
    page.get_by_label("Only rows by", exact=True).select_option("species")
    page.get_by_role("button", name="Add a condition").click()
    page.get_by_label("Gentoo").uncheck()
    sent, answer = derived(page)
    assert sent == {"kind": "mean", **MASS, "where": {"species": {"in": ["Adelie", "Chinstrap"]}}}
    expect(page.locator(".result h2")).to_be_focused()
    expect(page.get_by_text("Earlier releases answer this: it costs nothing.")).to_be_visible()
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
