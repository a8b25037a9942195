"""Every page: as it looks in light and on a phone in the dark, what stands on it, and that axe finds nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from dashboard import COLUMNS, Dashboard
from playwright.sync_api import Browser
from service_world import Service, serving

pytestmark = [pytest.mark.browser]
DESKTOP = {"width": 1100, "height": 800}
PHONE = {"width": 390, "height": 844}
NO_TEXT = {"[object", "undefined", "null", "NaN", "false"}  # what shows where a page is wrong

# Each page, who looks at it, its address, and what stands on it and on no other.
PAGES = [
    ("datasets", "ada", "#/datasets", "344 rows, 3 columns"),
    ("overview", "olga", "#/datasets/penguins", "What was spent, when and by whom"),
    ("planner", "ada", "#/datasets/penguins/plan", "An earlier release answers this"),
    ("derived", "ada", "#/datasets/penguins/derived", "The releases that it would be derived from"),
    ("releases", "ada", "#/datasets/penguins/releases", "mean of body_mass_g [2000, 7000]"),
    ("histogram", "ada", "#/datasets/penguins/releases/{histogram}", "Every bin as a table"),
    ("mean", "ada", "#/datasets/penguins/releases/{mean}", "95 % confidence"),
    ("ledger", "olga", "#/datasets/penguins/ledger", "Entries, newest first"),
    ("rules", "olga", "#/datasets/penguins/rules", "Change the dataset's limit"),
    ("register", "olga", "#/register", "write what is known without looking at the data"),
    ("principals", "admin", "#/principals", "owner: registers datasets and grants allowances"),
    ("audit", "vera", "#/audit", "Administrative acts, newest first"),
    ("account", "ada", "#/account", "Create a new key"),
]


@dataclass
class Laboratory:
    """A service with one table, its people's keys, and the ids of two releases."""

    url: str
    keys: dict[str, str]
    releases: dict[str, str]


def asked(client: httpx.Client, statistic: dict[str, object], epsilon: str) -> str:
    body = {"statistic": statistic, "epsilon": epsilon}
    answer = client.post("/v1/datasets/penguins/releases", json=body)
    assert answer.status_code == 201, answer.text
    identity: str = answer.json()["id"]
    return identity


def furnished(service: Service) -> Laboratory:
    roles = {"olga": "owner", "ada": "analyst", "bob": "analyst", "vera": "auditor"}
    keys = {"admin": service.admin_key}
    for name, role in roles.items():
        keys[name] = service.admin.post("/v1/principals", json={"name": name, "role": role}).json()["key"]
    olga, ada, bob = (service.client(keys[name]) for name in ("olga", "ada", "bob"))
    described = {
        "name": "penguins",
        "description": "Penguins of the Palmer Archipelago, one a row.",
        "columns": COLUMNS,
    }
    content = (files("app.demo") / "penguins.csv").read_bytes()
    assert service.upload(olga, {**described, "epsilon_limit": "10"}, content).status_code == 201
    for name, allowance in {
        "ada": {"epsilon_limit": "4"},
        "bob": {"epsilon_limit": "1", "window_days": 30},
    }.items():
        olga.put(f"/v1/datasets/penguins/allowances/{name}", json=allowance)
    mean = asked(ada, {"kind": "mean", "column": "body_mass_g"}, "0.5")
    asked(bob, {"kind": "mean", "column": "bill_length_mm"}, "0.75")
    histogram = asked(ada, {"kind": "histogram", "column": "species"}, "0.5")
    asked(ada, {"kind": "histogram", "column": "body_mass_g", "bins": 10}, "1")
    return Laboratory(service.url, keys, {"mean": mean, "histogram": histogram})


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """A service of its own, so that its pages show these names alone."""
    folder = tmp_path_factory.mktemp("laboratory")
    with serving(
        folder, f"sqlite:///{folder}/ledger.sqlite3", RATE_LIMIT="off", MAX_EPSILON_PER_RELEASE="10"
    ) as service:
        yield furnished(service)


def assert_fit_to_be_seen(dashboard: Dashboard, content: str, width: int, picture: Path) -> None:
    dashboard.settled()
    text = dashboard.page.locator("main").inner_text()
    assert content in text
    assert not NO_TEXT & set(text.replace(",", " ").split())
    dashboard.page.screenshot(path=picture, full_page=True)
    dashboard.assert_accessible()
    assert dashboard.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark-phone"])
@pytest.mark.parametrize(("page", "who", "address", "content"), PAGES, ids=[page for page, *_ in PAGES])
def test_it_is_accessible_and_fits_the_screen(
    page: str,
    who: str,
    address: str,
    content: str,
    scheme: str,
    size: dict[str, int],
    laboratory: Laboratory,
    browser: Browser,
    pictures: Path,
) -> None:
    dashboard = Dashboard(browser, laboratory.url, viewport=size, color_scheme=scheme)
    dashboard.sign_in(laboratory.keys[who], address.format(**laboratory.releases))
    assert_fit_to_be_seen(dashboard, content, size["width"], pictures / f"{page}-{scheme}.png")
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
    page.get_by_label("Name", exact=True).fill("No Name")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("alert").wait_for()
    page.get_by_role("button", name="Disable bob").click()
    page.get_by_role("dialog").wait_for()
    dashboard.assert_accessible()
    dashboard.close()
