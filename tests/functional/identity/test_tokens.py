"""Bearer tokens of an OpenID Connect provider, beside keys."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import psycopg
import pytest
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from provider import AUDIENCE, Provider, elliptic, encoded, provider, public_pem, published, rsa_key
from service_world import X_COLUMNS, Service, a_name, numbers_csv, serving, whole_list
from sqlalchemy import make_url

from app.config import Settings
from app.services.identity import tokens
from app.services.identity.token_kinds import is_id_token

MEAN = {"kind": "mean", "column": "x"}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Provider]:
    with provider(Provider) as running:
        yield running


def settings(issuer: Provider, **changed: str) -> dict[str, str]:
    return {
        "OIDC_ISSUER": issuer.url,
        "OIDC_AUDIENCE": f"another, {AUDIENCE}",
        "OIDC_ROLE_MAP": "admins=admin, owners=owner, auditors=auditor, analysts=analyst",
        "OIDC_ALGORITHMS": "RS256,ES256",
        "OIDC_REFETCH_SECONDS": "1",
        **changed,
    }


@pytest.fixture(scope="module")
def started(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, issuer: Provider
) -> Iterator[Callable[[str], Service]]:
    running: dict[str, Service] = {}
    with ExitStack() as until_the_end:

        def on(dialect: str) -> Service:
            if dialect not in running:
                folder = tmp_path_factory.mktemp("tokens")
                url = f"sqlite:///{folder}/ledger.sqlite3"
                if dialect == "postgres":
                    server = request.getfixturevalue("postgres_server")
                    with psycopg.connect(server, autocommit=True) as connection:
                        connection.execute("CREATE DATABASE tokens")
                    url = make_url(server).set(database="tokens").render_as_string(hide_password=False)
                running[dialect] = until_the_end.enter_context(serving(folder, url, **settings(issuer)))
                assert me(running[dialect], issuer.token("first")).status_code == 200
            return running[dialect]

        yield on


@pytest.fixture(params=["sqlite", "postgres"])
def service(request: pytest.FixtureRequest, started: Callable[[str], Service]) -> Service:
    return started(request.param)


@pytest.fixture
def one(started: Callable[[str], Service]) -> Service:
    """For what no database has a part in."""
    return started("sqlite")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def me(service: Service, token: str) -> httpx.Response:
    return service.stranger.get("/v1/me", headers=bearer(token))


def refused(answer: httpx.Response, status: int = 401, slug: str = "unauthenticated") -> str:
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{slug}"), answer.text
    detail: str = answer.json()["detail"]
    return detail


def test_a_token_s_principal_works_like_one_with_a_key(service: Service, issuer: Provider) -> None:
    table = service.table(X_COLUMNS, numbers_csv(20))
    name = a_name("person")
    analyst = service.client(issuer.token(name))
    assert analyst.get("/v1/me").json() | {"created_at": ""} == {
        "name": name,
        "display_name": None,
        "role": "analyst",
        "created_at": "",
        "key_expires_at": None,
        "allowances": [],
    }
    assert analyst.get(table.path).status_code == 404
    table.grant(name, "2")
    paid = table.release(MEAN, client=analyst, epsilon="0.5", key="mine")
    assert (paid.status_code, paid.json()["budget"]["allowance_remaining"]) == (201, "1.5")
    again = table.release(MEAN, client=service.client(issuer.token(name)), epsilon="0.5", key="mine")
    assert (again.content, again.headers["Idempotency-Replayed"]) == (paid.content, "true")
    assert table.entries()[-1]["principal"] == name
    assert analyst.get("/v1/principals").status_code == 403
    listed = whole_list(service.admin, "/v1/principals")
    assert next(one for one in listed if one["name"] == name)["subject"] == name


@SERVICE_ON_POSTGRES_SLOWLY
def test_an_owner_by_token_registers(service: Service, issuer: Provider) -> None:
    owner = service.client(issuer.token(a_name("keeper"), ("owners",)))
    metadata = {"name": a_name("table"), "epsilon_limit": "1", "columns": X_COLUMNS}
    assert service.upload(owner, metadata, numbers_csv(5).encode()).status_code == 201
    assert owner.delete(f"/v1/datasets/{metadata['name']}").status_code == 204


def _head(one: Provider, **more: Any) -> str:
    return json.dumps({"alg": "RS256", "kid": one.kid, **more})


def _unsigned(one: Provider, algorithm: str) -> str:
    return f"{encoded(json.dumps({'alg': algorithm}).encode())}.{encoded(_claims(one).encode())}."


def _claims(one: Provider) -> str:
    return json.dumps(one.claims("ada", ["admins"]))


def _with(one: Provider, member: str) -> str:
    return _claims(one).rstrip("}") + f",{member}}}"


def _changed(token: str) -> str:
    head, body, signature = token.split(".")
    padded = body + "=" * (-len(body) % 4)
    claims = json.loads(base64.urlsafe_b64decode(padded)) | {"roles": ["admins"]}
    return f"{head}.{encoded(json.dumps(claims).encode())}.{signature}"


def _with_own_key(one: Provider) -> str:
    own = rsa_key()
    return one.token("ada", key=own, header={"jwk": published(own), "jku": f"{one.url}/evil", "kid": one.kid})


BAD: dict[str, Callable[[Provider], str]] = {
    "expired": lambda one: one.token("ada", exp=int(time.time()) - 60),
    "not yet": lambda one: one.token("ada", nbf=int(time.time()) + 3600),
    "issued in the future": lambda one: one.token("ada", iat=int(time.time()) + 3600),
    "another audience": lambda one: one.token("ada", aud="others"),
    "no audience": lambda one: one.token("ada", aud=...),
    "another issuer": lambda one: one.token("ada", iss="https://other.example"),
    "issuer with a slash": lambda one: one.token("ada", iss=f"{one.url}/"),
    "no issuer": lambda one: one.token("ada", iss=...),
    "no expiry": lambda one: one.token("ada", exp=...),
    "no time of issue": lambda one: one.token("ada", iat=...),
    "no subject": lambda one: one.token("ada", sub=...),
    "an empty subject": lambda one: one.token(""),
    "a long subject": lambda one: one.token("a" * 256),
    "a subject with a NUL": lambda one: one.token("a\x00b"),
    "an expiry that is a text": lambda one: one.token("ada", exp="tomorrow"),
    "an endless expiry": lambda one: one.signed(_head(one), json.dumps(one.claims("ada", ["admins"], exp=7e999))),
    "a huge expiry": lambda one: one.signed(_head(one), _with(one, '"exp":1e999')),
    "another's key": lambda one: one.token("ada", key=rsa_key()),
    "a changed payload": lambda one: _changed(one.token("ada")),
    "no signature": lambda one: one.token("ada").rpartition(".")[0] + ".",
    "none": lambda one: _unsigned(one, "none"),
    "None": lambda one: _unsigned(one, "None"),
    "HS256 with the public key": lambda one: one.confused("ada"),
    "another algorithm": lambda one: one.token("ada", header={"alg": "RS512"}),
    "an algorithm of another key type": lambda one: one.token("ada", key=elliptic(), header={"alg": "ES256"}),
    "a kid that nobody has": lambda one: one.token("ada", key=rsa_key(), header={"kid": "../../etc/passwd"}),
    "no kid, another's key": lambda one: one.token("ada", key=rsa_key(), header={"kid": ""}),
    "a kid that is no text": lambda one: one.signed('{"alg":"RS256","kid":["first"]}', _claims(one)),
    "a key of its own": _with_own_key,
    "critical extensions": lambda one: one.signed(_head(one, crit=["x"], x=1), _claims(one)),
    "another type": lambda one: one.signed(_head(one, typ="secevent+jwt"), _claims(one)),
    "an algorithm twice": lambda one: one.signed('{"alg":"none","alg":"RS256","kid":"' + one.kid + '"}', _claims(one)),
    "a subject twice": lambda one: one.signed(_head(one), _with(one, '"sub":"admin"')),
    "a role twice, deep": lambda one: one.signed(_head(one), _with(one, '"x":{"roles":["admins"],"roles":[]}')),
    "no object": lambda one: one.signed(_head(one), "[]"),
    "nested deep": lambda one: one.signed(_head(one), "[" * 4000 + "]" * 4000),
    "no JSON": lambda one: one.signed(_head(one), '{"iss":'),
    "not UTF-8": lambda one: f"{encoded(_head(one).encode())}.{encoded(bytes([0xFF, 0xFE]))}.AA",
    "huge": lambda one: one.token("ada", padding="x" * 20_000),
    "four parts": lambda one: one.token("ada") + ".AA",
    "not base64": lambda one: one.token("ada").replace(".", ".*", 1),
    "the head alone": lambda one: encoded(_head(one).encode()) + "..",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_token_of_the_provider_s_in_force(one: Service, issuer: Provider, name: str) -> None:
    """401, always the same words, before the body, and nothing is left of it."""
    token = BAD[name](issuer)
    with one.unchanged():
        answer = me(one, token)
        assert "its provider's" not in refused(answer)
        assert answer.headers["www-authenticate"] == 'Bearer realm="snapledger", error="invalid_token"'
        body = one.stranger.post("/v1/principals", headers=bearer(token), content=b"no JSON")
    refused(body)
    assert token[:200] not in one.log.read_text()


def test_what_a_good_token_has_to_say(one: Service, issuer: Provider) -> None:
    for roles in ((), ("strangers",), None, 1, {"admins": True}, ["analyst"], "", [["admins"]], ("ADMINS",)):
        assert "gives no role" in refused(me(one, issuer.token(a_name("x"), roles)))
    for username in (None, "", "@", "---", 1, "ä", ["ada"]):
        token = issuer.token(a_name("x"), preferred_username=username)
        assert "can name a principal" in refused(me(one, token))
    for username, name in (
        ("ada_l", "ada_l"),
        ("Ada.Lovelace", "ada-lovelace-[0-9a-f]{20}"),
        ("Bea_B@example.org", "bea_b-example-org-[0-9a-f]{20}"),
        ("c" * 100, "c{42}-[0-9a-f]{20}"),
    ):
        token = issuer.token(a_name("x"), "analysts", preferred_username=username)
        assert re.fullmatch(name, me(one, token).json()["name"])


# What providers put into the tokens of one sign-on, as far as it tells them apart.
ID_TOKENS: dict[str, dict[str, Any]] = {
    "Keycloak": {"typ": "ID", "azp": AUDIENCE, "at_hash": "aGFzaA", "nonce": "n"},
    "Keycloak, renewed": {"typ": "ID", "azp": AUDIENCE, "at_hash": "aGFzaA"},
    "Entra": {"nonce": "n", "ver": "2.0", "oid": "1", "tid": "2"},
    "Authentik": {"nonce": "n", "acr": "goauthentik.io/providers/oauth2/default", "auth_time": 1},
    "Okta": {"nonce": "n", "amr": ["pwd"], "at_hash": "aGFzaA", "ver": 1},
    "Auth0": {"nonce": "n", "sid": "s"},
    "Google": {"azp": AUDIENCE, "at_hash": "aGFzaA", "hd": "example.org"},
    "Cognito": {"token_use": "id", "scope": "openid"},
    "a hybrid flow": {"c_hash": "aGFzaA"},
}
ACCESS_TOKENS: dict[str, dict[str, Any]] = {
    "Keycloak": {"typ": "Bearer", "azp": AUDIENCE, "scope": "openid profile"},
    "Keycloak before version 25": {"typ": "Bearer", "nonce": "n"},
    "Entra": {"azp": "another client", "scp": "use", "ver": "2.0", "oid": "1", "tid": "2"},
    "Authentik": {"nonce": "n", "azp": AUDIENCE, "uid": "u", "auth_time": 1},
    "Okta": {"cid": "a client", "uid": "u", "scp": ["openid"], "ver": 1},
    "Auth0": {"azp": "a client", "scope": "openid"},
    "without any mark": {},
}


@pytest.mark.parametrize("name", ID_TOKENS)
def test_an_id_token_is_refused(one: Service, issuer: Provider, name: str) -> None:
    assert "send the access token" in refused(me(one, issuer.token(a_name("x"), **ID_TOKENS[name])))


@pytest.mark.parametrize("name", ACCESS_TOKENS)
def test_an_access_token_is_none(one: Service, issuer: Provider, name: str) -> None:
    assert me(one, issuer.token("first", **ACCESS_TOKENS[name])).status_code == 200


def test_a_token_for_the_client_alone_shows_that_it_is_an_access_token() -> None:
    clients = {AUDIENCE, None}
    assert is_id_token({"typ": "JWT"}, {"aud": AUDIENCE}, clients)
    assert is_id_token({}, {"aud": [AUDIENCE]}, clients)
    for header, claims in (
        ({"typ": "at+jwt"}, {"aud": AUDIENCE, "nonce": "n"}),
        ({"typ": "application/AT+JWT"}, {"aud": AUDIENCE}),
        ({}, {"aud": AUDIENCE, "scp": "use"}),
        ({}, {"aud": [AUDIENCE, "another"]}),
    ):
        assert not is_id_token(header, claims, clients)


def test_different_claims_have_different_names(one: Service, issuer: Provider) -> None:
    """The name is the whole claim: who has the same name elsewhere, or a name like ours, locks nobody out."""
    claims = ["carol@evil.example", "carol@corp.example", "Carol@corp.example", "carol", "c" * 64, "c" * 65]
    names = [me(one, issuer.token(a_name("x"), preferred_username=claim)).json()["name"] for claim in claims]
    assert len(set(names)) == len(claims)
    imitation = issuer.token(a_name("x"), preferred_username=names[1])
    assert me(one, imitation).json()["name"] not in names


def test_a_nested_claim_is_not_outbid_by_a_literal_one() -> None:
    nested = {"realm_access": {"roles": ["analysts"]}, "realm_access.roles": ["admins"]}
    assert tokens._find_claim(nested, "realm_access.roles") == ["analysts"]
    assert tokens._find_claim({"realm_access.roles": ["admins"]}, "realm_access.roles") is None
    assert tokens._find_claim({"https://corp.example/roles": ["owners"]}, "https://corp.example/roles") == ["owners"]


def test_the_first_role_of_the_settings_decides(one: Service, issuer: Provider) -> None:
    name = a_name("many")
    assert me(one, issuer.token(name, ("analysts", "owners"))).json()["role"] == "owner"


def test_a_name_is_never_another_s(service: Service, issuer: Provider) -> None:
    """Whoever may choose its name at the provider gets nobody's principal by it."""
    with_key, _ = service.principal("analyst")
    for name in ("admin", with_key):
        assert "is not its own" in refused(me(service, issuer.token(a_name("x"), preferred_username=name)))
    first = issuer.token("subject-1", preferred_username="shared")
    assert me(service, first).json()["name"] == "shared"
    assert "is not its own" in refused(me(service, issuer.token("subject-2", preferred_username="shared")))
    renamed = issuer.token("subject-1", preferred_username="renamed")
    assert me(service, renamed).json()["name"] == "shared"


