"""Terms are explained where they are used, with a mouse and with the keyboard alone."""

from collections.abc import Callable

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MEANING = "What one principal may spend on one dataset, and its access to it."


def test_a_term_is_explained_and_closed_again(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    button = page.get_by_role("button", name="What is “allowance”?")
    explanation = page.get_by_role("dialog", name="allowance")
    button.click()
    expect(explanation).to_contain_text(MEANING)
    expect(explanation.get_by_role("link", name="More in the guide")).to_have_attribute("href", "/guide/ledger.html")
    dashboard.assert_accessible()
    button.click()
    expect(explanation).to_be_hidden()
    button.click()
    page.get_by_role("heading", level=1).click()
    expect(explanation).to_be_hidden()


def test_the_keyboard_alone_opens_and_closes_it(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    button = page.get_by_role("button", name="What is “allowance”?")
    explanation = page.get_by_role("dialog", name="allowance")
    button.focus()
    page.keyboard.press("Enter")
    expect(explanation).to_be_focused()
    page.keyboard.press("Tab")
    expect(explanation.get_by_role("link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(explanation).to_be_hidden()
    expect(button).to_be_focused()


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_it_stays_on_the_screen(width: int, opened: Opened, penguins: Penguins) -> None:
    page = opened(viewport={"width": width, "height": 740}).sign_in(
        penguins.owner_key, f"#/datasets/{penguins.name}/rules"
    )
    page.get_by_role("button", name="What is “allowance”?").click()
    explanation = page.get_by_role("dialog", name="allowance")
    expect(explanation).to_be_in_viewport(ratio=1)
    box = explanation.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
