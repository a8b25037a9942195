"""People sign on in the dashboard: the way to the provider and back, access tokens, their renewal, and sign-out."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from provider import provider, rsa_key
from service_world import Service, a_name, serving
from sign_on_provider import CLIENT, SignOnProvider, sign_on_settings

from app.config import Settings
from app.services.identity.sealed_values import ValueSealer


@pytest.fixture
def service(sign_on_world: tuple[Service, SignOnProvider]) -> Service:
    return sign_on_world[0]


class Browser:
    """Cookies and redirects as a browser has them; the page's own requests name their origin."""

    def __init__(self, service: Service) -> None:
        self.http, self.url = httpx.Client(base_url=service.url, timeout=60), service.url

    def start(self, query: str = "") -> str:
        """The address at the provider that `Sign in` leads to."""
        answer = self.http.get(f"/sign-on/start{query}")
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def allow(self, address: str) -> str:
        """The address of the callback that the provider leads to."""
        answer = httpx.get(address)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def arrive(self, address: str) -> str:
        """How it went, as the dashboard is told."""
        answer = self.http.get(address)
        assert answer.status_code == 303, answer.text
        home, _, outcome = answer.headers["location"].partition("/#sign-on=")
        assert home == self.url
        return outcome

    def sign_on(self) -> str:
        return self.arrive(self.allow(self.start()))

    def post(self, path: str, origin: str | None = None) -> httpx.Response:
        return self.http.post(f"/sign-on/{path}", headers={"Origin": origin or self.url})

    def token(self) -> str:
        answer = self.post("token")
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])


@pytest.fixture
def browser(service: Service) -> Iterator[Browser]:
    one = Browser(service)
    yield one
    one.http.close()


def name_of(service: Service, token: str) -> Any:
    answer = service.stranger.get("/v1/me", headers={"Authorization": f"Bearer {token}"})
    return answer.json()["name"] if answer.status_code == 200 else answer.status_code


def test_a_person_signs_on_calls_and_signs_out(service: Service, issuer: SignOnProvider, browser: Browser) -> None:
    address = browser.start()
    asked = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
    assert asked.keys() == {
        *("tenant", "response_type", "client_id", "redirect_uri", "scope"),
        *("state", "nonce", "code_challenge", "code_challenge_method"),
    }
    assert min(len(asked[name]) for name in ("state", "nonce", "code_challenge")) >= 43
    assert asked["redirect_uri"] == f"{service.url}/sign-on/callback"
    assert browser.arrive(browser.allow(address)) == "done"
    first = browser.post("token")
    assert first.json() == {"access_token": first.json()["access_token"], "expires_in": 300}
    assert first.headers["cache-control"] == "no-store"
    assert name_of(service, first.json()["access_token"]) == issuer.person
    cookies = first.headers.get_list("set-cookie")
    assert all("; Path=/; HttpOnly; SameSite=Strict" in cookie for cookie in cookies)
    ended = browser.post("end").json()
    told = {name: value for name, (value,) in parse_qs(urlsplit(ended["url"]).query).items()}
    assert (told["client_id"], told["post_logout_redirect_uri"]) == (CLIENT, f"{service.url}/")
    assert told["id_token_hint"].startswith("eyJ")
    assert [grant.is_revoked for grant in issuer.refreshes.values()][-1]
    assert browser.post("token").status_code == 204
    assert list(browser.http.cookies) == []


def test_tokens_are_renewed_and_each_refresh_token_is_used_once(issuer: SignOnProvider, browser: Browser) -> None:
    browser.sign_on()
    given = [browser.token() for _ in range(4)]
    assert len(set(given)) == 4
    refreshed = [form["refresh_token"] for path, form in issuer.calls if form.get("grant_type") == "refresh_token"]
    assert len(set(refreshed)) == 4


def test_two_tabs_that_renew_at_once_share_an_answer(issuer: SignOnProvider, browser: Browser) -> None:
    """A provider revokes everything when a refresh token is used twice, and tabs do not know of each other."""
    browser.sign_on()
    cookie = {"Cookie": f"snapledger-session={browser.http.cookies['snapledger-session']}", "Origin": browser.url}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: httpx.post(f"{browser.url}/sign-on/token", headers=cookie), range(8)))
    assert [answer.status_code for answer in answers] == [200] * 8
    assert len({answer.json()["access_token"] for answer in answers}) == 1
    assert not any(grant.is_revoked for grant in issuer.refreshes.values())