def test_each_call_has_the_role_of_its_own_token(service: Service, issuer: Provider) -> None:
    name = a_name("mixed")
    admin, analyst = issuer.token(name, ("admins",)), issuer.token(name, ("analysts",))
    for _ in range(3):
        assert service.client(admin).get("/v1/principals").status_code == 200
        assert service.client(analyst).get("/v1/principals").status_code == 403
    # What is written down follows a token when it is looked at, and not while it is let through from memory.
    assert me(service, issuer.token(name, ("analysts",), jti="another")).status_code == 200
    listed = whole_list(service.admin, "/v1/principals")
    assert next(one for one in listed if one["name"] == name)["role"] == "analyst"


def test_an_allowance_is_of_no_use_to_a_token_that_makes_an_auditor(service: Service, issuer: Provider) -> None:
    """The principal has an allowance by another of its tokens; what this one lets it do is read."""
    table = service.table(X_COLUMNS, numbers_csv(20))
    name = a_name("both")
    analyst = service.client(issuer.token(name, ("analysts",)))
    auditor = service.client(issuer.token(name, ("auditors",)))
    assert analyst.get("/v1/me").status_code == 200
    table.grant(name, "2")
    paid = table.release(MEAN, client=analyst, epsilon="0.5", key="mine")
    assert paid.status_code == 201
    asked = {
        "": {"statistic": MEAN, "epsilon": "0.5"},
        "batches": {"items": [{"statistic": MEAN, "epsilon": "0.5"}]},
        "derived": {"derived": {"kind": "sum", "column": "x"}, "epsilon": "0.5"},
    }
    for kind, body in asked.items():
        for path in (f"{kind or 'releases'}", f"{kind}/plan".lstrip("/")):
            for headers in ({}, {"Idempotency-Key": "mine"}):
                answer = auditor.post(f"{table.path}/{path}", json=body, headers=headers)
                assert "Auditors may read" in refused(answer, 403, "forbidden")
            answered = analyst.post(f"{table.path}/{path}", json=body)
            assert answered.is_success, answered.text  # it is the role that is refused, and not the body
    assert auditor.get(f"/v1/releases/{paid.json()['id']}").content == paid.content


