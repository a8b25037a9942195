"""Principals and their keys."""

import base64
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from service_world import X_COLUMNS, Service, a_name, becomes, numbers_csv, serving, whole_list

JSON = {"Content-Type": "application/json"}


def test_the_life_of_a_key(service: Service) -> None:
    """201, a new `key`; the old one stops working. `POST /v1/me/key`: a new key for oneself."""
    name, client = service.principal("analyst")
    assert client.get("/v1/me").json()["allowances"] == []
    renewed = client.post("/v1/me/key")
    assert (renewed.status_code, renewed.json()["name"]) == (201, name)
    assert client.get("/v1/me").status_code == 401
    client = service.client(renewed.json()["key"])
    assert client.get("/v1/me").json()["role"] == "analyst"
    replaced = service.admin.post(f"/v1/principals/{name}/keys")
    assert replaced.status_code == 201
    assert client.get("/v1/me").status_code == 401
    client = service.client(replaced.json()["key"])
    assert client.get("/v1/me").status_code == 200


def test_a_disabled_principal_is_gone_for_good(service: Service) -> None:
    """`DELETE /v1/principals/{name}`: disables; 204."""
    name, client = service.principal("owner")
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 204
    assert client.get("/v1/me").status_code == 401
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 404
    assert service.admin.post(f"/v1/principals/{name}/keys").status_code == 404
    again = service.admin.post("/v1/principals", json={"name": name, "role": "owner"})
    assert (again.status_code, again.json()["type"]) == (409, "/problems/name-taken")
    listed = whole_list(service.admin, "/v1/principals")
    assert next(one for one in listed if one["name"] == name)["disabled"] is True


def test_a_disabled_principal_has_no_part_in_a_dataset(service: Service) -> None:
    table = service.table(X_COLUMNS, numbers_csv(20))
    assert service.admin.delete(f"/v1/principals/{table.analyst_name}").status_code == 204
    allowance = f"{table.path}/allowances/{table.analyst_name}"
    assert table.owner.put(allowance, json={"epsilon_limit": 1}).status_code == 404
    assert table.owner.delete(allowance).status_code == 204
    assert service.admin.delete(f"/v1/principals/{table.owner_name}").status_code == 204
    assert service.admin.get(table.path).json()["state"] == "open"


def later(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def test_a_key_opens_nothing_from_its_expiry_on(service: Service) -> None:
    expiry = later(3600)
    made = service.admin.post("/v1/principals", json={"name": a_name("p"), "role": "owner", "key_expires_at": expiry})
    document = made.json()
    assert datetime.fromisoformat(document["key_expires_at"]) == datetime.fromisoformat(expiry)
    client = service.client(document["key"])
    assert client.get("/v1/me").json()["key_expires_at"] == document["key_expires_at"]
    listed = whole_list(service.admin, "/v1/principals")
    assert listed[-1]["key_expires_at"] == document["key_expires_at"]
    service.expire_key(document["name"])
    assert becomes(lambda: client.get("/v1/me").status_code == 401)  # it is let through from memory for a second
    for path in ("/v1/me", "/v1/datasets", "/v1/datasets/none"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (401, "/problems/unauthenticated")
    assert client.post("/v1/me/key").status_code == 401
    renewed = service.admin.post(f"/v1/principals/{document['name']}/keys")
    assert (renewed.status_code, renewed.json()["key_expires_at"]) == (201, None)
    assert service.client(renewed.json()["key"]).get("/v1/me").status_code == 200


def test_nobody_lets_its_own_key_live_longer(service: Service) -> None:
    latest, earlier = later(3600), later(60)
    asked = {"name": a_name("p"), "role": "analyst", "key_expires_at": latest}
    document = service.admin.post("/v1/principals", json=asked).json()
    client = service.client(document["key"])
    refused = client.post("/v1/me/key", json={"key_expires_at": later(7200)})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "key_expires_at")
    same = client.post("/v1/me/key").json()
    assert same["key_expires_at"] == document["key_expires_at"]
    client = service.client(same["key"])
    sooner = client.post("/v1/me/key", json={"key_expires_at": earlier}).json()
    assert datetime.fromisoformat(sooner["key_expires_at"]) == datetime.fromisoformat(earlier)
    never = service.client(sooner["key"]).post("/v1/me/key", json={"key_expires_at": None}).json()
    assert never["key_expires_at"] == sooner["key_expires_at"]


@pytest.mark.parametrize(
    "expiry",
    [
        *("", "tomorrow", "2126-01-01", "2126-01-01T00:00:00", "2126-02-30T00:00:00Z", "2026-01-01T00:00:00Z", 1, True),
        *("2126-01-01T00:00:00+25:00", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", [], "\ud800"),
    ],
)
def test_an_expiry_that_is_none(one_service: Service, expiry: object) -> None:
    content = json.dumps({"name": a_name("p"), "role": "analyst", "key_expires_at": expiry})
    with one_service.unchanged():
        for path in ("/v1/principals", "/v1/principals/admin/keys", "/v1/me/key"):
            body = content if path == "/v1/principals" else json.dumps({"key_expires_at": expiry})
            answer = one_service.admin.post(path, content=body, headers=JSON)
            assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "key_expires_at")
        assert one_service.admin.post("/v1/me/key", content=b"{", headers=JSON).status_code == 400
        assert one_service.admin.post("/v1/me/key", content=b"{}", headers={}).status_code == 415


@pytest.mark.slow
def test_an_admin_whose_key_has_expired_is_none(tmp_path: Path, database_url: str) -> None:
    """The last admin stays, and so must one that can still call."""
    with serving(tmp_path, database_url) as service:
        asked = {"name": "brief", "role": "admin", "key_expires_at": later(3600)}
        assert service.admin.post("/v1/principals", json=asked).status_code == 201
        service.expire_key("brief")
        answer = service.admin.delete("/v1/principals/admin")
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/last-admin")


def test_of_two_calls_with_one_key_one_renews_it(service: Service) -> None:
    _, client = service.principal("analyst")
    gate = threading.Barrier(8)

    def renew(_: int) -> int:
        gate.wait()
        return client.post("/v1/me/key").status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(renew, range(8))) == [201] + [401] * 7


