"""What owners and admins do: requests for budget, closing, activity, verification; each flow to its end."""

import re
from collections.abc import Callable

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import Page, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MEAN = {"kind": "mean", "column": "body_mass_g"}
WIDTHS = [360, 768, 1440]


def assert_fits(page: Page) -> None:
    """Nothing scrolls sideways, neither the page nor an open dialog."""
    for element in ("document.documentElement", "document.querySelector('dialog[open]') ?? document.body"):
        assert page.evaluate(f"(({element}).scrollWidth - ({element}).clientWidth)") <= 0, element


def ask(dashboard: Dashboard, penguins: Penguins, epsilon: str, reason: str) -> Page:
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}")
    page.get_by_role("button", name="Ask for more").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("How much more (ε)").fill(epsilon)
    dialog.get_by_label("What for").fill(reason)
    dialog.get_by_role("button", name="Send the request").click()
    expect(dialog).to_have_count(0)
    return page


@pytest.mark.parametrize("width", WIDTHS)
def test_a_request_for_budget_from_asking_to_the_answer(width: int, opened: Opened, penguins: Penguins) -> None:
    size = {"viewport": {"width": width, "height": 800}}
    dashboard = opened(**size)
    analyst = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}")
    analyst.get_by_role("button", name="Ask for more").click()
    dialog = analyst.get_by_role("dialog")
    dialog.get_by_role("button", name="Send the request").click()
    expect(dialog.get_by_role("alert")).to_have_text(["Write a number, such as 0.5.", "Say what you need it for."])
    dialog.get_by_label("How much more (ε)").fill("0.5")
    dialog.get_by_label("What for").fill("The report needs the means by island too.")
    dashboard.assert_accessible()
    assert_fits(analyst)
    dialog.get_by_role("button", name="Send the request").click()
    expect(analyst.get_by_text("waits for an answer")).to_be_visible()
    expect(analyst.get_by_role("button", name="Ask for more")).to_be_hidden()

    name = penguins.table.analyst_name
    office = opened(**size)
    owner = office.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}")
    owner.get_by_role("link", name="1 request for budget waits for an answer").click()
    owner.get_by_role("button", name=f"Grant the request of {name}").click()
    asked = owner.get_by_role("dialog")
    expect(asked.get_by_text("The report needs the means by island too.")).to_be_visible()
    expect(asked.get_by_text(f"{name} may then spend ε 4.5 in all")).to_be_visible()
    asked.get_by_label("Raise the allowance by (ε)").fill("0.25")
    expect(asked.get_by_text(f"{name} may then spend ε 4.25 in all")).to_be_visible()
    asked.get_by_label("Answer (optional)").fill("Half of it will do.")
    office.assert_accessible()
    assert_fits(owner)
    asked.get_by_role("button", name="Grant", exact=True).click()
    expect(owner.get_by_text("ε 0 of 4.25 spent; 4.25 left")).to_be_visible()
    expect(owner.get_by_text("No request waits for an answer.")).to_be_visible()
    assert penguins.table.budget()["allowances"][0]["epsilon_limit"] == "4.25"

    analyst.reload()
    expect(analyst.get_by_text("granted (ε 0.25)")).to_be_visible()
    expect(analyst.get_by_text("“Half of it will do.”")).to_be_visible()
    expect(analyst.get_by_role("button", name="Ask for more")).to_be_visible()


def test_a_request_is_declined_with_an_answer(opened: Opened, penguins: Penguins) -> None:
    analyst = ask(opened(), penguins, "5", "A map of every colony.")
    owner = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    owner.get_by_role("button", name=re.compile("Decline the request")).click()
    dialog = owner.get_by_role("dialog")
    dialog.get_by_label("Answer (optional)").fill("The dataset has to last until May.")
    dialog.get_by_role("button", name="Decline", exact=True).click()
    expect(owner.get_by_text("No request waits for an answer.")).to_be_visible()
    owner.get_by_text("Earlier requests").click()
    expect(owner.get_by_text("No request was granted.")).to_be_visible()
    owner.get_by_label("Show those that were").select_option("declined")
    expect(owner.get_by_text("“The dataset has to last until May.”")).to_be_visible()
    analyst.reload()
    expect(analyst.get_by_text("declined", exact=True)).to_be_visible()


def test_who_is_late_is_told_that_it_is_answered(opened: Opened, penguins: Penguins, service: Service) -> None:
    ask(opened(), penguins, "1", "More of it.")
    owner = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    owner.get_by_role("button", name=re.compile("Grant the request")).click()
    (request,) = penguins.table.owner.get(f"{penguins.table.path}/budget-requests").json()["budget_requests"]
    at = f"{penguins.table.path}/budget-requests/{request['id']}/decline"
    assert service.admin.post(at, json={}).status_code == 200
    owner.get_by_role("dialog").get_by_role("button", name="Grant", exact=True).click()
    expect(owner.get_by_role("dialog").get_by_role("alert")).to_contain_text("Somebody has answered this request")
    owner.get_by_role("button", name="Cancel").click()
    assert penguins.table.budget()["allowances"][0]["epsilon_limit"] == "4"