def test_a_disabled_principal_stays_disabled_whatever_its_tokens_say(service: Service, issuer: Provider) -> None:
    name = a_name("gone")
    assert me(service, issuer.token(name)).status_code == 200
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 204
    for token in (issuer.token(name), issuer.token(name, ("admins",)), issuer.token(name, preferred_username="other")):
        refused(me(service, token))


def test_the_last_admin_is_one_who_needs_no_provider(service: Service, issuer: Provider) -> None:
    admin = service.client(issuer.token(a_name("chief"), ("admins",)))
    refused(admin.delete("/v1/principals/admin"), 409, "last-admin")


def test_a_token_is_not_exchanged_for_a_key(service: Service, issuer: Provider) -> None:
    name = a_name("keyless")
    client = service.client(issuer.token(name))
    refused(client.post("/v1/me/key"), 403, "forbidden")
    given = service.admin.post(f"/v1/principals/{name}/keys").json()["key"]
    assert service.client(given).get("/v1/me").json()["name"] == name
    assert client.get("/v1/me").status_code == 200


def test_many_first_calls_at_once_make_one_principal(service: Service, issuer: Provider) -> None:
    name = a_name("crowd")
    tokens = [issuer.token(name) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda token: me(service, token), tokens))
    assert [(answer.status_code, answer.json().get("name")) for answer in answers] == [(200, name)] * 8
    records = whole_list(service.admin, "/v1/audit")
    (made,) = [one for one in records if one["target"] == f"principals/{name}"]
    assert (made["via"], made["details"]["subject"], made["details"]["issuer"]) == ("service", name, issuer.url)