def test_sign_out_ends_a_session_that_another_tab_has_just_renewed(issuer: SignOnProvider, browser: Browser) -> None:
    browser.sign_on()
    before = f"snapledger-session={browser.http.cookies['snapledger-session']}"
    browser.token()
    latest = list(issuer.refreshes)[-1]
    asked = {"Cookie": before, "Origin": browser.url}  # sent before the new cookie arrived
    assert httpx.post(f"{browser.url}/sign-on/end", headers=asked).status_code == 200
    assert [form["token"] for path, form in issuer.calls if path == "/revoke"][-1] == latest


def test_a_session_that_the_provider_has_ended_is_over(issuer: SignOnProvider, browser: Browser) -> None:
    browser.sign_on()
    for grant in issuer.refreshes.values():
        grant.is_revoked = True
    answer = browser.post("token")
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/unauthenticated")
    assert list(browser.http.cookies) == []
    assert browser.post("token").status_code == 204


def test_without_a_refresh_token_a_session_lasts_as_long_as_its_token(
    service: Service, issuer: SignOnProvider, browser: Browser
) -> None:
    issuer.gives_refresh = False
    browser.sign_on()
    assert name_of(service, browser.token()) == issuer.person
    issuer.seconds = 2
    browser.sign_on()
    assert browser.post("token").status_code == 401  # it would expire on its way


def _without_cookies(browser: Browser, address: str) -> str:
    browser.http.cookies.clear()
    return address


def _with(browser: Browser, address: str, **changed: str | None) -> str:
    parts = urlsplit(address)
    query = {name: value for name, (value,) in parse_qs(parts.query).items()} | changed
    return parts._replace(query=urlencode({name: value for name, value in query.items() if value})).geturl()


def _of_another_attempt(browser: Browser, address: str) -> str:
    browser.start()
    return address


def _replayed(browser: Browser, address: str) -> str:
    assert browser.arrive(address) == "done"
    return address


