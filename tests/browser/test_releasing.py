"""Plan and release in the browser: what is shown is what the service says, and nothing is ever paid twice."""

import json
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from itertools import pairwise
from typing import Any

import pytest
from asking import ask_for, count_missing, unfold, wait_for
from dashboard import Dashboard, Penguins, measured, press_release, rounded
from playwright.sync_api import Locator, Page, Route, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"kind": "mean", "column": "body_mass_g", "bounds": ["2000", "7000"]}


def planner(dashboard: Dashboard, penguins: Penguins, key: str | None = None) -> Page:
    """The page of questions, at the mean that counts missing values: one release."""
    page = ask_for(dashboard, penguins, "mean", key)
    count_missing(page)
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


def figure(page: Page) -> Locator:
    """What a question costs."""
    return page.get_by_label("The plan").locator(".figure")


def test_a_plan_is_the_service_s_own(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("Column").select_option("bill_length_mm")
    unfold(page, "Bounds of bill_length_mm")
    page.get_by_label("Lower").fill("32")
    page.get_by_label("Upper").fill("60")
    page.get_by_label("ε", exact=True).fill("0.25")
    expect(figure(page)).to_have_text("ε 0.25")
    expect(page.get_by_text("Better buy")).to_have_count(0)  # the default grid of a mean has no cliffs
    statistic = {"kind": "mean", "column": "bill_length_mm", "bounds": ["32", "60"]}
    plan = penguins.table.plan(statistic, epsilon="0.25").json()
    unfold(page, "Exact figures")
    assert fact(page, "Radius") == f"± {radius_of(plan)}"
    assert fact(page, "Your budget covers this") == f"{plan['budget']['repeatable']} times"
    assert fact(page, "After this") == "ε 3.75 left"


def test_an_accuracy_is_a_part_of_the_guess(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    page.get_by_label("Precision").select_option("relative_accuracy")
    expect(page.get_by_text("The guess is missing")).to_be_visible()
    page.get_by_label("Your guess").fill("4000")
    page.get_by_label("Error in percent").fill("5")
    plan = penguins.table.plan({"kind": "mean", "column": "body_mass_g"}, accuracy=200).json()
    unfold(page, "Exact figures")
    expect(page.get_by_label("The plan")).to_contain_text(f"ε{plan['privacy']['epsilon']}")
    press_release(page)
    expect(page.locator(".result")).to_be_visible()


def test_a_release_is_paid_shown_and_found_again(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    expect(figure(page)).to_have_text("ε 0.5")
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
    expect(page.get_by_label("The plan").get_by_text("An earlier release answers this.")).to_be_visible()
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
    expect(figure(page)).to_have_text("ε 0.25")
    page.get_by_label("Your guess").press("Enter")
    assert page.get_by_role("dialog").count() == 0
    assert debits(penguins) == []


def test_a_release_is_paid_only_after_it_was_told_what_it_costs(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins)
    expect(figure(page)).to_have_text("ε 0.5")
    page.get_by_role("button", name="Release for ε 0.5").click()
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
    page.get_by_label("What you want to know").select_option("histogram")
    page.get_by_label("Column").select_option("body_mass_g")
    unfold(page, "Intervals of body_mass_g")
    page.get_by_label("Intervals").select_option("edges")
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
    """Under its fold, which asks for the curve only when somebody opens it."""
    dashboard = opened()
    page = planner(dashboard, penguins)
    dashboard.settled()
    assert page.get_by_label("Along the curve").count() == 0
    unfold(page, "as a curve")
    unfold(page, "Exact figures")
    page.get_by_label("The error against ε").locator(".line").first.wait_for()
    dashboard.settled()
    dashboard.assert_accessible()
    slider = page.get_by_label("Along the curve")
    before = fact(page, "Radius")
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_label("ε", exact=True)).not_to_have_value("0.5")
    typed = page.get_by_label("ε", exact=True).input_value()
    assert 0.5 < float(typed) < 1
    expect(figure(page)).to_have_text(f"ε {typed}")
    assert fact(page, "Radius") != before
    page.get_by_label("Precision").select_option("accuracy")
    page.get_by_label("Error", exact=True).fill("80")
    plan = penguins.table.plan(MASS, accuracy="80").json()
    expect(page.get_by_label("The plan")).to_contain_text(f"ε {plan['budget']['charged']}")
    slider.focus()
    page.keyboard.press("End")
    expect(page.get_by_label("Precision")).to_have_value("epsilon")
    expect(page.get_by_label("ε", exact=True)).to_have_value("10")


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
    unfold(page, "Exact figures")
    page.get_by_text(", at most ± 0.0133678 for any value").wait_for()
    page.get_by_text("would cost ε = 0.5 and be within").wait_for()


def test_a_cliff_can_be_taken(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins)
    unfold(page, "Advanced")
    unfold(page, "Exact figures")
    page.get_by_label("Grid refinement").fill("0")
    expect(page.locator(".offer", has_text="Better buy")).to_contain_text("for ε 0.500000001 you get ±")
    page.get_by_role("button", name="Take ε 0.500000001").click()
    expect(page.get_by_label("The plan")).to_contain_text("Chargedε 0.500000001")
    plan = penguins.table.plan(MASS, epsilon="0.500000001", grid_refinement=0).json()
    assert fact(page, "Radius") == f"± {radius_of(plan)}"


def test_what_the_budget_cannot_bear_is_refused_and_said(opened: Opened, service: Service) -> None:
    penguins = Penguins.registered(service, allowance="0.4")
    page = planner(opened(), penguins)
    page.get_by_text("This costs more than you have left.").wait_for()
    sent: list[str] = []  # a budget that is raised meanwhile would pay for what nobody has confirmed
    page.on("request", lambda request: sent.append(request.url.rsplit("/", 1)[1]))
    press_release(page, costs=False)
    expect(page.locator("output")).to_contain_text("for more than you have left")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Budget exhausted")
    expect(alert).to_contain_text("0.4 of your allowance is left")
    assert debits(penguins) == []
    assert not {"releases", "derived"} & set(sent)


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
    button = page.locator(".release")
    press_release(page)
    expect(button).to_have_attribute("aria-disabled", "true")
    button.click(force=True)
    wait_for(page, lambda: held)
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
    page.get_by_label("What you want to know").wait_for()
    assert page.get_by_role("button", name="Ask for it again").count() == 0
    dashboard.forgive("net::ERR_CONNECTION_RESET", times=5)


def test_who_has_no_allowance_is_told(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, penguins.owner_key)
    page.get_by_text("You have no allowance on this dataset.").wait_for()
    press_release(page, costs=False)
    expect(page.get_by_role("alert")).to_contain_text("You have no allowance")


def test_a_closed_dataset_is_shown_as_one(opened: Opened, penguins: Penguins) -> None:
    release = penguins.table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="0.5")
    assert penguins.table.owner.delete(penguins.table.path).status_code == 204
    page = ask_for(opened(), penguins, key=penguins.owner_key)
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("This dataset is closed: its data is deleted.")).to_be_visible()
    page.get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="mean of body_mass_g").click()
    expect(page.locator(".value")).to_have_text(measured(release["value_in_range"], release["accuracy"]["radius"]))
