"""The page of questions: what it tells before anything is paid, to whom, and on which screen."""

from collections.abc import Callable

import pytest
from asking import (
    add_condition,
    ask_for,
    assert_fits,
    at_least,
    choose_categories,
    count_missing,
    edit_condition,
    release,
    unfold,
    wait_for,
)
from dashboard import Dashboard, Penguins
from playwright.sync_api import Route, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"kind": "mean", "column": "body_mass_g", "bounds": ["2000", "7000"]}
TYPE_TWO_KEYS = """(field) => new Promise((typed) => {
  const type = (key) => { field.value += key; field.dispatchEvent(new Event("input", { bubbles: true })); };
  type("2");
  setTimeout(() => { type("5"); typed(); }, 20);
})"""


@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_every_screen(opened: Opened, penguins: Penguins, width: int, scheme: str) -> None:
    dashboard = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = ask_for(dashboard, penguins, "regression")
    choose_categories(page, "species", "Adelie", "Chinstrap", "Gentoo")
    edit_condition(page, "body_mass_g")
    for text in ("Bounds of body_mass_g", "Advanced", "Exact figures"):
        unfold(page, text)
    dashboard.settled()
    assert_fits(page)
    dashboard.assert_accessible()
    add_condition(page)
    page.get_by_label("What you want to know").select_option("count")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("region", name="Basket").get_by_role("button", name="Release all").wait_for()
    dashboard.settled()
    assert_fits(page)
    dashboard.assert_accessible()


