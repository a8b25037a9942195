"""People sign in at a provider that is not ours: oidc-provider from npm, which is certified for OpenID Connect.

In Chromium and from a terminal, with tokens that live for seconds, until they sign out.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from service_world import Service, becomes, free_port, serving

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "provider"
NODE = shutil.which("node") or str(ROOT / ".venv-node" / "bin" / "node")
TOKEN_SECONDS = 5
TIMEOUT_MS = 30_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (FOLDER / "node_modules" / "oidc-provider").exists(), reason="`make test-browser` installs it"
    ),
    pytest.mark.timeout(300),
]


@contextmanager
def _running(port: int, dashboard: str, log: Path) -> Iterator[str]:
    command = [NODE, str(FOLDER / "server.js"), str(port), dashboard, str(TOKEN_SECONDS)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)  # noqa: S603 - installed from the lock file
    try:
        assert becomes(lambda: process.poll() is not None or "ready" in log.read_text())
        assert process.poll() is None, log.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder, port = tmp_path_factory.mktemp("real-provider"), free_port()
    issuer = f"http://127.0.0.1:{port}"
    settings = {
        "OIDC_ISSUER": issuer,
        "OIDC_AUDIENCE": "snapledger",
        "OIDC_ROLE_MAP": "analysts=analyst",
        "OIDC_LEEWAY_SECONDS": "0",
        "OIDC_CLIENT_ID": "snapledger",
        "OIDC_RESOURCE": "https://snapledger.example",
        "PUBLIC_URL": "{url}",
    }
    with (
        serving(folder, f"sqlite:///{folder}/ledger.sqlite3", **settings) as service,
        _running(port, service.url, folder / "provider.log"),
    ):
        yield service


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        context.set_default_timeout(TIMEOUT_MS)
        context.route(re.compile("^https://"), lambda route: route.abort())  # the provider's own page wants a font
        yield context.new_page()


def log_in(page: Page, name: str) -> None:
    """As oidc-provider's own pages ask: a name, any password, and consent."""
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_in_a_browser(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/#/account")
    page.get_by_role("button", name="Sign in with your account").click()
    log_in(page, "grace")
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    expect(page.get_by_text("grace · analyst")).to_be_visible()
    for _ in range(2):  # the access token expires in the middle of the session, and its successor too
        time.sleep(TOKEN_SECONDS + 1)
        page.get_by_role("link", name="Datasets", exact=True).click()
        expect(page.get_by_role("heading", name="Datasets", exact=True)).to_be_visible()
        page.get_by_role("link", name="Account", exact=True).click()
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
    page.reload()
    expect(page.get_by_text("grace · analyst")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Yes, sign me out").click()
    expect(page.get_by_role("button", name="Sign in with your account")).to_be_visible()
    assert [each["name"] for each in page.context.cookies() if each["name"].startswith("snapledger")] == []
    page.get_by_role("button", name="Sign in with your account").click()
    expect(page.locator("input[name=login]")).to_be_visible()  # signed out there too


def test_refusing_there(page: Page, service: Service) -> None:
    page.goto(service.url)
    page.get_by_role("button", name="Sign in with your account").click()
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("refused or cancelled")


def test_from_a_terminal(page: Page, service: Service, tmp_path: Path) -> None:
    cleared = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
    environment = cleared | {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    command = [sys.executable, "-c", "from snapledger_client.cli.entry import main; main()"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)  # noqa: S603

    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, "sign-in", service.url], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stderr is not None
        shown = waiting.stderr.readline()
        found = re.fullmatch(r"To sign in, open (\S+) and enter the code (\S+) \(within 10 minutes\)\.\n", shown)
        assert found, shown
        page.goto(found[1])
        page.locator("input[name=user_code]").fill(found[2])
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Continue").click()  # it is the code that the terminal shows
        log_in(page, "ada")
        expect(page.get_by_text("Sign-in Success")).to_be_visible()
        told, errors = waiting.communicate(timeout=60)
    assert told == f"Signed in to {service.url} as ada (analyst).\n", errors
    for _ in range(2):
        time.sleep(TOKEN_SECONDS + 1)
        me = run("me")
        assert (me.returncode, "ada" in me.stdout) == (0, True), me.stderr
    assert run("sign-out").stdout == "Signed out.\n"
    assert run("me").returncode == 4
    assert httpx.get(f"{service.url}/v1/sign-on").json()["provider"]["client_id"] == "snapledger"