def test_tokens_are_nowhere(one: Service, issuer: Provider) -> None:
    token = issuer.token(a_name("secretive"))
    assert me(one, token).status_code == 200
    assert me(one, token[:-4] + "AAAA").status_code == 401
    for path in one.data.parent.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert token.encode() not in content
            assert token.split(".")[2][:-8].encode() not in content


@pytest.mark.slow
def test_keys_that_rotate_and_strangers_who_send_unknown_ones(one: Service, issuer: Provider) -> None:
    """An unknown kid is asked for, but not more than once in the time of the settings, whatever strangers send."""
    before = issuer.token("rotating")
    assert me(one, before).status_code == 200
    old = issuer.keys, issuer.key, issuer.kid
    issuer.rotate(a_name("kid"))
    try:
        time.sleep(1.1)
        assert me(one, issuer.token("rotating")).status_code == 200
        time.sleep(1.1)
        refused(me(one, before))  # signed by a key that is published no more
        asked, began = issuer.asked, time.monotonic()
        for number in range(40):
            refused(me(one, issuer.token("ada", key=issuer.key, header={"kid": f"unknown-{number}"})))
        assert issuer.asked - asked <= 1 + (time.monotonic() - began) // 1
    finally:
        issuer.keys, issuer.key, issuer.kid = old
    time.sleep(1.1)
    assert me(one, issuer.token("rotating")).status_code == 200


