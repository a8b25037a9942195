"""The field that offers a list and finds in it what is typed: by keyboard, by mouse, and as it is read aloud."""

import re
from collections.abc import Callable

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import Locator, Page, expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]


@pytest.fixture
def field(opened: Opened, penguins: Penguins, service: Service) -> Locator:
    """The field for a principal, in the dialog that grants an allowance."""
    for name in ("zoe", "zoltan"):
        service.admin.post("/v1/principals", json={"name": f"{name}-{penguins.name}", "role": "analyst"})
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    page.get_by_role("button", name="Grant an allowance").click()
    return page.get_by_role("dialog").get_by_role("combobox", name="Principal")


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Principal").get_by_role("option")


def active(field: Locator) -> Locator:
    """The option that a screen reader tells; exactly one is selected."""
    shown = field.page.locator(f"#{field.get_attribute('aria-activedescendant')}")
    expect(shown).to_have_attribute("aria-selected", "true")
    expect(field.page.locator("[role=option][aria-selected=true]")).to_have_count(1)
    return shown


def test_the_keyboard_finds_moves_chooses_and_closes(field: Locator, penguins: Penguins) -> None:
    page = field.page
    names = [f"zoe-{penguins.name}", f"zoltan-{penguins.name}"]
    field.focus()
    expect(field).to_have_attribute("aria-expanded", "false")
    page.keyboard.type("ZO")
    expect(field).to_have_attribute("aria-expanded", "true")
    page.keyboard.type(f"E-{penguins.name}")
    expect(options(page)).to_have_text([re.compile(names[0])])
    field.fill(penguins.name)
    expect(options(page)).to_have_text([re.compile(name) for name in names])
    assert field.get_attribute("aria-activedescendant") is None  # nothing is chosen for anybody
    for key, at in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowDown", 0), ("ArrowUp", 1), ("ArrowUp", 0)):
        page.keyboard.press(key)
        expect(active(field)).to_contain_text(names[at])
        expect(field).to_have_value(penguins.name)  # until it is chosen
    page.keyboard.press("Escape")
    expect(options(page)).to_have_count(0)
    expect(field).to_have_attribute("aria-expanded", "false")
    assert field.get_attribute("aria-activedescendant") is None
    expect(page.get_by_role("dialog")).to_be_visible()  # the first Escape closes the list alone
    page.keyboard.press("ArrowUp")
    assert options(page).count() > 2  # the whole list again
    field.fill(penguins.name)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field).to_have_value(names[0])
    expect(options(page)).to_have_count(0)
    expect(page.get_by_role("dialog")).to_be_visible()  # Enter has chosen, and sent nothing


def test_the_mouse_opens_chooses_and_leaves(field: Locator, penguins: Penguins) -> None:
    page = field.page
    field.click()
    assert options(page).count() > 2
    page.get_by_role("dialog").get_by_role("heading").first.click()
    expect(options(page)).to_have_count(0)
    field.fill(penguins.name)
    options(page).nth(1).click()
    expect(field).to_have_value(f"zoltan-{penguins.name}")
    expect(field).to_be_focused()  # the list never takes it
    expect(options(page)).to_have_count(0)
    expect(field).to_have_attribute("aria-expanded", "false")
    field.click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()  # which is where it was when it was pressed
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_is_in_no_list_offers_nothing(field: Locator) -> None:
    page = field.page
    field.fill("no such principal")
    expect(options(page)).to_have_count(0)
    expect(field).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowDown")
    assert options(page).count() > 2
