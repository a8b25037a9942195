"""Every page: as it looks in light and on a phone in the dark, what stands on it, and that axe finds nothing."""

from pathlib import Path

import pytest
from dashboard import Dashboard
from laboratory import PAGES, Laboratory
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.browser]
DESKTOP = {"width": 1100, "height": 800}
PHONE = {"width": 390, "height": 844}
NO_TEXT = {"[object", "undefined", "null", "NaN", "false"}  # what shows where a page is wrong


def assert_fit_to_be_seen(dashboard: Dashboard, content: str, width: int, picture: Path) -> None:
    expect(dashboard.page.locator("main")).to_contain_text(content, use_inner_text=True)
    dashboard.settled()
    text = dashboard.page.locator("main").inner_text()
    assert not NO_TEXT & set(text.replace(",", " ").split())
    dashboard.page.screenshot(path=picture, full_page=True)
    dashboard.assert_accessible()
    assert dashboard.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("page", "who", "address", "content"), PAGES, ids=[page for page, *_ in PAGES])
def test_it_is_accessible_and_fits_the_screen(
    page: str, who: str, address: str, content: str, laboratory: Laboratory, browser: Browser, pictures: Path
) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport=DESKTOP, color_scheme="light")
    shown = dashboard.sign_in(laboratory.keys[who], address.format(**laboratory.releases))
    assert_fit_to_be_seen(dashboard, content, DESKTOP["width"], pictures / f"{page}-light.png")
    shown.emulate_media(color_scheme="dark")
    shown.set_viewport_size(PHONE)
    shown.reload()
    assert_fit_to_be_seen(dashboard, content, PHONE["width"], pictures / f"{page}-dark.png")
    dashboard.close()


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark-phone"])
def test_the_way_in_is_accessible(
    scheme: str, size: dict[str, int], laboratory: Laboratory, browser: Browser, pictures: Path
) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport=size, color_scheme=scheme)
    dashboard.open().get_by_label("Key").wait_for()
    assert_fit_to_be_seen(dashboard, "Only this tab keeps it", size["width"], pictures / f"sign-in-{scheme}.png")
    dashboard.close()


def test_refusals_and_dialogs_are_accessible(laboratory: Laboratory, browser: Browser) -> None:
    dashboard = Dashboard(browser, laboratory.url, color_scheme="dark")
    page = dashboard.sign_in(laboratory.keys["admin"], "#/principals")
    page.get_by_role("button", name="New principal").click()
    page.get_by_label("Name", exact=True).fill("No Name")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("dialog").get_by_role("alert").wait_for()
    dashboard.assert_accessible()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Disable bob").click()
    page.get_by_role("dialog").wait_for()
    dashboard.assert_accessible()
    dashboard.close()
