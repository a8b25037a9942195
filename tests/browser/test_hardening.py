"""No name becomes markup, all of it goes without a mouse, and what the first paint takes is told."""

from collections.abc import Callable

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import Page, expect
from service_world import Service, key_of

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
HOSTILE = "<img src=x onerror=window.injected=1>"
LINK = '<a href="https://elsewhere.invalid/">click</a>'
BOLD = "<b>other</b>&lt;i&gt;${1+1}"


@pytest.fixture
def hostile(service: Service) -> Penguins:
    columns = {
        HOSTILE: {"kind": "category", "categories": [HOSTILE, LINK, BOLD, "other"]},
        f"x{HOSTILE}": {"kind": "integer", "bounds": [0, 10]},
    }
    rows = "".join(f'"{text}",{at}\n' for at, text in enumerate([HOSTILE, LINK.replace('"', '""'), BOLD, "other"]))
    table = service.table(columns, f"{HOSTILE},x{HOSTILE}\n{rows}", description=f"{HOSTILE}{LINK}")
    return Penguins.of(table, service)


def assert_harmless(page: Page, dashboard: Dashboard) -> None:
    dashboard.settled()
    assert page.evaluate("window.injected") is None
    assert page.locator("img, main b, main i, iframe, object, main script").count() == 0
    assert page.locator("a[href*=elsewhere], a[*|href*=elsewhere]").count() == 0


def whole(page: Page, kind: str) -> list[str]:
    """The texts of a kind in a result's chart; where they are cut, their tooltips."""
    texts = "texts => texts.map((text) => (text.querySelector('title') ?? text).textContent)"
    found: list[str] = page.locator(f".result .chart {kind}").evaluate_all(texts)
    return found


def test_names_are_texts_everywhere(opened: Opened, hostile: Penguins) -> None:
    release = hostile.table.fresh({"kind": "histogram", "column": HOSTILE}, epsilon="1")
    mean = hostile.table.fresh({"kind": "mean", "column": f"x{HOSTILE}"}, epsilon="1")
    dashboard = opened()
    page = dashboard.sign_in(hostile.owner_key)
    base = f"#/datasets/{hostile.name}"
    parts = ["", "/plan", "/releases", f"/releases/{release['id']}", f"/releases/{mean['id']}", "/ledger", "/rules"]
    for address in ["#/datasets", *(base + part for part in parts)]:
        page.goto(f"{dashboard.url}/{address}")
        page.reload()
        page.locator("h1").wait_for()
        assert_harmless(page, dashboard)
    page.goto(f"{dashboard.url}/{base}/releases/{release['id']}")
    page.locator(".result").wait_for()
    dashboard.settled()
    labels = page.locator(".chart .row-label").all_text_contents()
    assert len(labels) == 6  # "other" the category, and "other" what is in none: two bars
    assert labels[:3] == [HOSTILE, LINK, BOLD]
    assert page.locator("tbody th").all_text_contents()[:3] == [HOSTILE, LINK, BOLD]


def test_names_are_texts_in_a_two_way_table(opened: Opened, hostile: Penguins) -> None:
    asked = {"kind": "histogram", "columns": [HOSTILE, f"x{HOSTILE}"], "edges": [None, [0, 5, 10]]}
    release = hostile.table.fresh(asked, epsilon="1")
    dashboard = opened()
    page = dashboard.sign_in(hostile.owner_key, f"#/datasets/{hostile.name}/releases/{release['id']}")
    page.locator(".result").wait_for()
    assert_harmless(page, dashboard)
    assert whole(page, ".y-title") == [HOSTILE]
    assert whole(page, ".x-title") == [f"x{HOSTILE}"]
    assert whole(page, ".y-tick")[:4] == [HOSTILE, LINK, BOLD, "other"]
    assert page.locator(".result .cell title").first.text_content().startswith(f"{HOSTILE}, ")
    page.goto(f"{dashboard.url}/#/datasets/{hostile.name}/plan")
    page.get_by_label("What you want to know").select_option("margin")
    page.locator("summary", has_text="Exact figures").click()
    page.get_by_text("The releases that it would be derived from").wait_for()
    assert_harmless(page, dashboard)
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("region", name="Basket").wait_for()
    page.get_by_role("button", name="+ filter").click()
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_role("button", name="Add the condition").click()
    page.locator(".chip-text").wait_for()
    assert_harmless(page, dashboard)