def test_keys_of_the_set_that_sign_nothing(one: Service, issuer: Provider) -> None:
    """For encryption, too short, symmetric, of another algorithm; and those of an elliptic curve, which do."""
    short, other, curve = rsa_key(1024), rsa_key(), elliptic()
    kept = issuer.keys
    issuer.keys = [
        *kept,
        published(other, kid="enc", use="enc"),
        published(short, kid="short"),
        published(other, kid="rs512", alg="RS512"),
        {"kty": "oct", "kid": "oct", "k": encoded(public_pem(other))},
        {"kty": "RSA", "kid": "broken", "n": "AA", "e": "!"},
        "no key",  # type: ignore[list-item]
        published(curve, kid="curve"),
    ]
    try:
        time.sleep(1.1)
        assert me(one, issuer.token("ada", key=curve, header={"kid": "curve", "alg": "ES256"})).status_code == 200
        for kid, key in (("enc", other), ("short", short), ("rs512", other)):
            refused(me(one, issuer.token("ada", key=key, header={"kid": kid})))
    finally:
        issuer.keys = kept


@pytest.mark.slow
def test_the_provider_is_away(tmp_path: Any, issuer: Provider) -> None:
    """503 for tokens alone, always the same; keys go on working, and tokens when it is back."""
    database = f"sqlite:///{tmp_path}/ledger.sqlite3"
    issuer.away = True
    try:
        with serving(tmp_path, database, **settings(issuer)) as service:
            for _ in range(3):
                answer = me(service, issuer.token("ada"))
                assert "provider" in refused(answer, 503, "unavailable")
                assert int(answer.headers["retry-after"]) >= 1
            assert service.admin.get("/v1/me").status_code == 200
            issuer.away = False
            time.sleep(1.1)
            assert me(service, issuer.token("ada")).status_code == 200
            issuer.away = True
            assert me(service, issuer.token("bea")).status_code == 200  # by the keys that are known
            time.sleep(1.1)
            refused(me(service, issuer.token("ada", header={"kid": "unknown"})), 503, "unavailable")
    finally:
        issuer.away = False


