"""The dashboard as somebody in front of a browser meets it, and what is held against every page of it."""

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request
from service_world import Service, Table

COLUMNS = {
    "body_mass_g": {"kind": "integer", "bounds": [2000, 7000]},
    "bill_length_mm": {"kind": "real", "bounds": [30, 65]},
    "species": {"kind": "category", "categories": ["Adelie", "Chinstrap", "Gentoo"], "nullable": False},
}
TIMEOUT_MS = 20_000
REFUSAL = re.compile(r"Failed to load resource: the server responded with a status of (4\d\d|503)")


RELEASE = re.compile(r"^(Release|Get the answer)")


def press_release(page: Page, *, costs: bool = True) -> None:
    """Press Release, and confirm that it may be paid."""
    page.get_by_label("The plan").get_by_role("button", name=RELEASE).click()
    if costs:
        page.get_by_role("dialog").get_by_role("button", name="Release for ε").click()


def rounded(value: float, rounding: str = ROUND_HALF_EVEN) -> float:
    """A number rounded to the six significant digits that the dashboard shows, or to five if it shows an exponent."""
    digits = 5 if 0 < abs(value) < 1e-4 else 6
    return value if value == int(value) else float(Context(digits, rounding).plus(Decimal(repr(value))))


def step_of(error: float) -> Decimal:
    """The place of the last digit beside an error: its second significant one, but no larger than 1."""
    return Decimal(10) ** min(0, Decimal(repr(error)).adjusted() - 1)


def at_step(value: float, step: Decimal, rounding: str | None = None) -> Decimal:
    rounding = rounding or (ROUND_HALF_UP if value > 0 else ROUND_HALF_DOWN)  # halves upwards, as Math.round
    return (Decimal(repr(value)) / step).quantize(Decimal(1), rounding) * step + 0  # no negative zero


def measured(value: float, error: float) -> str:
    """A value with its error as the dashboard shows them: `4,206 ± 88`, where the error covers the rounding."""
    step = step_of(error)
    near = at_step(value, step)
    return f"{near:,} ± {at_step(error + abs(value - float(near)), step, ROUND_CEILING):,}"


def valued(value: float, low: float, high: float, *, whole: bool = False) -> tuple[str, str]:
    """A value and its interval as the dashboard shows them, the interval rounded outwards; counts are whole."""
    step = Decimal(1) if whole else step_of((high - low) / 2)
    outer = at_step(low, step, ROUND_FLOOR), at_step(high, step, ROUND_CEILING)
    return f"{at_step(value, step):,}", " to ".join(f"{end:,}" for end in outer)


@dataclass
class Penguins:
    """A table of penguins and the keys of its people."""

    table: Table
    owner_key: str
    analyst_key: str
    admin_key: str

    @property
    def name(self) -> str:
        return self.table.name

    @classmethod
    def registered(cls, service: Service, *, limit: str = "10", allowance: str = "4", **more: Any) -> "Penguins":
        content = (files("app.demo") / "penguins.csv").read_bytes()
        described = {"description": "Penguins of the Palmer Archipelago, one a row.", "columns": COLUMNS, **more}
        return cls.of(service.table(content=content, limit=limit, allowance=allowance, **described), service)

    @classmethod
    def of(cls, table: Table, service: Service) -> "Penguins":
        keys = [client.headers["Authorization"].removeprefix("Bearer ") for client in (table.owner, table.analyst)]
        return cls(table, *keys, service.admin_key)


class Dashboard:
    """A browser context with one page. Its console, its requests and its errors are watched from the first on."""

    def __init__(self, browser: Browser, url: str, *, provider: str = "", **options: Any) -> None:
        self.url, self._provider = url, provider
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(TIMEOUT_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._running: set[Request] = set()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked)
        self.page.on("requestfinished", self._ended)
        self.page.on("requestfailed", self._ended)

    def _heard(self, message: ConsoleMessage) -> None:
        # Chromium itself notes each refusal; that the page copes with those is what the tests are about.
        if message.type in {"error", "warning"} and not REFUSAL.match(message.text):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        is_visit = self._provider != "" and request.url.startswith(self._provider) and request.is_navigation_request()
        if not is_visit:  # no script of ours asks a provider, but people go to its pages
            self.requests.append(request.url)
        self._running.add(request)

    def _ended(self, request: Request) -> None:
        self._running.discard(request)

    def open(self, fragment: str = "") -> Page:
        self.page.goto(f"{self.url}/{fragment}")
        return self.page

    def sign_in(self, key: str, fragment: str = "") -> Page:
        page = self.open(fragment)
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        page.locator("#menu a").first.wait_for(state="attached")  # a phone shows the menu only when it is opened
        return page

    def forgive(self, text: str, *, times: int) -> None:
        """Chromium notes requests that a test has lost by intent; exactly these are no complaint."""
        noted = [complaint for complaint in self.complaints if text in complaint]
        assert len(noted) == times
        self.complaints = [complaint for complaint in self.complaints if complaint not in noted]

    def settled(self) -> None:
        """Until nothing is fetched any more, or planned, and the charts are drawn."""
        self._wait_for_quiet()
        self.wait_until("document.querySelector('[aria-busy=true]') === null")
        self.wait_until("[...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('svg'))")

    def _wait_for_quiet(self) -> None:
        """Until nothing was fetched for half a second.

        Playwright's `networkidle` is told once for each document, and never if it came before the page was parsed.
        """
        quiet = 0
        for _ in range(TIMEOUT_MS // 50):
            self.page.wait_for_timeout(50)
            quiet = 0 if self._running else quiet + 50
            if quiet == 500:
                return
        raise AssertionError([request.url for request in self._running])

    def wait_until(self, expression: str) -> None:
        """Playwright's own way to wait evaluates in the page, which the Content-Security-Policy forbids."""
        for _ in range(TIMEOUT_MS // 50):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(expression)

    def assert_accessible(self) -> None:
        """Neither contrast, nor a label, nor anything else that axe finds is amiss, once colours no longer change."""
        self.wait_until("document.getAnimations().length === 0")
        found = Axe().run(self.page).response["violations"]
        amiss = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]
        assert amiss == [], amiss  # told here: assertions of this module are not rewritten

    def close(self) -> None:
        self.context.close()
        home = urlsplit(self.url).netloc
        elsewhere = [
            url for url in self.requests if urlsplit(url).netloc != home and not url.startswith(("data:", "blob:"))
        ]
        assert elsewhere == []
        assert self.complaints == []