INTERRUPTED: dict[str, Callable[[Browser, str], str]] = {
    "in another browser": _without_cookies,
    "of an earlier attempt": _of_another_attempt,
    "replayed": _replayed,
    "another state": lambda browser, address: _with(browser, address, state="x" * 43),
    "no state": lambda browser, address: _with(browser, address, state=None),
    "a state that is no ASCII": lambda browser, address: _with(browser, address, state="ä"),
    "two states": lambda _, address: f"{address}&state=x",
    "another provider": lambda browser, address: _with(browser, address, iss="https://other.example"),
    "no provider": lambda browser, address: _with(browser, address, iss=None),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_answer_that_is_not_this_attempt_s_signs_nobody_on(
    issuer: SignOnProvider, browser: Browser, name: str
) -> None:
    """Forged and replayed answers, and those of another provider (mix-up), are not even sent to the provider."""
    address = INTERRUPTED[name](browser, browser.allow(browser.start()))
    called = issuer.count("/token")
    assert browser.arrive(address) == "interrupted"
    assert issuer.count("/token") == called


def test_a_forged_answer_does_not_end_the_attempt(issuer: SignOnProvider, browser: Browser) -> None:
    address = browser.allow(browser.start())
    assert browser.arrive(_with(browser, address, state="forged")) == "interrupted"
    assert browser.arrive(address) == "done"


BAD_TOKENS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another sign-on's nonce": ({"nonce": "another"}, {}, "failed"),
    "no nonce": ({"nonce": ...}, {}, "failed"),
    "an ID token for another client": ({"aud": "others"}, {}, "failed"),
    "an ID token for several, by another": ({"aud": [CLIENT, "others"], "azp": "others"}, {}, "failed"),
    "an ID token for several, by nobody": ({"aud": [CLIENT, "others"]}, {}, "failed"),
    "an ID token of another issuer": ({"iss": "https://other.example"}, {}, "failed"),
    "an ID token of the past": ({"exp": 1}, {}, "failed"),
    "an ID token signed by another": ({"key": rsa_key()}, {}, "failed"),
    "an access token for another service": ({}, {"aud": "others"}, "failed"),
    "an access token that is no JWT": ({}, {"padding": "x" * 20_000}, "failed"),
    "no role": ({}, {"roles": []}, "no-access"),
    "no name": ({}, {"preferred_username": "@"}, "no-access"),
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_tokens_that_are_not_for_this_sign_on_begin_no_session(
    issuer: SignOnProvider, browser: Browser, name: str
) -> None:
    issuer.identity_claims, issuer.access_claims, outcome = BAD_TOKENS[name]
    issuer.roles = () if "roles" in issuer.access_claims else issuer.roles
    issuer.access_claims = {key: value for key, value in issuer.access_claims.items() if key != "roles"}
    assert browser.sign_on() == outcome
    assert list(browser.http.cookies) == []


def test_whoever_is_refused_there_is_told_so(service: Service, issuer: SignOnProvider, browser: Browser) -> None:
    issuer.denies = True
    assert browser.sign_on() == "denied"
    assert "<b>" not in service.log.read_text()


def test_the_clocks_may_differ_a_little(issuer: SignOnProvider, browser: Browser) -> None:
    for issued, expires, outcome in (
        (20, 300, "done"),
        (-300, -2, "done"),
        (900, 1200, "failed"),
        (-300, -90, "failed"),
    ):
        now = int(time.time())
        issuer.identity_claims = {"iat": now + issued, "exp": now + expires}
        assert browser.sign_on() == outcome, (issued, expires)


@pytest.mark.slow
def test_a_rotated_key_ends_no_session(service: Service, issuer: SignOnProvider, browser: Browser) -> None:
    browser.sign_on()
    time.sleep(1.1)
    issuer.rotate(a_name("key"))
    assert name_of(service, browser.token()) == issuer.person
    time.sleep(1.1)
    issuer.rotate(a_name("key"))
    assert browser.sign_on() == "done"


def test_a_provider_that_is_away_ends_no_session(service: Service, issuer: SignOnProvider, browser: Browser) -> None:
    """503 and not 401, so that the page keeps its session and tries again; keys go on working."""
    browser.sign_on()
    token = browser.token()
    address = browser.allow(browser.start())
    time.sleep(1.1)  # its configuration is not remembered any longer
    issuer.away = True
    try:
        answer = browser.post("token")
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert name_of(service, token) == issuer.person
        assert service.admin.get("/v1/me").status_code == 200
        assert browser.http.get("/sign-on/start").headers["location"] == f"{service.url}/#sign-on=away"
        assert browser.arrive(address) == "away"
    finally:
        issuer.away = False
    assert name_of(service, browser.token()) == issuer.person


def test_sign_out_works_while_the_provider_is_away(issuer: SignOnProvider, browser: Browser) -> None:
    browser.sign_on()
    time.sleep(1.1)
    issuer.away = True
    try:
        assert browser.post("end").json() == {"url": None}
    finally:
        issuer.away = False
    assert list(browser.http.cookies) == []


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", ""])
def test_only_the_dashboard_s_own_page_gets_tokens(browser: Browser, origin: str) -> None:
    browser.sign_on()
    kept = dict(browser.http.cookies)
    for path in ("token", "end"):
        answer = browser.http.post(f"/sign-on/{path}", headers={"Origin": origin} if origin else {})
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/forbidden")
    assert dict(browser.http.cookies) == kept
    assert browser.http.get("/sign-on/token", headers={"Origin": browser.url}).status_code == 405


def test_no_redirect_leads_elsewhere(service: Service, browser: Browser) -> None:
    """Whatever the address and the headers say: to the provider's page, or to the dashboard."""
    for headers in (
        {"Host": "evil.example"},
        {"X-Forwarded-Host": "evil.example"},
        {"Referer": "https://evil.example"},
    ):
        for path in ("start?to=https://evil.example", "start?redirect_uri=https://evil.example", "callback?to=//evil"):
            location = browser.http.get(f"/sign-on/{path}", headers=headers).headers["location"]
            assert "evil" not in location


def test_cookies_are_sealed_for_one_purpose(service: Service, issuer: SignOnProvider, browser: Browser) -> None:
    browser.start()
    attempt = browser.http.cookies["snapledger-attempt"]
    browser.http.cookies.clear()
    for forged in (attempt, attempt[:-4] + "AAAA", "", "x", ValueSealer([b"x" * 32]).seal("session", {})):
        cookie = {"Cookie": f"snapledger-session={forged}", "Origin": browser.url}
        assert httpx.post(f"{service.url}/sign-on/token", headers=cookie).status_code == 204
    assert issuer.count("/token") == 0


def test_tokens_codes_and_cookies_are_nowhere(service: Service, issuer: SignOnProvider, browser: Browser) -> None:
    address = browser.allow(browser.start())
    assert browser.arrive(address) == "done"
    secrets = [browser.token(), *issuer.refreshes, parse_qs(urlsplit(address).query)["code"][0]]
    sealed = browser.http.cookies["snapledger-session"]
    log = service.log.read_text()
    for secret in [*secrets, sealed]:
        assert secret not in log
        assert secret == sealed or secret not in sealed


def test_another_account_is_asked_for(browser: Browser) -> None:
    assert "prompt=login" in browser.start("?account=another")
    assert "prompt" not in browser.start()


def test_the_service_says_how_people_sign_on(service: Service, issuer: SignOnProvider, one_service: Service) -> None:
    assert service.stranger.get("/v1/sign-on").json() == {
        "provider": {
            "issuer": issuer.url,
            "client_id": CLIENT,
            "scopes": ["openid", "profile"],
            "resource": None,
            "dashboard_url": f"{service.url}/sign-on/start",
        }
    }
    assert one_service.stranger.get("/v1/sign-on").json() == {"provider": None}
    assert one_service.stranger.post("/v1/sign-on").status_code == 405
    assert httpx.get(f"{one_service.url}/sign-on/start").status_code == 404


@pytest.mark.slow
def test_a_client_with_a_secret_and_a_resource(tmp_path: Any) -> None:
    with provider(SignOnProvider) as issuer:
        issuer.secret = "a secret: 100 %"  # noqa: S105 - the tests' own
        more = {"OIDC_CLIENT_SECRET": issuer.secret, "OIDC_RESOURCE": "https://snapledger.example"}
        database = f"sqlite:///{tmp_path}/ledger.sqlite3"
        with serving(tmp_path, database, **sign_on_settings(issuer, **more)) as service:
            browser = Browser(service)
            assert browser.sign_on() == "done"
            assert name_of(service, browser.token()) == issuer.person
            assert browser.post("end").json()["url"]
            assert {form.get("resource") for path, form in issuer.calls if path in {"/authorize", "/token"}} == {
                "https://snapledger.example"
            }
            assert service.stranger.get("/v1/sign-on").json()["provider"]["client_id"] is None
            assert issuer.secret not in service.log.read_text()
            browser.http.close()


@pytest.mark.slow
def test_over_https_cookies_are_this_host_s_alone(tmp_path: Any, issuer: SignOnProvider) -> None:
    home = "https://snapledger.example.org"  # a proxy in front speaks TLS
    database = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, database, **sign_on_settings(issuer, PUBLIC_URL=home)) as service:
        begun = httpx.get(f"{service.url}/sign-on/start")
        address = begun.headers["location"]
        assert parse_qs(urlsplit(address).query)["redirect_uri"] == [f"{home}/sign-on/callback"]
        callback = urlsplit(httpx.get(address).headers["location"])
        cookie = {"Cookie": begun.headers["set-cookie"].partition(";")[0]}
        arrived = httpx.get(f"{service.url}{callback.path}?{callback.query}", headers=cookie)
        assert arrived.headers["location"] == f"{home}/#sign-on=done"
        cookies = [begun.headers["set-cookie"], *arrived.headers.get_list("set-cookie")]
        assert [cookie.partition("=")[0] for cookie in cookies] == [
            "__Host-snapledger-attempt",
            "__Host-snapledger-session",
            "__Host-snapledger-attempt",
        ]
        for cookie_text, same_site in zip(cookies, ("Lax", "Strict", "Lax"), strict=True):
            assert cookie_text.endswith(f"; Path=/; HttpOnly; SameSite={same_site}; Secure")


