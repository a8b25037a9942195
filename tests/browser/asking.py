"""How somebody asks a question on its page, and what the browser then sends."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from dashboard import TIMEOUT_MS, Dashboard, Penguins, press_release
from playwright.sync_api import Page

# A heading of a table is hidden where its rows are cards.
CLIPPED = """() => [...document.querySelectorAll('main *')].filter((each) => {
  const style = getComputedStyle(each);
  return each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1 && style.overflowX !== 'visible'
    && style.overflowX !== 'auto' && !each.classList.contains('visually-hidden')
    && !['SELECT', 'THEAD'].includes(each.tagName);
}).map((each) => each.outerHTML.slice(0, 120))"""

REQUESTED = re.compile(r"/v1/datasets/[^/]+/(releases|derived)$")


class Asked(NamedTuple):
    """A request that was sent and answered: `to` is `releases` or `derived`."""

    to: str
    body: dict[str, Any]
    answer: dict[str, Any]
    key: str

    @property
    def statistic(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body["derived" if self.to == "derived" else "statistic"]
        return found


def ask_for(dashboard: Dashboard, penguins: Penguins, want: str | None = None, key: str | None = None) -> Page:
    """Open the page of questions, and choose what to know."""
    page = dashboard.sign_in(key or penguins.analyst_key, f"#/datasets/{penguins.name}/plan")
    page.get_by_label("What you want to know").wait_for()
    if want is not None:
        page.get_by_label("What you want to know").select_option(want)
    return page


def count_missing(page: Page) -> None:
    """Let missing values count as the owner declared."""
    page.get_by_label("Missing values", exact=True).select_option(label="counted as the owner declared")


def unfold(page: Page, text: str) -> None:
    """Open a fold by its summary."""
    page.locator("summary", has_text=text).click()


def edit_condition(page: Page, column: str) -> None:
    """Begin a condition on a column."""
    page.get_by_role("button", name="+ filter").click()
    page.get_by_label("Filter by", exact=True).select_option(column)


def add_condition(page: Page) -> None:
    page.get_by_role("button", name="Add the condition").click()


def choose_categories(page: Page, column: str, *values: str) -> None:
    """Add a condition that a column has one of some categories."""
    edit_condition(page, column)
    for value in values:
        page.get_by_label(value, exact=True).check()
    add_condition(page)


def at_least(page: Page, column: str, number: str) -> None:
    """Add a condition that a column is not below a number."""
    edit_condition(page, column)
    page.get_by_label("Is", exact=True).select_option("at_least")
    page.get_by_label("Number", exact=True).fill(number)
    add_condition(page)


def release(page: Page, *, costs: bool = True) -> Asked:
    """Press Release and confirm: what was sent, and the service's answer."""
    with page.expect_response(
        lambda answer: bool(REQUESTED.search(answer.url)) and answer.request.method == "POST"
    ) as answered:
        press_release(page, costs=costs)
    page.locator(".result").first.wait_for()
    request = answered.value.request
    to = request.url.rsplit("/", 1)[1]
    return Asked(to, request.post_data_json, answered.value.json(), request.headers["idempotency-key"])


def wait_for(page: Page, happened: Callable[[], object]) -> None:
    """Until something is true that the page's requests bring about."""
    for _ in range(TIMEOUT_MS // 50):
        if happened():
            return
        page.wait_for_timeout(50)
    raise AssertionError("nothing happened")


def assert_fits(page: Page) -> None:
    """Nothing is wider than the window, and no text is cut."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(CLIPPED) == []
    outside = """() => [...document.querySelectorAll('main *')].filter((each) => {
      const { right, width } = each.getBoundingClientRect();
      return width > 0 && right > innerWidth + 1 && !each.closest('.tabs, .scroll, .chart, .visually-hidden');
    }).map((each) => each.outerHTML.slice(0, 120))"""
    assert page.evaluate(outside) == []