def test_keys_are_long_and_never_stored(one_service: Service) -> None:
    """Keys: 256 random bits, found by their SHA-256, never stored."""
    made = one_service.admin.post("/v1/principals", json={"name": a_name("analyst"), "role": "analyst"}).json()
    assert len(base64.urlsafe_b64decode(made["key"] + "=")) == 32
    one_service.client(made["key"]).get("/v1/me")
    database = Path(one_service.database_url.removeprefix("sqlite:///"))
    for path in [*database.parent.glob(f"{database.name}*"), one_service.log, *one_service.data.rglob("*")]:
        if path.is_file():
            content = path.read_bytes()
            assert made["key"].encode() not in content
            assert one_service.admin_key.encode() not in content


def test_principals_are_listed_without_keys(service: Service) -> None:
    """`GET /v1/principals`: name, role, created_at, disabled; never keys."""
    name, _ = service.principal("auditor")
    listed = whole_list(service.admin, "/v1/principals")
    assert listed[0]["name"] == "admin"
    facts = {"name": name, "role": "auditor", "created_at": listed[-1]["created_at"], "disabled": False}
    assert listed[-1] == facts | {"key_expires_at": None, "subject": None, "display_name": None}
    assert all("key" not in one for one in listed)


@pytest.mark.parametrize(
    "name", ["", "A", "-a", "_a", "a b", "a.b", "é", "a" * 64, "a\n", "a\x00", "\ud800", 1, None, ["a"]]
)
def test_a_principal_s_name_that_is_none(one_service: Service, name: object) -> None:
    """Names: `[a-z0-9][a-z0-9_-]{0,62}`."""
    answer = one_service.admin.post(
        "/v1/principals", content=json.dumps({"name": name, "role": "analyst"}), headers=JSON
    )
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "name")


