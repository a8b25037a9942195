"""People sign in from Python: the device flow, renewal in the middle of a session, files, and sign-out."""

import asyncio
import json
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from service_world import X_COLUMNS, Service, numbers_csv
from sign_on_provider import DEVICE_GRANT, SignOnProvider
from typer.testing import CliRunner, Result

from app.cli.service_commands import app
from snapledger_client import AsyncClient, Client, DeviceCode, SignInError, Unauthenticated, Unreachable
from snapledger_client._sync import account


@pytest.fixture
def service(sign_on_world: tuple[Service, SignOnProvider]) -> Service:
    return sign_on_world[0]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between polls, which take no time here."""
    made: list[float] = []
    monkeypatch.setattr("snapledger_client._sync.account.time.sleep", made.append)
    return made


def expire(*clients: Any) -> None:
    """As if the time of their tokens had passed."""
    for client in clients:
        session = client._account._session
        client._account._session = account.Session(session.provider, session.tokens.stale())


def expire_stored(path: Path, url: str) -> None:
    document = json.loads(path.read_text())
    document[url]["tokens"] |= {"expires_at": 0, "renew_at": 0}
    path.write_text(json.dumps(document))


def renewals(issuer: SignOnProvider) -> int:
    return sum(form.get("grant_type") == "refresh_token" for _, form in issuer.calls)


def test_somebody_signs_in_with_a_code_and_out(
    service: Service, issuer: SignOnProvider, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    issuer.device_replies = ["authorization_pending", "slow_down", "authorization_pending"]
    issuer.device_answer = {"interval": 2, "expires_in": 600}
    with Client.sign_in(service.url) as client:
        told = capsys.readouterr().out
        assert told == f"To sign in, open {issuer.url}/activate and enter the code WDJB-MJHT (within 10 minutes).\n"
        assert pauses == [2, 2, 7, 7]  # `slow_down` adds five seconds, for good
        assert client.me().name == issuer.person
        assert issuer.calls[0] == ("/device", {"client_id": "snapledger-people", "scope": "openid profile"})
        assert {form["grant_type"] for path, form in issuer.calls if path == "/token"} == {DEVICE_GRANT}
        client.sign_out()
        assert all(grant.is_revoked for grant in issuer.refreshes.values())
        with pytest.raises(SignInError, match="sign in again"):
            client.me()


def test_a_notebook_signs_in_and_asks_on(service: Service, issuer: SignOnProvider) -> None:
    """The asynchronous client; its tasks renew a token once."""

    async def ask() -> list[str]:
        async with await AsyncClient.sign_in(service.url, show=lambda _: None) as client:
            expire(client)
            people = await asyncio.gather(*(client.me() for _ in range(8)))
            assert renewals(issuer) == 1
            return [one.name for one in people]

    assert asyncio.run(ask()) == [issuer.person] * 8


def test_a_token_is_renewed_in_the_middle_of_a_session(
    service: Service, issuer: SignOnProvider, pauses: list[float]
) -> None:
    """Before it expires; and if the service refuses it, the same release is asked for again, and charged once."""
    table = service.table(X_COLUMNS, numbers_csv(20))
    with Client.sign_in(service.url, show=lambda _: None) as client:
        client.me()
        table.grant(issuer.person, "2")
        data = client.dataset(table.name)
        data.mean("x", epsilon="0.5")
        assert renewals(issuer) == 0
        client._account._session = account.Session(  # the provider says 300 seconds, and the service's clock is ahead
            client._account._session.provider,
            account.Tokens.parse(
                {
                    "access_token": issuer.token(issuer.person, exp=int(time.time()) - 60),
                    "token_type": "Bearer",
                    "refresh_token": client._account._session.tokens.refresh,
                    "expires_in": 300,
                }
            ),
        )
        data.mean("x", epsilon="0.25", reuse=False)
        assert renewals(issuer) == 1
        assert [entry["epsilon"] for entry in table.entries() if entry["kind"] == "debit"] == ["0.5", "0.25"]
    assert pauses == [1]


def test_threads_renew_once(service: Service, issuer: SignOnProvider, pauses: list[float]) -> None:
    with Client.sign_in(service.url, show=lambda _: None) as client, ThreadPoolExecutor(8) as pool:
        expire(client)
        assert [one.name for one in pool.map(lambda _: client.me(), range(8))] == [issuer.person] * 8
    assert renewals(issuer) == 1
    assert pauses == [1]


def test_a_stored_session_goes_on_without_a_code(
    service: Service, issuer: SignOnProvider, tmp_path: Path, pauses: list[float]
) -> None:
    path = tmp_path / "new" / "tokens.json"
    with Client.sign_in(service.url, store=path, show=lambda _: None) as client:
        assert client.me().name == issuer.person
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]
    shown: list[DeviceCode] = []
    with Client.sign_in(f"{service.url}/", store=path, show=shown.append) as again:
        assert (again.me().name, shown) == (issuer.person, [])
        with Client.sign_in(service.url, store=path, show=None) as other:  # as in another process
            expire(again, other)  # the second one finds what the first one got
            assert again.me().name == other.me().name == issuer.person
        assert renewals(issuer) == 1
        again.sign_out()
    assert not path.exists()
    with pytest.raises(SignInError, match="Nobody is signed in"):
        Client.sign_in(service.url, store=path, show=None)
    assert len(pauses) == 1


def test_tokens_are_in_no_file_and_no_text_by_default(
    service: Service, issuer: SignOnProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with Client.sign_in(service.url, show=lambda _: None) as client:
        session = client._account._session
        assert session.tokens.access not in repr(session)
        assert str(session.tokens.refresh) not in repr(session)
    assert list(tmp_path.rglob("*")) == []
    assert issuer.count("/device") == len(pauses) == 1


def test_a_session_that_the_provider_has_ended_says_so(
    service: Service, issuer: SignOnProvider, tmp_path: Path, pauses: list[float]
) -> None:
    path = tmp_path / "tokens.json"
    with Client.sign_in(service.url, store=path, show=lambda _: None) as client:
        for grant in issuer.refreshes.values():
            grant.is_revoked = True
        expire(client)
        for _ in range(2):
            with pytest.raises(SignInError, match="Your session has ended"):
                client.me()
    assert not path.exists()
    assert pauses == [1]


def test_a_provider_that_is_away_ends_no_session(service: Service, issuer: SignOnProvider, pauses: list[float]) -> None:
    with Client.sign_in(service.url, show=lambda _: None) as client:
        client.me()  # the service knows the key that signs
        issuer.away = True
        try:
            assert client.me().name == issuer.person
            expire(client)
            with pytest.raises(Unreachable, match="did not renew"):
                client.dataset("any").mean("x", epsilon=1, key="mine")
        finally:
            issuer.away = False
        assert client.me().name == issuer.person
    assert pauses == [1]


def test_a_person_without_a_role_is_told(service: Service, issuer: SignOnProvider, pauses: list[float]) -> None:
    issuer.roles = ()
    with (
        Client.sign_in(service.url, show=lambda _: None) as client,
        pytest.raises(Unauthenticated, match="gives no role here"),
    ):
        client.me()
    assert pauses == [1]


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        (["access_denied"], "refused or cancelled"),
        (["authorization_pending", "expired_token"], "in time"),
        (["unauthorized_client"], "does not let this program"),
    ],
)
def test_whoever_does_not_get_in_is_told_why(
    service: Service, issuer: SignOnProvider, pauses: list[float], replies: list[str], said: str
) -> None:
    issuer.device_replies = replies
    with pytest.raises(SignInError, match=said):
        Client.sign_in(service.url, show=lambda _: None)
    assert len(pauses) == len(replies)


def test_nobody_waits_for_ever(service: Service, issuer: SignOnProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is a provider that does not answer asked more and more often."""
    issuer.device_answer = {"interval": 5, "expires_in": 300}
    clock, pauses = [0.0], []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        clock[0] += seconds
        issuer.away = True

    monkeypatch.setattr("snapledger_client._sync.account.time.sleep", pause)
    monkeypatch.setattr("snapledger_client.device_codes.time.monotonic", lambda: clock[0])
    try:
        with pytest.raises(SignInError, match="in time"):
            Client.sign_in(service.url, show=lambda code: object.__setattr__(code, "began", 0.0))
    finally:
        issuer.away = False
    assert pauses == [5, 10, 20, 40, 60, 60, 60, 60]