def test_an_allowance_is_granted_by_keyboard_alone(opened: Opened, penguins: Penguins, service: Service) -> None:
    """From a list that is too long to show: what is typed finds it, and a name that is in no list is not sent."""
    name, client = service.principal("analyst")
    for _ in range(51):
        service.principal("analyst")
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    page.get_by_role("button", name="Grant an allowance").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    choice = dialog.get_by_role("combobox", name="Principal")
    choice.focus()
    page.keyboard.type("nobody-of-that-name")
    page.keyboard.press("Tab")
    dialog.get_by_label("May spend (ε)").fill("x")
    dialog.get_by_role("button", name="Grant the allowance").press("Enter")
    expect(dialog.get_by_text("There is no principal “nobody-of-that-name”")).to_be_visible()
    expect(dialog.get_by_text("Write a number, such as 0.5.")).to_be_visible()
    choice.fill("")
    page.keyboard.press("ArrowDown")
    expect(dialog.get_by_text(re.compile(r"\d+ more: type to find them"))).to_be_visible()
    dashboard.assert_accessible()
    choice.focus()
    page.keyboard.press("Escape")
    page.keyboard.type(name)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(choice).to_have_value(name)
    dialog.get_by_label("May spend (ε)").fill("0")
    expect(dialog.get_by_text("may only ask for earlier releases again")).to_be_visible()
    dialog.get_by_role("button", name="Grant the allowance").press("Enter")
    expect(page.locator(".toast")).to_contain_text(f"{name} may spend ε 0.")
    assert client.get(penguins.table.path).status_code == 200


def test_an_owner_grants_itself_an_allowance(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    page.get_by_role("button", name="Grant yourself one").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("Grant yourself an allowance")
    dialog.get_by_label("May spend (ε)").fill("0.75")
    dialog.get_by_role("button", name="Grant the allowance").click()
    expect(page.get_by_text("ε 0 of 0.75 spent; 0.75 left")).to_be_visible()
    expect(page.get_by_role("button", name="Grant yourself one")).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_dataset_is_closed_after_its_name_is_typed(width: int, opened: Opened, penguins: Penguins) -> None:
    penguins.table.fresh(MEAN, epsilon="1")
    dashboard = opened(viewport={"width": width, "height": 800})
    page = dashboard.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    page.get_by_role("button", name="Close the dataset").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("This cannot be undone.")).to_be_visible()
    dialog.get_by_role("button", name="Delete the data").click()
    expect(dialog.get_by_role("alert")).to_have_text(f"Type the name exactly: {penguins.name}")
    assert penguins.table.owner.get(penguins.table.path).json()["state"] == "open"
    dashboard.assert_accessible()
    assert_fits(page)
    dialog.get_by_label(f"Type {penguins.name} to confirm").fill(penguins.name)
    dialog.get_by_role("button", name="Delete the data").click()
    expect(page.get_by_text("This dataset is closed: its data is deleted.")).to_be_visible()
    expect(page.get_by_role("button", name="Grant an allowance")).to_have_count(0)
    assert penguins.table.owner.get(penguins.table.path).json()["state"] == "closed"
    page.get_by_role("link", name="Overview").click()
    expect(page.locator(".page-heading .badge")).to_have_text("closed")


def test_the_activity_of_each_analyst_is_shown(opened: Opened, penguins: Penguins) -> None:
    name, other = penguins.table.another("2")
    penguins.table.fresh(MEAN, epsilon="0.1")
    penguins.table.fresh({"kind": "count", "where": {"species": {"in": ["Gentoo"]}}}, epsilon="0.2")
    penguins.table.release({"kind": "mean", "column": "bill_length_mm"}, client=other, epsilon="0.7")
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/activity")
    who = page.get_by_role("region", name="Who spent how much").locator("tbody tr")
    rows = [row.split("\t")[:3] for row in who.all_inner_texts()]
    assert rows == [[name, "0.7", "1"], [penguins.table.analyst_name, "0.3", "2"]]
    spent = page.get_by_role("region", name="What was spent").locator("tbody th")
    expect(spent).to_have_text(
        ["mean of bill_length_mm [30, 65]", "count where species in Gentoo", "mean of body_mass_g [2000, 7000]"]
    )
    dashboard.assert_accessible()
    page.get_by_role("button", name=name, exact=True).click()
    expect(spent).to_have_count(1)
    page.get_by_role("link", name="mean of bill_length_mm").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"A release of {penguins.name}")


def test_the_state_of_the_ledger_is_shown_with_who_verified_it(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/ledger")
    expect(page.get_by_text("Never verified while the service ran.")).to_be_visible()
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_text("Valid: 2 entries.")).to_be_visible()
    stands = f"2 entries, verified just now by {penguins.table.owner_name}"
    expect(page.get_by_text(stands)).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text(stands)).to_be_visible()


def test_an_unknown_dataset_and_an_unknown_release_have_a_useful_page(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name[:-1]}")
    expect(page.get_by_text(f"You see no dataset “{penguins.name[:-1]}”")).to_be_visible()
    dashboard.assert_accessible()
    page.get_by_role("link", name=penguins.name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(penguins.name)
    page.goto(f"{dashboard.url}/#/datasets/{penguins.name}/releases/01a21f9b-c1a5-710b-a37c-ec21af87e3cb")
    expect(page.get_by_text("This release is not here")).to_be_visible()
    page.get_by_role("link", name=f"Releases of {penguins.name}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Releases")


def test_numbers_are_rounded_for_people_and_exact_in_the_tooltip(opened: Opened, penguins: Penguins) -> None:
    penguins.table.fresh(MEAN, epsilon="0.435549849")
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    figures = page.get_by_text("ε 0.436 of 10 spent; 9.56 left")
    expect(figures).to_have_attribute("title", "exactly ε 0.435549849 spent; 9.564450151 left")
