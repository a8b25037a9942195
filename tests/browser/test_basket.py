"""A basket of questions: one price, one confirmation, all of them or none, and nothing paid twice."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from asking import ask_for, choose_categories, count_missing, wait_for
from dashboard import Dashboard, Penguins
from playwright.sync_api import Locator, Page, Route, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"kind": "mean", "column": "body_mass_g", "bounds": ["2000", "7000"]}
GENTOO = {"kind": "count", "where": {"species": {"in": ["Gentoo"]}}}


def basket(page: Page) -> Locator:
    return page.get_by_role("region", name="Basket")


def add(page: Page) -> None:
    """Add the question as it stands, and wait until the basket has its price again."""
    before = basket(page).get_by_role("listitem").count()
    page.get_by_role("button", name="Add to basket").click()
    expect(basket(page).get_by_role("listitem")).to_have_count(before + 1)
    basket(page).get_by_role("button", name="for").or_(basket(page).get_by_role("alert")).first.wait_for()


def two_questions(dashboard: Dashboard, penguins: Penguins) -> Page:
    page = ask_for(dashboard, penguins, "mean")
    count_missing(page)
    add(page)
    page.get_by_label("What you want to know").select_option("count")
    choose_categories(page, "species", "Gentoo")
    page.get_by_label("Precision").select_option("accuracy")
    page.get_by_label("Error", exact=True).fill("10")
    add(page)
    return page


def debits(penguins: Penguins) -> list[dict[str, Any]]:
    return [entry for entry in penguins.table.entries() if entry["kind"] == "debit"]


def confirm(page: Page) -> None:
    basket(page).get_by_role("button", name="Release all for").click()
    page.get_by_role("dialog").get_by_role("button", name="Release for ε").click()


def test_a_basket_is_one_release(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = two_questions(dashboard, penguins)
    plan = penguins.table.analyst.post(
        f"{penguins.table.path}/batches/plan",
        json={"items": [{"statistic": MASS, "epsilon": "0.5"}, {"statistic": GENTOO, "accuracy": "10"}]},
    ).json()
    total = plan["budget"]["charged"]
    rows = basket(page).get_by_role("listitem")
    expect(rows.first).to_contain_text("mean of body_mass_g [2000, 7000]")
    expect(rows.first).to_contain_text("ε 0.5")
    expect(rows.last).to_contain_text("count where species in Gentoo")
    assert float(total) == pytest.approx(0.5 + float(plan["items"][1]["charged"]))
    dashboard.settled()
    dashboard.assert_accessible()
    with page.expect_request(lambda request: request.url.endswith("/batches")) as asked:
        basket(page).get_by_role("button", name="Release all for").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(f"ε {total}")
        expect(dialog).to_contain_text("count where species in Gentoo")
        assert debits(penguins) == []
        dialog.get_by_role("button", name="Release for ε").click()
    sent = asked.value.post_data_json
    assert sent["items"] == [{"statistic": MASS, "epsilon": "0.5"}, {"statistic": GENTOO, "accuracy": "10"}]
    assert len(asked.value.headers["idempotency-key"]) == 36
    expect(page.locator(".result")).to_have_count(2)
    expect(page.locator(".result h2").first).to_be_focused()
    expect(page.locator("#status")).to_have_text(f"Released for ε {total}.")
    assert len(debits(penguins)) == 2
    expect(basket(page)).to_be_hidden()
    assert page.evaluate("sessionStorage.getItem('snapledger.basket')") == "{}"


def test_a_derived_statistic_is_paid_as_its_releases(opened: Opened, penguins: Penguins) -> None:
    """And follows from them for nothing, in the same step."""
    page = ask_for(opened(), penguins, "mean")
    add(page)
    expect(basket(page).get_by_role("listitem")).to_contain_text("known values")
    page.get_by_label("What you want to know").select_option("histogram")
    page.get_by_label("Column").select_option("species")
    add(page)
    confirm(page)
    expect(page.locator(".result")).to_have_count(2)
    expect(page.locator(".result h2").first).to_contain_text("known values")
    expect(page.locator(".result").first).to_contain_text("with 95 % confidence")
    assert len(debits(penguins)) == 3
    spent = sum(float(entry["epsilon"]) for entry in debits(penguins))
    assert spent == pytest.approx(1)
    derived = page.locator(".result").first
    expect(derived).to_contain_text(re.compile(r"Charged\s*ε 0\.5 in the basket, for its releases"))
    expect(derived.get_by_role("cell", name=re.compile(r"^0\.\d+, in the basket$"))).to_have_count(2)


def test_a_basket_stays_in_its_tab_and_is_priced_as_a_whole(opened: Opened, penguins: Penguins) -> None:
    page = two_questions(opened(), penguins)
    page.get_by_role("link", name="Overview").click()
    expect(basket(page)).to_be_hidden()  # the page before is gone
    page.get_by_role("link", name="Ask a question").click()
    expect(basket(page).get_by_role("listitem")).to_have_count(2)
    expect(basket(page).get_by_role("button", name="Release all for")).to_be_visible()  # so none is being priced
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/batches/plan", hold)
    basket(page).get_by_role("button", name="Remove from the basket: mean").click()
    expect(basket(page).get_by_role("listitem")).to_have_count(1)
    expect(basket(page).get_by_role("heading")).to_be_focused()  # before the price is known, and after
    wait_for(page, lambda: held)
    held[-1].continue_()
    page.unroute("**/batches/plan")
    expect(basket(page).get_by_role("button", name="Release all for")).not_to_contain_text("0.5")
    expect(basket(page).get_by_role("heading")).to_be_focused()
    basket(page).get_by_role("button", name="Empty the basket").click()
    expect(basket(page)).to_be_hidden()


def test_a_basket_has_no_question_twice_and_one_confidence(opened: Opened, penguins: Penguins) -> None:
    page = two_questions(opened(), penguins)
    plan = page.get_by_label("The plan")
    page.get_by_role("button", name="Add to basket").click()
    expect(plan.get_by_role("alert")).to_contain_text("in the basket already")
    page.get_by_label("Confidence").fill("99")
    page.get_by_role("button", name="Add to basket").click()
    expect(plan.get_by_role("alert")).to_contain_text("the same confidence")
    expect(basket(page).get_by_role("listitem")).to_have_count(2)


def test_what_two_questions_share_is_paid_once(opened: Opened, penguins: Penguins) -> None:
    """The sum of all rows is n times their mean: the basket costs less than its questions alone."""
    page = ask_for(opened(), penguins, "mean")
    count_missing(page)
    add(page)
    page.get_by_label("What you want to know").select_option("sum")
    add(page)
    expect(basket(page).get_by_role("listitem").last).to_contain_text("free")
    expect(basket(page).get_by_role("button", name="Release all for ε 0.5")).to_be_visible()


def test_a_basket_that_is_too_much_is_refused_as_a_whole(opened: Opened, service: Service) -> None:
    penguins = Penguins.registered(service, allowance="0.6")
    page = two_questions(opened(), penguins)
    page.get_by_label("What you want to know").select_option("histogram")
    page.get_by_label("ε", exact=True).fill("0.3")
    add(page)
    expect(basket(page)).to_contain_text("This costs more than you have left.")
    basket(page).get_by_role("button", name="Release all for").click()
    expect(basket(page).get_by_role("alert")).to_contain_text("Budget exhausted")
    assert debits(penguins) == []
    expect(basket(page).get_by_role("listitem")).to_have_count(3)


def test_a_lost_answer_of_a_basket_is_had_again_and_paid_once(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = two_questions(dashboard, penguins)
    keys: list[str] = []

    def lose(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) <= 5:
            route.fetch()  # the service has committed
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/batches", lose)
    confirm(page)
    expect(basket(page).get_by_role("alert")).to_contain_text("its answer was lost", timeout=30_000)
    page.reload()
    notice = page.locator(".notice", has_text="2 releases of a basket")
    notice.get_by_role("button", name="Ask for it again").click()
    expect(page.locator(".result")).to_have_count(2)
    assert len(keys) == 6
    assert len(set(keys)) == 1
    assert len(debits(penguins)) == 2
    assert json.loads(page.evaluate("sessionStorage.getItem('snapledger.pending')")) == []
    expect(basket(page)).to_be_hidden()
    dashboard.forgive("net::ERR_CONNECTION_RESET", times=5)