def test_a_principal_is_called_by_a_display_name(service: Service) -> None:
    """It is given at the creation or later, by an admin; the audit log has every change and verifies."""
    table = service.table(X_COLUMNS, numbers_csv(20))
    path = f"/v1/principals/{table.analyst_name}/display-name"
    given = service.admin.put(path, json={"display_name": "Ada Lovelace"})
    assert (given.status_code, given.json()["display_name"]) == (200, "Ada Lovelace")
    assert given.json() in whole_list(service.admin, "/v1/principals")
    assert table.analyst.get("/v1/me").json()["display_name"] == "Ada Lovelace"
    assert table.owner.get(f"{table.path}/budget").json()["allowances"][0]["display_name"] == "Ada Lovelace"
    name = a_name("p")
    made = service.admin.post("/v1/principals", json={"name": name, "role": "owner", "display_name": "É " * 127})
    assert (made.status_code, made.json()["display_name"]) == (201, "É " * 127)
    for _ in range(2):  # the second time it is removed already
        removed = service.admin.put(f"/v1/principals/{name}/display-name", json={"display_name": None})
        assert (removed.status_code, removed.json()["display_name"]) == (200, None)
    records = whole_list(service.admin, "/v1/audit")[-3:]
    told = {"role": "owner", "display_name": "É " * 127, "key_expires_at": None}
    assert [each["action"] for each in records] == [
        "principal.display_name",
        "principal.create",
        "principal.display_name",
    ]
    assert records[1]["details"] == told | {"key_seal": records[1]["details"]["key_seal"]}
    assert records[2]["details"] == {"display_name": None}
    assert service.admin.get("/v1/audit/verification").json()["valid"]
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 204
    assert service.admin.put(f"/v1/principals/{name}/display-name", json={"display_name": "x"}).status_code == 404


@pytest.mark.parametrize("shown", ["", "  ", "a" * 256, "a\nb", "\x1b[31m", "a\u202eb", "\u2028", "\ud800", 1, []])
def test_a_display_name_that_is_none(one_service: Service, shown: object) -> None:
    with one_service.unchanged():
        for method, path in (("POST", "/v1/principals"), ("PUT", "/v1/principals/admin/display-name")):
            body = {"display_name": shown} | ({"name": a_name("p"), "role": "analyst"} if method == "POST" else {})
            answer = one_service.admin.request(method, path, content=json.dumps(body), headers=JSON)
            assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "display_name")
            if shown == "a" * 256:
                assert answer.json()["errors"][0]["what"] == "is too long: at most 255 characters are allowed"


@pytest.mark.parametrize("role", ["", "root", "Admin", "\ud800", None, 1, True])
def test_a_role_that_is_none(one_service: Service, role: object) -> None:
    answer = one_service.admin.post("/v1/principals", content=json.dumps({"name": "a", "role": role}), headers=JSON)
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "role")


def test_the_longest_and_the_shortest_name(one_service: Service) -> None:
    for name in ("0", "9_-", "a" * 63):
        assert one_service.admin.post("/v1/principals", json={"name": name, "role": "analyst"}).status_code == 201


@pytest.mark.slow
def test_the_last_admin_stays(tmp_path: Path, database_url: str) -> None:
    """The last admin cannot be (409)."""
    with serving(tmp_path, database_url) as service:  # of its own: other tests may leave another admin
        answer = service.admin.delete("/v1/principals/admin")
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/last-admin")
        name, second = service.principal("admin")
        assert second.delete(f"/v1/principals/{name}").status_code == 204


@pytest.mark.slow
def test_two_admins_cannot_disable_each_other(tmp_path: Path, database_url: str) -> None:
    """The last admin cannot be (409), however the calls meet."""
    with serving(tmp_path, database_url) as service:
        admins = {"admin": service.admin}
        for _ in range(10):
            name, client = service.principal("admin")
            admins[name] = client
            (one, one_client), (other, other_client) = admins.items()
            gate = threading.Barrier(2)

            def disable(caller: tuple[object, str], gate: threading.Barrier = gate) -> int:
                client, victim = caller
                gate.wait()
                return client.delete(f"/v1/principals/{victim}").status_code  # type: ignore[attr-defined,no-any-return]

            with ThreadPoolExecutor(2) as pool:
                statuses = list(pool.map(disable, [(one_client, other), (other_client, one)]))
            # The loser is told 409, or 401 if it was disabled before it called.
            assert sorted(statuses) in ([204, 401], [204, 409])
            survivor = one if statuses[0] == 204 else other
            admins = {survivor: admins[survivor]}
            service.admin = admins[survivor]
            assert service.admin.get("/v1/me").json()["role"] == "admin"


@pytest.mark.slow
def test_the_first_admin_s_key_is_that_of_the_settings_once(tmp_path: Path) -> None:
    """On an empty database the principal `admin` gets the key of `SNAPLEDGER_ADMIN_KEY`."""
    database_url = f"sqlite:///{tmp_path}/ledger.sqlite3"
    with serving(tmp_path, database_url) as service:
        first = service.admin_key
        assert service.admin.get("/v1/me").json()["name"] == "admin"
    with serving(tmp_path, database_url) as service:  # with another key in its settings
        assert service.admin.get("/v1/me").status_code == 401
        assert service.client(first).get("/v1/me").status_code == 200
