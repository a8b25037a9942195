"""Plan and release in the browser: what is shown is what the service says, and nothing is ever paid twice."""

import json
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from itertools import pairwise
from typing import Any

import pytest
from dashboard import Dashboard, Penguins, measured, press_release, rounded
from playwright.sync_api import Page, Route, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"kind": "mean", "column": "body_mass_g", "bounds": ["2000", "7000"]}


def planner(dashboard: Dashboard, penguins: Penguins, key: str | None = None) -> Page:
    page = dashboard.sign_in(key or penguins.analyst_key, f"#/datasets/{penguins.name}/plan")
    page.get_by_label("Kind").wait_for()
    return page


def debits(penguins: Penguins) -> list[dict[str, Any]]:
    return [entry for entry in penguins.table.entries() if entry["kind"] == "debit"]


def shown(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """A number as the dashboard spells it: six significant digits."""
    return f"{rounded(value, rounding):,}".removesuffix(".0")


def radius_of(document: dict[str, Any]) -> str:
    """A radius as the dashboard spells it, rounded up."""
    return shown(document["accuracy"]["radius"], ROUND_CEILING)


def fact(page: Page, name: str, within: str = "main") -> str:
    found = page.locator(f"{within} dl > div").filter(has=page.locator("dt", has_text=name).first).first
    return found.locator("dd").inner_text()


def test_a_plan_is_the_service_s_own(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("Column").select_option("bill_length_mm")
    page.get_by_label("Lower").fill("32")
    page.get_by_label("Upper").fill("60")
    page.get_by_label("ε", exact=True).fill("0.25")
    page.get_by_text("This would cost ε 0.25.").wait_for()
    expect(page.get_by_text("A better buy")).to_have_count(0)  # the default grid of a mean has no cliffs
    statistic = {"kind": "mean", "column": "bill_length_mm", "bounds": ["32", "60"]}
    plan = penguins.table.plan(statistic, epsilon="0.25").json()
    assert fact(page, "Radius") == f"± {radius_of(plan)}"
    assert fact(page, "Your budget covers") == f"{plan['budget']['repeatable']} of these"
    assert fact(page, "Left of your allowance") == f"ε {plan['budget']['allowance_remaining']}"


def test_an_accuracy_is_a_part_of_the_guess(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("Your guess").fill("4000")
    page.get_by_label("Choose by").select_option("relative_accuracy")
    page.get_by_label("Radius wanted, as a part of the guess").fill("0.05")
    plan = penguins.table.plan({"kind": "mean", "column": "body_mass_g"}, accuracy=200).json()
    page.get_by_text(f"This would cost ε {plan['privacy']['epsilon']}.").wait_for()
    press_release(page)
    expect(page.locator(".result")).to_be_visible()


def test_the_mean_of_the_known_values_is_offered_first(opened: Opened, penguins: Penguins) -> None:
    """Beside the mean that counts missing values: what each costs and how wide its interval is."""
    page = planner(opened(), penguins)
    compared = page.get_by_role("region", name="With and without missing values").locator("tbody tr")
    expect(compared).to_contain_text(["ε 0.5, 2 releases", "ε 0.5"])
    expect(compared.first).to_contain_text("known with your guess")
    page.get_by_label("Your guess").fill("4000")
    expect(compared.first).to_contain_text("if your guess is right")
    body = {"derived": MASS | {"missing": "exclude"}, "epsilon": "0.5", "guesses": {"mean": "4000"}}
    plan = penguins.table.analyst.post(f"{penguins.table.path}/derived/plan", json=body).json()
    width = shown(plan["expected"]["half_width"], ROUND_CEILING)
    expect(compared.first).to_contain_text(f"about ± {width}, if your guess is right")
    compared.first.get_by_role("link", name="left out").click()
    expect(page.get_by_label("Missing values", exact=True)).to_have_value("exclude")


def test_a_release_is_paid_shown_and_found_again(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    page.get_by_text("This would cost ε 0.5.").wait_for()
    with page.expect_request(lambda request: request.url.endswith("/releases") and request.method == "POST") as asked:
        press_release(page)
    assert len(asked.value.headers["idempotency-key"]) == 36
    assert asked.value.post_data_json["epsilon"] == "0.5"  # the decimal that was typed, as a text
    page.locator(".result").wait_for()
    (stored,) = penguins.table.analyst.get(f"{penguins.table.path}/releases").json()["releases"]
    told = measured(stored["value_in_range"], stored["accuracy"]["radius"])
    assert page.locator(".value").inner_text() == told
    assert stored["summary"].startswith(f"The mean of body_mass_g over all 344 rows is {told} ")
    assert len(debits(penguins)) == 1
    expect(page.locator("#status")).to_have_text("Released for ε 0.5.")
    expect(page.get_by_text("An earlier release answers this at no cost.")).to_be_visible()
    assert page.evaluate("document.activeElement.textContent") == "mean of body_mass_g [2000, 7000]"
    press_release(page, costs=False)
    expect(page.locator("#status")).to_have_text("An earlier release answered, at no cost.")
    assert len(debits(penguins)) == 1
    page.get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="mean of body_mass_g [2000, 7000]").click()
    page.get_by_text("95 % confidence").first.wait_for()
    assert page.evaluate("sessionStorage.getItem('snapledger.pending')") == "[]"


def test_enter_plans_and_pays_nothing(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("ε", exact=True).fill("0.25")
    page.get_by_label("ε", exact=True).press("Enter")
    page.get_by_text("This would cost ε 0.25.").wait_for()
    page.get_by_label("Your guess").press("Enter")
    assert page.get_by_role("dialog").count() == 0
    assert debits(penguins) == []


def test_a_release_is_paid_only_after_it_was_told_what_it_costs(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    page.get_by_text("This would cost ε 0.5.").wait_for()
    page.get_by_role("button", name="Release", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The mean of body_mass_g over all 344 rows would cost ε = 0.5")
    assert fact(page, "Left of your allowance after it", within="dialog") == "ε 3.5"
    assert fact(page, "Left of the dataset's budget after it", within="dialog") == "ε 9.5"
    dashboard.assert_accessible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert debits(penguins) == []
    press_release(page)
    page.locator(".result").wait_for()
    assert len(debits(penguins)) == 1


def test_a_histogram_has_a_bar_with_its_interval_for_every_bin(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    page.get_by_label("Kind").select_option("histogram")
    page.get_by_label("Column").select_option("body_mass_g")
    page.get_by_label("Bins").select_option("edges")
    page.get_by_label("Edges").fill("2000, 3000, 4500, 7000")
    press_release(page)
    page.locator(".result").wait_for()
    dashboard.settled()
    assert page.locator(".result .chart .bar").count() == 4
    assert page.locator(".result .chart .interval").count() == 4
    (stored,) = penguins.table.analyst.get(f"{penguins.table.path}/releases").json()["releases"]
    rows = page.locator(".result tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["[2000, 3000)", "[3000, 4500)", "[4500, 7000]", "missing"]
    assert [row.split("\t")[1] for row in rows] == [f"{value:g}" for value in stored["value_in_range"]]


def test_a_long_histogram_is_shown_in_parts(opened: Opened, penguins: Penguins) -> None:
    release = penguins.table.fresh({"kind": "histogram", "column": "body_mass_g", "bins": 1500}, epsilon="1")
    dashboard = opened()
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/releases/{release['id']}")
    page.get_by_text("Every bin as a table").click()
    rows = page.locator(".result tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows).to_have_count(100)
    page.get_by_label("Search bins").fill("MISSING")
    expect(rows).to_have_count(1)
    assert rows.first.inner_text().startswith("missing\t")
    page.get_by_label("Search bins").fill("nothing is called so")
    expect(page.get_by_text("No bin has “nothing is called so”.")).to_be_visible()


def test_the_slider_goes_along_the_curve(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    dashboard.settled()
    slider = page.get_by_label("Along the curve")
    before = fact(page, "Radius")
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    typed = page.get_by_label("ε", exact=True).input_value()
    assert 0.5 < float(typed) < 1
    page.get_by_text(f"This would cost ε {typed}.").wait_for()
    assert fact(page, "Radius") != before
    page.get_by_label("Choose by").select_option("accuracy")
    wanted = page.get_by_label("Radius wanted")
    wanted.fill("80")
    plan = penguins.table.plan(MASS, accuracy="80").json()
    page.get_by_text(f"This would cost ε {plan['budget']['charged']}.").wait_for()
    slider.focus()
    page.keyboard.press("End")
    assert float(wanted.input_value()) < 80


@pytest.mark.parametrize(
    ("statistic", "finer"),
    [(MASS, {"grid_refinement": 0}), (MASS, {}), ({"kind": "histogram", "column": "species"}, {})],
    ids=["the notes' grid", "a mean", "counts"],
)
def test_the_curve_is_one_plan_with_every_cliff(
    opened: Opened, penguins: Penguins, statistic: dict[str, Any], finer: dict[str, Any]
) -> None:
    """And below each cliff the step that a plan there has."""
    dashboard = opened()
    page = planner(dashboard, penguins)
    dashboard.settled()
    asked = {"from": "0.001", "to": "10", "points": 100}
    plan = penguins.table.plan(statistic, epsilon="0.001", curve=asked, **finer).json()
    drawn = page.evaluate(
        """([name, statistic, finer]) => import("/web/charts/curve.js").then(({curve}) =>
        curve(name, statistic, finer, new AbortController().signal))""",
        [penguins.name, statistic, finer],
    )
    edges = [(each["epsilon"], each["radius"]) for each in drawn if each["edge"]]
    assert edges == [(each["epsilon"], each["radius"]) for each in plan["curve"] if each["cliff"]]
    assert bool(edges) is (statistic is not MASS or finer != {})
    for before, each in pairwise(drawn):
        if each["edge"]:
            below = penguins.table.plan(statistic, epsilon=before["epsilon"], **finer).json()
            assert Decimal(each["epsilon"]) - Decimal(before["epsilon"]) == Decimal("1e-9")
            assert before["radius"] == pytest.approx(below["accuracy"]["radius"], rel=1e-6)


def test_a_guess_tells_its_bias(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("Your guess (optional)").fill("4200")
    page.get_by_text(", at most ± 0.0133678 for any value").wait_for()
    page.get_by_text("would cost ε = 0.5 and be within").wait_for()


def test_a_cliff_can_be_taken(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_text("More options").click()
    page.get_by_label("Grid refinement").fill("0")
    expect(page.get_by_text("ε 0.500000001 gives")).to_be_visible()
    page.get_by_role("button", name="Take ε 0.500000001").click()
    page.get_by_text("This would cost ε 0.500000001.").wait_for()
    plan = penguins.table.plan(MASS, epsilon="0.500000001", grid_refinement=0).json()
    assert fact(page, "Radius") == f"± {radius_of(plan)}"


def test_what_the_budget_cannot_bear_is_refused_and_said(opened: Opened, service: Service) -> None:
    penguins = Penguins.registered(service, allowance="0.4")
    page = planner(opened(), penguins)
    page.get_by_text("This costs more than you have left.").wait_for()
    press_release(page, costs=False)
    expect(page.locator("output")).to_contain_text("for more than you have left")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Budget exhausted")
    expect(alert).to_contain_text("0.4 of your allowance is left")
    assert debits(penguins) == []
    assert page.evaluate("sessionStorage.getItem('snapledger.pending')") == "[]"


def test_bad_input_is_told_where_it_is(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("Lower").fill("7000")
    expect(page.get_by_role("alert")).to_contain_text("bounds")
    page.get_by_label("Lower").fill("2000")
    page.get_by_text("This would cost ε 0.5.").wait_for()
    page.get_by_label("ε", exact=True).fill("lots")
    expect(page.get_by_role("alert")).to_contain_text("epsilon")


class Flaky:
    """Lets releases reach the service, and loses the first answers."""

    def __init__(self, page: Page, lost: int, status: int | None = None) -> None:
        self.keys: list[str] = []
        self._lost, self._status = lost, status
        page.route("**/releases", self._handle)

    def _handle(self, route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        self.keys.append(route.request.headers["idempotency-key"])
        if len(self.keys) > self._lost:
            route.continue_()
        elif self._status:
            route.fulfill(status=self._status, headers={"Retry-After": "1"}, body=json.dumps({"title": "Busy"}))
        else:
            route.fetch()  # the service has committed
            route.abort("connectionreset")


def test_a_lost_answer_is_asked_for_again_and_paid_once(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    flaky = Flaky(page, lost=2)
    press_release(page)
    page.locator(".result").wait_for()
    assert len(flaky.keys) == 3
    assert len(set(flaky.keys)) == 1
    assert len(debits(penguins)) == 1
    dashboard.forgive("net::ERR_CONNECTION_RESET", times=2)


def test_a_service_that_is_away_is_asked_again_with_the_same_key(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    flaky = Flaky(page, lost=1, status=503)
    press_release(page)
    expect(page.locator("#status")).to_have_text(
        "No answer yet: trying again with the same Idempotency-Key (attempt 1)."
    )
    page.locator(".result").wait_for()
    assert len(flaky.keys) == 2
    assert len(set(flaky.keys)) == 1


def test_who_waits_for_an_answer_cannot_ask_again(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/releases", hold)
    button = page.get_by_role("button", name="Release", exact=True)
    press_release(page)
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    page.wait_for_timeout(200)  # in which a second request would come
    assert len(held) == 1
    held[0].continue_()
    page.locator(".result").wait_for()
    expect(button).not_to_have_attribute("aria-disabled", "true")
    assert (len(held), len(debits(penguins))) == (1, 1)


def test_an_answer_lost_for_good_is_had_after_a_reload(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    flaky = Flaky(page, lost=5)
    press_release(page)
    expect(page.get_by_role("alert")).to_contain_text("its answer was lost", timeout=30_000)
    page.reload()
    page.get_by_role("button", name="Ask for it again").click()
    page.locator(".result").wait_for()
    assert len(flaky.keys) == 6
    assert len(set(flaky.keys)) == 1
    assert len(debits(penguins)) == 1
    page.reload()
    page.get_by_label("Kind").wait_for()
    assert page.get_by_role("button", name="Ask for it again").count() == 0
    dashboard.forgive("net::ERR_CONNECTION_RESET", times=5)


def test_who_has_no_allowance_is_told(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, penguins.owner_key)
    page.get_by_text("This costs more than you have left.").wait_for()
    assert fact(page, "Left of your allowance") == "no allowance"
    press_release(page, costs=False)
    expect(page.get_by_role("alert")).to_contain_text("You have no allowance")


def test_a_closed_dataset_is_shown_as_one(opened: Opened, penguins: Penguins) -> None:
    release = penguins.table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="0.5")
    assert penguins.table.owner.delete(penguins.table.path).status_code == 204
    page = planner(opened(), penguins, penguins.owner_key)
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("This dataset is closed: its data is deleted.")).to_be_visible()
    page.get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="mean of body_mass_g").click()
    expect(page.locator(".value")).to_have_text(measured(release["value_in_range"], release["accuracy"]["radius"]))