@pytest.mark.slow
def test_a_provider_that_says_it_is_another_is_not_believed(tmp_path: Any, issuer: Provider) -> None:
    kept = issuer.configuration
    issuer.configuration = kept | {"issuer": "https://other.example"}
    try:
        with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", **settings(issuer)) as service:
            refused(me(service, issuer.token("ada")), 503, "unavailable")
    finally:
        issuer.configuration = kept


def test_without_a_provider_a_token_is_an_unknown_key(one_service: Service, issuer: Provider) -> None:
    refused(me(one_service, issuer.token("ada")))


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_algorithms": "HS256"},
        {"oidc_algorithms": "RS256,none"},
        {"oidc_algorithms": ""},
        {"oidc_issuer": "http://provider.example"},
        {"oidc_issuer": "https://user:secret@provider.example"},
        {"oidc_jwks_url": "file:///etc/passwd"},
        {"oidc_audience": ""},
        {"oidc_role_map": ""},
        {"oidc_role_map": "admins=root"},
        {"oidc_role_map": "=admin"},
        {"oidc_leeway_seconds": "3600"},
    ],
    ids=str,
)
def test_settings_that_are_refused(wrong: dict[str, str]) -> None:
    right = {"oidc_issuer": "https://provider.example", "oidc_audience": "a", "oidc_role_map": "admins=admin"}
    assert Settings(**right).oidc_role_map == (("admins", "admin"),)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"(?i)oidc") as told:
        Settings(**right | wrong)  # type: ignore[arg-type]
    assert "secret" not in str(told.value).partition("[type")[0]