def test_the_interval_is_shown_beside_the_possible_range(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = ask_for(dashboard, penguins, "mean")
    count_missing(page)
    picture = page.get_by_role("img", name="An interval of ± 88 in the possible range from 2,000 to 7,000")
    expect(picture).to_be_visible()
    track, bar = (picture.locator(each).bounding_box() for each in ("line", ".interval"))
    assert bar["width"] / track["width"] == pytest.approx(2 * 87.1136 / 5000, rel=0.1)
    page.get_by_label("Your guess").fill("6800")
    dashboard.settled()
    moved = picture.locator(".interval").bounding_box()
    assert (moved["x"] - track["x"]) / track["width"] == pytest.approx((6800 - 87.1136 - 2000) / 5000, abs=0.02)


def test_an_interval_that_tells_little_is_named_so(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "mean")
    page.get_by_label("ε", exact=True).fill("0.01")
    expect(page.get_by_text("It would tell you little")).to_be_visible()
    page.get_by_label("ε", exact=True).fill("3")
    expect(page.get_by_text("It would tell you little")).to_be_hidden()


def test_what_missing_values_count_as_is_compared(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "mean")
    note = page.get_by_role("group", name="What counts")
    expect(note).to_contain_text("Some values of body_mass_g may be missing.")
    expect(note).to_contain_text("Leaving out rows without a value of body_mass_g")
    expect(note).to_contain_text("Counted as 4,500 instead, the same ε gives ± 88.")
    count_missing(page)
    body = {"derived": MASS | {"missing": "exclude"}, "epsilon": "0.5", "guesses": {}}
    assert penguins.table.analyst.post(f"{penguins.table.path}/derived/plan", json=body).status_code == 200
    expect(note).to_contain_text("Counting missing values of body_mass_g as 4,500")


def test_another_price_can_be_taken(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "mean")
    count_missing(page)
    half = penguins.table.plan(MASS, epsilon="0.25").json()["accuracy"]["radius"]
    expect(page.get_by_text("for ε 0.25 you get ±")).to_contain_text(f"± {-(-half // 1):.0f}")
    page.get_by_role("button", name="Take ε 0.25").click()
    expect(page.get_by_label("The plan").locator(".figure")).to_have_text("ε 0.25")
    expect(page.get_by_text("16 times")).to_be_visible()


def test_what_gains_nothing_is_not_offered(opened: Opened, penguins: Penguins) -> None:
    """At half the ε the interval of a share would cover all that is possible; twice the ε is worth it."""
    page = ask_for(opened(), penguins, "mean")
    count_missing(page)
    page.get_by_label("ε", exact=True).fill("0.025")  # ± 1,744 of 5,000
    expect(page.locator(".offer", has_text="More precise")).to_contain_text("for ε 0.05")
    expect(page.locator(".offer", has_text="Cheaper")).to_have_count(0)


def test_a_second_question_is_announced_only_where_something_is_paid(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "mean")
    count_missing(page)
    plan = page.get_by_label("The plan")
    expect(plan).to_contain_text("Release asks once more. Enter only plans.")
    penguins.table.fresh(MASS, epsilon="0.5")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(plan.get_by_role("button", name="Get the answer for nothing")).to_be_visible()
    expect(plan).to_contain_text("Enter only plans.")
    expect(plan).not_to_contain_text("Release asks once more.")


def test_another_price_counts_what_is_known(opened: Opened, penguins: Penguins) -> None:
    """The number of known values is released already: twice the ε costs less than twice as much."""
    known = {"kind": "count", "where": {"body_mass_g": {"is_missing": False}}}
    penguins.table.fresh(known, epsilon="1")
    page = ask_for(opened(), penguins, "mean")
    asked = {"derived": MASS | {"missing": "exclude"}, "epsilon": "1", "guesses": {"mean": "3250"}}
    plan = penguins.table.analyst.post(f"{penguins.table.path}/derived/plan", json=asked).json()
    cost = float(plan["budget"]["charged"])
    assert cost < 1
    offer = page.locator(".offer", has_text="More precise")
    expect(offer).to_contain_text(f"for ε {-(-cost * 1000 // 1) / 1000:.3g} you get")


def test_an_owner_without_an_allowance_grants_one(opened: Opened, penguins: Penguins) -> None:
    """On the same page: the question stays, and can be paid then."""
    page = ask_for(opened(), penguins, "mean", penguins.owner_key)
    plan = page.get_by_label("The plan")
    expect(plan.get_by_text("You have no allowance on this dataset.")).to_be_visible()
    expect(plan).not_to_contain_text("more than you have left")
    plan.get_by_role("button", name="Grant yourself one").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("May spend").fill("2")
    dialog.get_by_role("button", name="Grant the allowance").click()
    expect(plan.get_by_role("meter", name="Your allowance")).to_be_visible()
    expect(plan.get_by_text("4 times")).to_be_visible()
    assert release(page).to == "derived"


def test_who_is_short_is_told_how_much_and_asks_for_more(opened: Opened, service: Service) -> None:
    penguins = Penguins.registered(service, allowance="0.4")
    page = ask_for(opened(), penguins, "mean")
    plan = page.get_by_label("The plan")
    expect(plan).to_contain_text("It costs ε 0.5, and ε 0.4 of your allowance is left.")
    plan.get_by_role("button", name="Ask for more").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("How much more").fill("1")
    dialog.get_by_label("What for").fill("The report on penguins.")
    dialog.get_by_role("button", name="Send the request").click()
    expect(page.get_by_text("Your request is sent").first).to_be_attached()
    (request,) = penguins.table.owner.get(f"{penguins.table.path}/budget-requests").json()["budget_requests"]
    assert (request["epsilon"], request["reason"]) == ("1", "The report on penguins.")
    plan.get_by_role("button", name="Take ε 0.4").click()
    expect(plan.locator(".figure")).to_have_text("ε 0.4")


def test_a_field_s_error_comes_after_it_was_left(opened: Opened, penguins: Penguins) -> None:
    """In words, at the field; and no request is made for what is wrong."""
    dashboard = opened()
    page = ask_for(dashboard, penguins, "mean")
    dashboard.settled()
    planned = [url for url in dashboard.requests if url.endswith("/plan")]
    field = page.get_by_label("ε", exact=True)
    field.fill("lots")
    page.get_by_text("Not planned yet").wait_for()
    assert page.get_by_text("must be a number").count() == 1  # in the plan, not at the field, which is being written
    expect(field).not_to_have_attribute("aria-invalid", "true")
    field.press("Tab")
    expect(field).to_have_attribute("aria-invalid", "true")
    message = page.locator(".sentence .field-error")
    expect(message).to_have_text("ε must be a number, such as 0.5: digits, with a point before decimals.")
    assert field.get_attribute("aria-describedby") == message.get_attribute("id")
    field.fill("0.25")
    expect(message).to_have_count(0)
    page.get_by_label("Confidence").fill("100")
    page.get_by_label("Confidence").press("Tab")
    expect(message).to_contain_text("more than 0 and less than 100 %")
    page.get_by_label("Confidence").fill("99.9")
    unfold(page, "Bounds of body_mass_g")
    page.get_by_label("Lower").fill("7000")
    page.get_by_label("Upper").focus()
    page.get_by_label("Upper").press("Tab")
    expect(page.get_by_text("The lower bound must be less than the upper bound.").last).to_be_visible()
    page.get_by_label("Lower").fill("2500")
    with page.expect_response(lambda answer: answer.url.endswith("/plan")) as answered:
        page.get_by_label("Lower").press("Tab")
    assert answered.value.request.post_data_json["alpha"] == "0.001"
    wrong = [url for url in dashboard.requests if url.endswith("/plan")]
    assert len(wrong) > len(planned)


def test_what_the_service_refuses_stands_at_its_field(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "count")
    field = page.get_by_label("ε", exact=True)
    edit_condition(page, "body_mass_g")
    page.get_by_label("Is", exact=True).select_option("in")
    page.get_by_label("Values", exact=True).fill("4000.5")  # of a column of whole numbers
    add_condition(page)
    expect(page.get_by_label("The question").get_by_role("alert")).to_contain_text("The condition on body_mass_g: This")
    page.get_by_role("button", name="Remove the condition on body_mass_g").click()
    at_least(page, "body_mass_g", "4000")
    field.fill("11")
    expect(page.get_by_text("Not planned: see the marked field.")).to_be_visible()
    expect(field).not_to_have_attribute("aria-invalid", "true")  # it is being written
    field.press("Tab")
    expect(page.locator(".sentence .field-error")).to_have_text("One release may cost at most ε = 10.")
    field.fill("1")
    expect(page.locator(".sentence .field-error")).to_have_count(0)
    expect(page.get_by_label("The plan").locator(".figure")).to_have_text("ε 1")


def test_typing_asks_once(opened: Opened, penguins: Penguins) -> None:
    """A plan waits until the typing pauses: no request for each key."""
    dashboard = opened()
    page = ask_for(dashboard, penguins, "count")
    at_least(page, "body_mass_g", "4000")
    dashboard.settled()
    before = len(dashboard.requests)
    page.get_by_label("ε", exact=True).evaluate(TYPE_TWO_KEYS)
    page.get_by_label("The plan").locator(".figure", has_text="0.525").wait_for()
    dashboard.settled()
    assert len(dashboard.requests) - before <= 3  # the plan, and the other prices


def test_a_late_plan_is_never_shown(opened: Opened, penguins: Penguins) -> None:
    """The plan of what was typed before comes after the plan of what is typed now."""
    dashboard = opened()
    page = ask_for(dashboard, penguins, "mean")
    dashboard.settled()
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if route.request.post_data_json["epsilon"] == "0.75":
            held.append(route)
        else:
            route.continue_()

    page.route("**/plan", hold_first)
    page.get_by_label("ε", exact=True).fill("0.75")
    wait_for(page, lambda: held)
    page.get_by_label("ε", exact=True).fill("0.25")
    figure = page.get_by_label("The plan").locator(".figure")
    expect(figure).to_have_text("ε 0.25")
    held[0].continue_()
    page.wait_for_timeout(300)
    expect(figure).to_have_text("ε 0.25")
    page.unroute("**/plan")


def test_an_error_is_no_error_of_another_statistic(opened: Opened, penguins: Penguins) -> None:
    """An error in grams means nothing for a count: the question goes on with its ε."""
    page = ask_for(opened(), penguins, "mean")
    page.get_by_label("The plan").get_by_text("Nothing is charged").wait_for()
    page.get_by_label("Precision").select_option("accuracy")
    page.get_by_label("Error", exact=True).fill("500")
    page.get_by_label("The plan").locator(".figure", has_text="0.1").wait_for()
    page.get_by_label("What you want to know").select_option("histogram")
    expect(page.get_by_label("Precision")).to_have_value("epsilon")
