"""The page of questions tries them with made-up data: marked wherever it is shown or taken away, and never paid."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import ask_for, assert_fits
from dashboard import Dashboard, Penguins
from playwright.sync_api import Locator, Page, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MARK = "Rehearsal with made-up data"


def try_out(page: Page) -> Locator:
    """Press the button; the card of the answer."""
    page.get_by_role("button", name="Try it with made-up data").click()
    card = page.locator(".result")
    expect(card).to_contain_text(MARK)
    return card


def save(page: Page, what: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save the {what}").click()
    assert "rehearsal" in download.value.suggested_filename
    return Path(download.value.path()).read_text()


def copy(page: Page, name: str, what: str) -> str:
    page.get_by_role("button", name=name).click()
    page.locator(".toast", has_text=f"{what} is copied.").wait_for()
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.parametrize("want", ["mean", "histogram", "regression"])
def test_made_up_data_is_marked_everywhere(opened: Opened, penguins: Penguins, want: str) -> None:
    dashboard = opened(permissions=["clipboard-read", "clipboard-write"], viewport={"width": 360, "height": 800})
    page = ask_for(dashboard, penguins, want)
    card = try_out(page)
    dashboard.settled()
    expect(card).to_contain_text("The numbers say nothing about the table.")
    expect(card.locator("svg text", has_text="Made-up data")).not_to_have_count(0)
    assert_fits(page)
    dashboard.assert_accessible()
    names, *rows = csv.reader(save(page, "figures as CSV").splitlines())
    assert names[-1] == "rehearsed"
    assert {row[-1] for row in rows} == {"true"}
    assert "Made-up data" in save(page, "picture as SVG")
    assert copy(page, "Copy a sentence to cite this", "The citation").startswith(f"{MARK}, not a release: ")
    assert ".rehearse()" in copy(page, "Copy the question as Python", "The question as Python")
    assert '"rehearse":true' in copy(page, "Copy the question as curl", "The question as curl")
    expect(card.get_by_role("link")).to_have_count(0)
    assert penguins.table.budget()["epsilon_spent"] == "0"


def test_it_needs_no_budget_and_stands_aside_for_a_release(opened: Opened, service: Service) -> None:
    penguins = Penguins.registered(service, allowance="0")
    page = ask_for(opened(), penguins, "mean", key=penguins.owner_key)
    try_out(page)
    dashboard = opened()
    page = ask_for(dashboard, penguins, "mean")
    card = try_out(page)
    penguins.table.grant(penguins.table.analyst_name, "4")
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("button", name="Release for ε").click()
    page.get_by_role("dialog").get_by_role("button", name="Release for ε").click()
    expect(card).not_to_contain_text(MARK)
    expect(card).to_contain_text("Page of this answer")
    dashboard.settled()
    expect(page.locator("svg text", has_text="Made-up data")).to_have_count(0)
    assert penguins.table.budget()["epsilon_spent"] != "0"