@pytest.mark.parametrize(
    "shown",
    [
        {"user_code": "\x1b[2J"},
        {"user_code": "x" * 1000},
        {"user_code": None},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "http://other.example/"},
        {"verification_uri": "https://a.example/\x1b[2J"},
        {"device_code": 1},
    ],
    ids=str,
)
def test_what_must_not_be_shown_is_not(
    service: Service, issuer: SignOnProvider, shown: dict[str, Any], pauses: list[float]
) -> None:
    issuer.device_answer = issuer.device_answer | shown
    with pytest.raises(SignInError, match="no code to sign in with"):
        Client.sign_in(service.url)
    assert pauses == []


def test_a_provider_is_believed_about_itself_alone(service: Service, issuer: SignOnProvider) -> None:
    for changed, said in (
        ({"issuer": "https://other.example"}, "names another issuer"),
        ({"token_endpoint": "http://other.example/token"}, "does not let programs"),
        ({"device_authorization_endpoint": None}, "does not let programs"),
    ):
        kept = issuer.configuration
        issuer.configuration = kept | changed
        with pytest.raises(SignInError, match=said):
            Client.sign_in(service.url)
        issuer.configuration = kept
    assert issuer.count("/device") == 0


def test_somebody_signs_in_at_a_terminal(
    service: Service, issuer: SignOnProvider, tmp_path: Path, pauses: list[float]
) -> None:
    """And stays signed in, from one command to the next, until signing out or until the session ends."""
    cleared: dict[str, str | None] = dict.fromkeys(name for name in os.environ if name.startswith("SNAPLEDGER_"))
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, env=cleared | home, prog_name="snapledger")

    assert run("me").exit_code == 4
    signed_in = run("sign-in", f"{service.url}/")
    assert signed_in.stdout == f"Signed in to {service.url} as {issuer.person} (analyst).\n"
    assert "enter the code WDJB-MJHT" in signed_in.stderr
    files = [path for path in (tmp_path / "config").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    tokens = next(path for path in files if path.name == "tokens.json")
    expire_stored(tokens, service.url)
    for _ in range(2):
        assert issuer.person in run("me").stdout
    assert renewals(issuer) == 1
    table, schema = tmp_path / "t.csv", tmp_path / "t.json"
    table.write_text("x\n1\n")
    schema.write_text("{}")
    added = run("dataset", "add", str(table), "--schema", str(schema))
    assert (added.exit_code, "Not allowed" in added.stderr) == (4, True)  # the token is sent: analysts own nothing
    no_key = run("new-key")
    assert (no_key.exit_code, no_key.stdout) == (4, ""), no_key.stderr
    assert run("logout").exit_code == 2
    assert run("sign-out").stdout == "Signed out.\n"
    assert all(grant.is_revoked for grant in issuer.refreshes.values())
    assert run("sign-out").stdout == "Nobody was signed in.\n"
    assert run("me").exit_code == 4
    issuer.roles = ()
    refused = run("sign-in", service.url)
    assert (refused.exit_code, "gives no role here" in refused.stderr, tokens.exists()) == (4, True, False)
    issuer.roles = ("analysts",)
    assert run("sign-in", service.url).exit_code == 0
    for grant in issuer.refreshes.values():
        grant.is_revoked = True
    expire_stored(tokens, service.url)
    ended = run("me")
    assert (ended.exit_code, f"run `snapledger sign-in {service.url}`" in ended.stderr) == (4, True)
    assert run("sign-in", service.url).exit_code == 0
    expire_stored(tokens, service.url)
    issuer.away = True
    try:
        assert run("sign-out").exit_code == 6  # not revoked at the provider, and forgotten here
    finally:
        issuer.away = False
    assert not tokens.exists()
    assert len(pauses) == 4


def test_a_service_without_a_provider_says_so(one_service: Service) -> None:
    with pytest.raises(SignInError, match="does not let programs sign people in: use a key"):
        Client.sign_in(one_service.url)
    with pytest.raises(SignInError, match="https://"):
        Client.sign_in("http://snapledger.example")
    with pytest.raises(Unreachable):
        Client.sign_in("http://127.0.0.1:9")
    with Client(one_service.url, one_service.admin_key) as client:
        client.sign_out()  # a key stays valid
        assert client.me().name == "admin"
