"""Every page and dialog at 360, 768 and 1,440 px: nothing scrolls sideways, no text is cut, charts follow their box."""

import pytest
from dashboard import Dashboard
from laboratory import PAGES, Laboratory
from playwright.sync_api import Browser, Page, expect

pytestmark = [pytest.mark.browser]
WIDTHS = (1440, 768, 360)
HEIGHT = 900
MAX_PAGE_BYTES = 400_000

# The texts that leave what cuts them off, or the window. A box that scrolls may hold more than it shows.
CUT_OFF = """() => {
  const cut = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest("select, noscript, title, .skip")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rect = range.getBoundingClientRect();
    let box = parent;
    for (; box && box !== document.documentElement; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (/auto|scroll/.test(style.overflowX) || style.clipPath === "inset(50%)") break;
      const edge = box.getBoundingClientRect();
      const clips = /hidden|clip/.test(style.overflowX) || box.localName === "svg";
      if (clips && (rect.right > edge.right + 1 || rect.left < edge.left - 1)) cut.push(node.data);
    }
    if (box === document.documentElement && (rect.right > innerWidth + 1 || rect.left < -1)) cut.push(node.data);
  }
  return cut;
}"""

# Each chart shows one picture, as wide as its box; only a heatmap may be wider, in a box that scrolls.
ILL_FITTING = """() => [...document.querySelectorAll(".chart")].filter((chart) => {
  if (!chart.checkVisibility()) return false;
  const [picture, more] = chart.querySelectorAll("svg");
  const width = picture?.width.baseVal.value ?? 0;
  return more || width < chart.clientWidth - 1 || (width > chart.clientWidth + 1 && !chart.querySelector(".cell"));
}).map((chart) => chart.getAttribute("aria-label"))"""


# Texts of one chart that lie on each other.
OVERLAPPING = """() => [...document.querySelectorAll(".chart svg")].flatMap((picture) => {
  if (!picture.checkVisibility()) return [];
  const texts = [...picture.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([name, one], at) => texts.slice(at + 1)
    .filter(([, other]) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
      && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4)
    .map(([other]) => `${name} | ${other}`));
})"""


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def assert_well_laid_out(page: Page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(ILL_FITTING) == []
    assert page.evaluate(OVERLAPPING) == []


@pytest.mark.parametrize(("page", "who", "address", "content"), PAGES, ids=[page for page, *_ in PAGES])
def test_a_page_fits_every_width_and_follows_it(
    page: str, who: str, address: str, content: str, laboratory: Laboratory, browser: Browser
) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport={"width": 360, "height": HEIGHT}, color_scheme="light")
    shown = dashboard.sign_in(laboratory.keys[who], address.format(**laboratory.releases))
    expect(shown.locator("main")).to_contain_text(content, use_inner_text=True)
    dashboard.settled()
    assert_well_laid_out(shown, 360)
    for width in WIDTHS:
        resize(shown, width)
        assert_well_laid_out(shown, width)
    shown.emulate_media(color_scheme="dark")
    resize(shown, 1440)
    assert_well_laid_out(shown, 1440)
    dashboard.close()


@pytest.mark.parametrize(("page", "who", "address", "content"), PAGES, ids=[page for page, *_ in PAGES])
def test_a_page_is_small(
    page: str, who: str, address: str, content: str, laboratory: Laboratory, browser: Browser
) -> None:
    """All that is transferred for it, to somebody who has never been here. Each module is asked for at once."""
    dashboard = Dashboard(browser, laboratory.url)
    shown = dashboard.open()
    shown.evaluate("key => sessionStorage.setItem('snapledger.key', key)", laboratory.keys[who])
    shown.goto("about:blank")
    shown.goto(f"{laboratory.url}/{address.format(**laboratory.releases)}")
    expect(shown.locator("main")).to_contain_text(content, use_inner_text=True)
    dashboard.settled()
    size = "performance.getEntries().reduce((total, { transferSize = 0 }) => total + transferSize, 0)"
    assert 0 < shown.evaluate(size) < MAX_PAGE_BYTES
    loaded = set(shown.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)"))
    preloaded = set(shown.evaluate("[...document.querySelectorAll('link[rel=modulepreload]')].map(({ href }) => href)"))
    modules = {name for name in loaded if name.endswith(".js") and not name.endswith("/preload.js")}
    assert modules == preloaded
    dashboard.close()


def test_a_ledger_fits_a_tablet(laboratory: Laboratory, browser: Browser) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport={"width": 768, "height": HEIGHT})
    page = dashboard.sign_in(laboratory.keys["olga"], "#/datasets/penguins/ledger")
    box = page.get_by_role("region", name="Entries, newest first")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0
    dashboard.close()


def test_the_menu_of_a_phone_opens_and_closes(laboratory: Laboratory, browser: Browser) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport={"width": 360, "height": HEIGHT})
    page = dashboard.sign_in(laboratory.keys["admin"])
    header = page.locator("header")
    assert header.bounding_box()["height"] < 60  # one line
    expect(page.get_by_role("link", name="Principals")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    dashboard.assert_accessible()
    assert_well_laid_out(page, 360)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Principals")).to_be_hidden()
    expect(page.get_by_role("button", name="Menu")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Principals").click()
    expect(page.locator("h1")).to_have_text("Principals")
    expect(page.get_by_role("link", name="Account")).to_be_hidden()
    dashboard.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_dialogs_fit(laboratory: Laboratory, browser: Browser, width: int) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport={"width": width, "height": HEIGHT})
    page = dashboard.sign_in(laboratory.keys["admin"], "#/principals")
    for name in ("Disable bob", "New key for bob", "Display name of bob"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("dialog").wait_for()
        assert_well_laid_out(page, width)
        dashboard.assert_accessible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    dashboard.close()
