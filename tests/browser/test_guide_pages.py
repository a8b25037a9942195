"""The guide in a browser, as the service serves it: each page, the search, and the reader's choice of light or dark."""

import re
from collections.abc import Iterator

import pytest
from dashboard import Dashboard
from guide_site import ROOT
from playwright.sync_api import Browser
from service_world import serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
PAGES = sorted(str(path.relative_to(ROOT / "docs").with_suffix("")) for path in ROOT.glob("docs/*.md"))
DESK, PHONE = ("light", 1300), ("dark", 390)
VIEWS = [(page, *DESK) for page in (*PAGES, "decisions/index", "search")]
VIEWS += [(page, *PHONE) for page in ("index", "tutorial-owner", "mathematics", "search")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("guide")
    assert (ROOT / "app" / "guide" / "index.html").exists(), "make docs builds the guide"
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3") as service:
        yield f"{service.url}/guide"


@pytest.mark.parametrize(("page", "scheme", "width"), VIEWS)
def test_a_page(browser: Browser, url: str, page: str, scheme: str, width: int) -> None:
    reader = Dashboard(browser, url, color_scheme=scheme, viewport={"width": width, "height": 900})
    try:
        shown = reader.open(f"{page}.html")
        assert shown.locator("h1").count() == 1
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        reader.assert_accessible()
    finally:
        reader.close()


def test_the_search_finds(browser: Browser, url: str) -> None:
    reader = Dashboard(browser, url)
    try:
        page = reader.open("index.html")
        page.get_by_placeholder("Search").first.fill("idempotency")
        page.keyboard.press("Enter")
        page.locator("#search-results li a").first.wait_for()
        assert re.search(r"/guide/search\.html\?q=idempotency", page.url)
        page.locator("#search-results li a").first.click()
        page.get_by_text(re.compile("idempotency", re.IGNORECASE)).first.wait_for()
    finally:
        reader.close()


def test_the_theme_is_kept(browser: Browser, url: str) -> None:
    reader = Dashboard(browser, url, color_scheme="light")
    try:
        page = reader.open("index.html")
        assert page.evaluate("document.body.dataset.theme") == "auto"
        page.locator(".theme-toggle").last.click()
        chosen = page.evaluate("document.body.dataset.theme")
        assert chosen == "dark"
        reader.open("mathematics.html")
        assert page.evaluate("document.body.dataset.theme") == chosen
    finally:
        reader.close()