@pytest.mark.slow
def test_whoever_has_no_key_yet_is_counted_by_address(tmp_path: Any, issuer: SignOnProvider) -> None:
    """Nobody makes the service ask the provider without end; those with a key are counted apart."""
    database = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, database, **sign_on_settings(issuer, RATE_LIMIT="5/hour")) as service:
        answers = [httpx.get(f"{service.url}/sign-on/callback?state=x") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [303] * 5
        for path in ("/sign-on/start", "/v1/sign-on"):
            refused = httpx.get(f"{service.url}{path}")
            assert (refused.status_code, refused.json()["type"]) == (429, "/problems/rate-limited")
        assert service.admin.get("/v1/me").status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"public_url": "https://snapledger.example/path"},
        {"public_url": "http://snapledger.example"},
        {"public_url": None},
        {"oidc_issuer": None},
        {"oidc_scopes": "profile"},
        {"oidc_client_id": None, "oidc_client_secret": "s"},
        {"oidc_issuer": None, "oidc_client_id": None, "oidc_device_client_id": "terminal"},
    ],
    ids=str,
)
def test_settings_that_are_refused(wrong: dict[str, Any]) -> None:
    right = {
        "oidc_issuer": "https://provider.example",
        "oidc_audience": "a",
        "oidc_role_map": "admins=admin",
        "oidc_client_id": "people",
        "public_url": "https://Snapledger.example/",
    }
    assert Settings(**right).public_url == "https://snapledger.example"  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"(?i)oidc|public_url"):
        Settings(**right | wrong)