def test_columns_are_texts_beside_a_two_way_table(opened: Opened, service: Service) -> None:
    names = ["<b>bold</b>", "<i>&amp;</i>"]
    columns = {name: {"kind": "boolean"} for name in names}
    table = service.table(columns, ",".join(names) + "\n1,0\n0,1\n")
    release = table.fresh({"kind": "histogram", "columns": names}, epsilon="1")
    dashboard = opened()
    page = dashboard.sign_in(key_of(table.analyst), f"#/datasets/{table.name}/releases/{release['id']}")
    page.locator(".result").wait_for()
    assert_harmless(page, dashboard)
    assert [whole(page, f".{axis}-title") for axis in "yx"] == [[name] for name in names]


def test_an_address_is_no_way_in(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = dashboard.sign_in(penguins.analyst_key)
    for fragment in [HOSTILE, f"datasets/{HOSTILE}", "datasets/..%2F..%2Fme", "datasets/%E0%A4%A", "datasets/x/y/z/w"]:
        page.goto(f"{dashboard.url}/#/{fragment}")
        page.reload()
        expect(page.locator("h1")).to_have_text("This page does not exist")
        expect(page.get_by_role("link", name="All datasets")).to_be_visible()
        assert_harmless(page, dashboard)


FOCUSED = """(document.activeElement.ariaLabel
  ?? (document.activeElement.labels?.[0] ?? document.activeElement).textContent)"""


def tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until the focus is on what is called so."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED).strip() == name:
            return
    raise AssertionError(f"no way to {name!r} by keyboard")


def choose_by_typing(page: Page, begins: str) -> None:
    """A select goes to what begins with the keys, unless a second passes between two of them."""
    chosen = "(document.activeElement.selectedOptions?.[0].text ?? '').toLowerCase()"
    for _ in range(10):
        page.keyboard.type(begins)
        if page.evaluate(chosen).startswith(begins):
            return
        page.wait_for_timeout(1_100)
    raise AssertionError(begins)


def test_all_the_way_by_keyboard(opened: Opened, penguins: Penguins) -> None:
    page = opened().open()
    page.get_by_label("Key").wait_for()
    tab_to(page, "Key")
    page.keyboard.type(penguins.analyst_key)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Datasets")
    expect(page.locator("h1")).to_be_focused()
    tab_to(page, penguins.name)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(penguins.name)
    tab_to(page, "Ask a question")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    tab_to(page, "What you want to know")
    choose_by_typing(page, "the var")
    tab_to(page, "Column")
    page.keyboard.press("ArrowDown")
    tab_to(page, "ε")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("0.75")
    expect(page.locator(".figure", has_text="ε 0.75")).to_be_visible()
    page.keyboard.press("Enter")  # plans it again
    tab_to(page, "+ filter")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Filter by", exact=True)).to_be_focused()
    choose_by_typing(page, "species")
    tab_to(page, "Gentoo")
    page.keyboard.press("Space")
    tab_to(page, "Add the condition")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="+ filter")).to_be_focused()
    page.get_by_role("button", name="Release for ε 0.75").wait_for()
    tab_to(page, "Release for ε 0.75")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to(page, "Release for ε 0.75")
    page.keyboard.press("Enter")
    expect(page.locator(".result h2")).to_have_text("variance of bill_length_mm where species in Gentoo, known values")
    expect(page.locator(".result h2")).to_be_focused()
    expect(page.locator("#status")).to_have_text("Released for ε 0.75.")


def test_the_menu_can_be_skipped(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.analyst_key)
    page.evaluate("document.activeElement.blur()")
    page.locator("#skip").focus()
    expect(page.locator("#skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_charts_follow_light_and_dark(opened: Opened, penguins: Penguins) -> None:
    release = penguins.table.fresh({"kind": "histogram", "column": "species"}, epsilon="1")
    dashboard = opened(color_scheme="light")
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/releases/{release['id']}")
    dashboard.settled()
    fill = "getComputedStyle(document.querySelector('.chart .bar')).fill"
    light = page.evaluate(fill)
    page.emulate_media(color_scheme="dark")
    dashboard.wait_until(f"{fill} !== '{light}'")


def test_what_the_first_paint_takes(opened: Opened, penguins: Penguins, capsys: pytest.CaptureFixture[str]) -> None:
    dashboard = opened()
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    page = dashboard.open()
    dashboard.wait_until(f"{paint} > 0")
    sign_in = page.evaluate(paint)
    page = dashboard.sign_in(penguins.analyst_key)
    page.reload()
    page.get_by_text("344 rows, 3 columns").wait_for()
    dashboard.wait_until(f"{paint} > 0")
    datasets = page.evaluate(paint)
    with capsys.disabled():
        print(f"\nfirst contentful paint: sign-in {sign_in:.0f} ms, datasets {datasets:.0f} ms")  # noqa: T201
    assert not [url for url in dashboard.requests if "vendor" in url]  # not fetched before a chart is shown
