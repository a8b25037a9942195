"""People sign in with their organisation's account, stay signed in, and sign out."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from asking import count_missing
from dashboard import Dashboard, Penguins, press_release
from playwright.sync_api import Browser, Page, Route, expect
from provider import AUDIENCE, provider
from service_world import Service, a_name, serving
from sign_on_provider import CLIENT, SignOnProvider

pytestmark = [pytest.mark.browser]
SIGN_IN = "Sign in with your account"
ENDED = "Your session has ended: sign in again."
Opened = Callable[..., Dashboard]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, SignOnProvider]]:
    folder = tmp_path_factory.mktemp("sign-on")
    with (
        provider(SignOnProvider) as issuer,
        serving(
            folder,
            f"sqlite:///{folder}/ledger.sqlite3",
            OIDC_ISSUER=issuer.url,
            OIDC_AUDIENCE=AUDIENCE,
            OIDC_ROLE_MAP="analysts=analyst",
            OIDC_LEEWAY_SECONDS="0",
            OIDC_CLIENT_ID=CLIENT,
            PUBLIC_URL="{url}",
        ) as service,
    ):
        yield service, issuer


@pytest.fixture
def issuer(world: tuple[Service, SignOnProvider]) -> Iterator[SignOnProvider]:
    one = world[1]
    kept = vars(one).copy()
    one.person = a_name("person")
    for kept_since in (one.calls, one.refreshes, one.used):
        kept_since.clear()
    yield one
    vars(one).update(kept)


@pytest.fixture
def opened(browser: Browser, world: tuple[Service, SignOnProvider], issuer: SignOnProvider) -> Iterator[Opened]:
    dashboards: list[Dashboard] = []

    def open_one() -> Dashboard:
        dashboards.append(Dashboard(browser, world[0].url, provider=issuer.url))
        return dashboards[-1]

    yield open_one
    for dashboard in dashboards:
        dashboard.close()


def sign_in(dashboard: Dashboard, fragment: str = "") -> Page:
    page = dashboard.open(fragment)
    page.get_by_role("button", name=SIGN_IN).click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


def renewals(issuer: SignOnProvider) -> int:
    return sum(form.get("grant_type") == "refresh_token" for _, form in issuer.calls)


def test_somebody_signs_in_and_out(opened: Opened, issuer: SignOnProvider) -> None:
    dashboard = opened()
    page = dashboard.open("#/account")
    expect(page.get_by_role("button", name=SIGN_IN)).to_be_visible()
    dashboard.assert_accessible()
    page.get_by_role("button", name=SIGN_IN).click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()  # where they had wanted to go
    expect(page.get_by_text(f"{issuer.person} · analyst")).to_be_visible()
    expect(page.get_by_text("your organisation's account")).to_be_visible()
    expect(page.get_by_role("button", name="Create a new key")).to_have_count(0)
    dashboard.settled()
    assert page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]
    assert [(cookie["httpOnly"], cookie["sameSite"]) for cookie in dashboard.context.cookies()] == [(True, "Strict")]
    page.reload()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name=SIGN_IN)).to_be_visible()
    dashboard.settled()
    assert dashboard.context.cookies() == []
    assert issuer.count("/end") == 1
    assert all(grant.is_revoked for grant in issuer.refreshes.values())
    page.reload()
    expect(page.get_by_role("button", name=SIGN_IN)).to_be_visible()


def test_a_token_that_expires_is_renewed_unnoticed(opened: Opened, issuer: SignOnProvider) -> None:
    """Before it expires if it says when; and if the service refuses it, the request is sent again."""
    issuer.seconds = 6
    page = sign_in(opened(), "#/datasets")
    before = renewals(issuer)
    for _ in range(2):
        time.sleep(6)
        page.get_by_role("link", name="Account", exact=True).click()
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
        page.get_by_role("link", name="Datasets", exact=True).click()
        expect(page.get_by_role("heading", name="Datasets", exact=True)).to_be_visible()
    assert renewals(issuer) > before
    expires = int(time.time()) + 20
    issuer.seconds, issuer.access_claims = 300, {"exp": expires}  # the clocks differ
    page.reload()
    expect(page.get_by_role("heading", name="Datasets", exact=True)).to_be_visible()
    issuer.access_claims, before = {}, renewals(issuer)
    time.sleep(max(0, expires + 1 - time.time()))
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    assert renewals(issuer) == before + 1
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_release_after_the_token_expired_is_paid_once(
    opened: Opened, issuer: SignOnProvider, world: tuple[Service, SignOnProvider]
) -> None:
    penguins = Penguins.registered(world[0])
    dashboard = opened()
    page = sign_in(dashboard)
    penguins.table.grant(issuer.person, "2")
    page.goto(f"{dashboard.url}/#/datasets/{penguins.name}/plan")
    expires = int(time.time()) + 30
    issuer.access_claims = {"exp": expires}  # the provider says 300 seconds: the clocks differ
    page.reload()
    page.get_by_label("What you want to know").select_option("mean")
    count_missing(page)
    page.get_by_label("ε", exact=True).fill("0.5")
    expect(page.get_by_label("The plan").locator(".figure")).to_have_text("ε 0.5")
    dashboard.settled()
    issuer.access_claims, before = {}, renewals(issuer)
    time.sleep(max(0, expires + 1 - time.time()))
    press_release(page)
    page.locator(".result").wait_for()
    assert renewals(issuer) == before + 1
    assert [entry["epsilon"] for entry in penguins.table.entries() if entry["kind"] == "debit"] == ["0.5"]


def test_two_tabs_share_a_session_and_its_end(opened: Opened, issuer: SignOnProvider) -> None:
    issuer.seconds = 5
    dashboard = opened()
    page = sign_in(dashboard)
    other = dashboard.context.new_page()
    other.goto(dashboard.url)
    expect(other.get_by_role("button", name="Sign out")).to_be_visible()
    for _ in range(3):
        time.sleep(2.5)
        for each in (page, other):
            each.evaluate("location.hash = location.hash === '#/account' ? '#/datasets' : '#/account'")
    for each in (page, other):
        expect(each.get_by_role("button", name="Sign out")).to_be_visible()
    assert not any(grant.is_revoked for grant in issuer.refreshes.values())
    page.get_by_role("button", name="Sign out").click()
    for each in (page, other):
        expect(each.get_by_role("button", name=SIGN_IN)).to_be_visible()


def test_a_session_that_has_ended_says_so(opened: Opened, issuer: SignOnProvider) -> None:
    issuer.seconds = 5
    page = sign_in(opened())
    page.evaluate("sessionStorage.setItem('snapledger.pending', '[1]')")
    for somebody, kept in ((issuer.person, "[1]"), (a_name("other"), None)):
        for grant in issuer.refreshes.values():
            grant.is_revoked = True
        time.sleep(5)
        page.get_by_role("link", name="Account", exact=True).click()
        expect(page.get_by_role("alert")).to_have_text(ENDED)
        issuer.person = somebody
        page.get_by_role("button", name=SIGN_IN).click()
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
        assert page.evaluate("sessionStorage.getItem('snapledger.pending')") == kept  # what was paid for is not lost
        page.get_by_role("link", name="Datasets", exact=True).click()
        expect(page.get_by_role("heading", name="Datasets", exact=True)).to_be_visible()


def test_a_provider_that_is_away_ends_nothing(opened: Opened, issuer: SignOnProvider) -> None:
    issuer.seconds = 5
    page = sign_in(opened())
    time.sleep(5)
    issuer.away = True
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("identity provider")
    issuer.away = False
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"denies": True}, "refused or cancelled"),
        ({"roles": ()}, "gives no access here"),
        ({"identity_claims": {"nonce": "another"}}, "not valid here"),
    ],
    ids=["denied", "no role", "not ours"],
)
def test_whoever_does_not_get_in_is_told_why(
    opened: Opened, issuer: SignOnProvider, changes: dict[str, object], said: str
) -> None:
    vars(issuer).update(changes)
    page = opened().open("#/account")
    page.get_by_role("button", name=SIGN_IN).click()
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page).to_have_url(re.compile("#/account$"))
    vars(issuer).update({"denies": False, "roles": ("analysts",), "identity_claims": {}})
    page.get_by_role("button", name="Use another account").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    assert [form.get("prompt") for path, form in issuer.calls if path == "/authorize"] == [None, "login"]


def test_a_disabled_person_is_told(
    opened: Opened, issuer: SignOnProvider, world: tuple[Service, SignOnProvider]
) -> None:
    page = sign_in(opened())
    assert world[0].admin.delete(f"/v1/principals/{issuer.person}").status_code == 204
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text(ENDED)


def test_a_lost_answer_does_not_lose_the_session(opened: Opened, issuer: SignOnProvider) -> None:
    """The page is loaded again while a token is on its way: the refresh token was used, and the cookie is the old."""
    dashboard = opened()
    page = sign_in(dashboard)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/sign-on/token", lose, times=1)
    page.reload()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert not any(grant.is_revoked for grant in issuer.refreshes.values())
    dashboard.forgive("ERR_FAILED", times=1)


def test_a_key_still_signs_in(opened: Opened, world: tuple[Service, SignOnProvider]) -> None:
    dashboard = opened()
    page = dashboard.open()
    page.get_by_label("Key").fill(world[0].admin_key)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("link", name="Principals")).to_be_visible()
    assert dashboard.context.cookies() == []
