"""Headless Chromium before a real service. What a page must never do is looked for in every test."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dashboard import TIMEOUT_MS, Dashboard, Penguins
from laboratory import Laboratory, furnish
from playwright.sync_api import Browser, expect, sync_playwright
from service_world import Service, serving

expect.set_options(timeout=TIMEOUT_MS)  # a busy machine needs more than Playwright's five seconds

PICTURES = Path(__file__).parents[2] / "docs" / "screenshots"
# The shell draws no window of its own, which takes a third of the time; the pages are the same.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or "/usr/bin/chromium"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", action="store_true", help="keep the pictures of the pages in docs/screenshots")


@pytest.fixture
def pictures(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where pictures go; those of the documentation are only made anew when asked for, since each run draws anew."""
    return PICTURES if request.config.getoption("--pictures", default=False) else tmp_path


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(
        folder, f"sqlite:///{folder}/ledger.sqlite3", RATE_LIMIT="off", MAX_EPSILON_PER_RELEASE="10"
    ) as service:
        yield service


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """A service of its own, so that its pages show these names alone."""
    folder = tmp_path_factory.mktemp("laboratory")
    with serving(
        folder, f"sqlite:///{folder}/ledger.sqlite3", RATE_LIMIT="off", MAX_EPSILON_PER_RELEASE="10"
    ) as service:
        yield furnish(service)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip("needs Debian's package chromium-headless-shell or chromium")
    with sync_playwright() as playwright:
        # The sandbox needs privileges that containers and root do not have; the only pages are our own.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


Opened = Callable[..., Dashboard]


@pytest.fixture
def opened(browser: Browser, service: Service) -> Iterator[Opened]:
    """Opens the dashboard in a new browser context, with its options."""
    dashboards: list[Dashboard] = []

    def open_one(**options: object) -> Dashboard:
        dashboards.append(Dashboard(browser, service.url, **options))
        return dashboards[-1]

    yield open_one
    for dashboard in dashboards:
        dashboard.close()


@pytest.fixture
def penguins(service: Service) -> Penguins:
    """A table of penguins with its people, of this test alone."""
    return Penguins.registered(service)
