"""Who may see and do what: 401, 404, 403, 422, in that order."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from alembic.script import ScriptDirectory
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import X_COLUMNS, Service, Table, numbers_csv, serving, told
from sqlalchemy import text

from app.db import schema_migration as migrations
from app.db.database import Database

MEAN = {"kind": "mean", "column": "x"}
ALL = {"admin", "owner", "auditor", "analyst"}

# What it is called with is no JSON, so that whoever gets past 404 and 403 is told 400 where a body is read.
OF_A_DATASET = [
    ("GET", "", ALL, 200),
    ("GET", "/budget", ALL, 200),
    ("GET", "/releases", ALL, 200),
    ("GET", "/ledger", {"admin", "owner", "auditor"}, 200),
    ("GET", "/ledger/verification", {"admin", "owner", "auditor"}, 200),
    ("GET", "/ledger/verification/latest", {"admin", "owner", "auditor"}, 200),
    ("GET", "/budget-requests", ALL, 200),
    ("GET", "/grantees", {"admin", "owner"}, 200),
    ("POST", "/budget-requests", {"analyst"}, 400),  # owner and admin have no allowance here
    ("POST", "/budget-requests/01a21f9b-c1a5-710b-a37c-ec21af87e3cb/grant", {"admin", "owner"}, 400),
    ("POST", "/budget-requests/01a21f9b-c1a5-710b-a37c-ec21af87e3cb/decline", {"admin", "owner"}, 400),
    ("POST", "/plan", {"admin", "owner", "analyst"}, 400),
    ("POST", "/batches/plan", {"admin", "owner", "analyst"}, 400),
    ("POST", "/derived/plan", {"admin", "owner", "analyst"}, 400),
    ("POST", "/releases", {"analyst"}, 400),  # owner and admin have no allowance here
    ("POST", "/batches", {"analyst"}, 400),
    ("POST", "/derived", {"analyst"}, 400),
    ("GET", "/allowances/nobody-at-all", {"admin", "owner", "auditor"}, 404),
    ("GET", "/budget/limit", ALL, 200),
    ("GET", "/ledger/1", {"admin", "owner", "auditor"}, 200),
    ("GET", "/budget-requests/01a21f9b-c1a5-710b-a37c-ec21af87e3cb", ALL, 404),
    ("PUT", "/allowances/admin", {"admin", "owner"}, 400),
    ("PUT", "/allowances/nobody-at-all", {"admin", "owner"}, 404),
    ("DELETE", "/allowances/nobody-at-all", {"admin", "owner"}, 404),
    ("POST", "/budget/adjustments", {"admin", "owner"}, 400),
    ("POST", "/revalidation", {"admin", "owner"}, 200),
    ("PUT", "/figures/mass", {"admin", "owner", "analyst"}, 400),
    ("DELETE", "/figures/mass", {"admin", "owner", "analyst"}, 404),
    ("GET", "/reports", ALL, 200),
    ("GET", "/reports/monthly", ALL, 404),
    ("PUT", "/reports/monthly", {"admin", "owner", "analyst"}, 400),
    ("DELETE", "/reports/monthly", {"admin", "owner", "analyst"}, 404),
    ("POST", "/reports/monthly/plan", ALL, 404),
    ("GET", "/reports/monthly/runs", ALL, 404),
    ("POST", "/reports/monthly/runs", {"admin", "owner", "analyst"}, 404),
    ("GET", "/viewers", {"admin", "owner", "auditor"}, 200),
    ("GET", "/viewers/nobody-at-all", {"admin", "owner", "auditor"}, 404),
    ("PUT", "/viewers/nobody-at-all", {"admin", "owner"}, 404),
    ("DELETE", "/viewers/nobody-at-all", {"admin", "owner"}, 404),
]
# Who reads figures is shown in `figures/test_figure_readers.py`, since some need no key.
OF_FIGURES = [
    *("/v1/collections", "/v1/collections/some"),
    *(
        "/v1/figures",
        "/v1/figures/reader",
        "/v1/figures.atom",
        "/v1/datasets/some/figures",
        "/v1/datasets/some/figures/mass",
    ),
    *("/v1/datasets/some/figures/mass/versions", "/v1/datasets/some/figures/mass/versions/1"),
]
OF_THE_SERVICE = [
    ("GET", "/v1/me", ALL, 200),
    ("POST", "/v1/me/key", ALL, 400),
    ("POST", "/v1/plan", {"admin", "owner", "analyst"}, 400),
    ("GET", "/v1/datasets", ALL, 200),
    ("GET", "/v1/audit", {"admin", "auditor"}, 200),
    ("GET", "/v1/audit/verification", {"admin", "auditor"}, 200),
    ("GET", "/v1/audit/verification/latest", {"admin", "auditor"}, 200),
    ("GET", "/v1/releases", ALL, 200),
    ("GET", "/v1/releases/01a21f9b-c1a5-710b-a37c-ec21af87e3cb", ALL, 404),
    ("POST", "/v1/datasets", {"admin", "owner"}, 400),
    ("POST", "/v1/drafts", {"admin", "owner"}, 400),
    ("POST", "/v1/dataset-uploads", {"admin", "owner"}, 415),
    ("POST", "/v1/draft-uploads", {"admin", "owner"}, 415),
    ("GET", "/v1/connections", {"admin", "owner"}, 200),
    ("PUT", "/v1/collections/some", {"admin", "owner"}, 400),
    ("DELETE", "/v1/collections/none-such", {"admin", "owner"}, 404),
    ("GET", "/v1/collections/none-such/viewers", {"admin", "owner", "auditor"}, 404),
    ("GET", "/v1/collections/none-such/viewers/admin", {"admin", "owner", "auditor"}, 404),
    ("PUT", "/v1/collections/none-such/viewers/admin", {"admin", "owner"}, 404),
    ("DELETE", "/v1/collections/none-such/viewers/admin", {"admin", "owner"}, 404),
    ("GET", "/v1/principals", {"admin"}, 200),
    ("GET", "/v1/principals/nobody-at-all", {"admin"}, 404),
    ("POST", "/v1/principals", {"admin"}, 400),
    ("POST", "/v1/principals/nobody-at-all/keys", {"admin"}, 404),
    ("PUT", "/v1/principals/nobody-at-all/display-name", {"admin"}, 404),
    ("DELETE", "/v1/principals/nobody-at-all", {"admin"}, 404),
]
UNREADABLE: dict[str, Any] = {"content": b"{", "headers": {"Content-Type": "application/json"}}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


@pytest.fixture
def insiders(service: Service, table: Table) -> dict[str, httpx.Client]:
    _, auditor = service.principal("auditor")
    return {"admin": service.admin, "owner": table.owner, "auditor": auditor, "analyst": table.analyst}


def assert_problem(answer: httpx.Response, status: int, kind: str) -> None:
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}"), answer.text


@SERVICE_ON_POSTGRES_SLOWLY
def test_every_call_by_every_role(service: Service, table: Table, insiders: dict[str, httpx.Client]) -> None:
    """Roles: `admin` (principals; everything that an owner may, on every dataset), `owner` (registers datasets; manages
    its own), `auditor` (reads every dataset's metadata, budget, ledger and releases; nothing else), `analyst` (plans
    and releases on datasets for which it has an allowance)."""
    of_dataset = [(method, table.path + path, *rest) for method, path, *rest in OF_A_DATASET]
    for method, path, allowed, status in [*of_dataset, *OF_THE_SERVICE]:
        for role, client in insiders.items():
            answer = client.request(method, path, **UNREADABLE)
            assert answer.status_code == (status if role in allowed else 403), f"{role}: {method} {path}"
        assert_problem(service.stranger.request(method, path, **UNREADABLE), 401, "unauthenticated")
    for role in ("auditor", "analyst"):
        assert_problem(insiders[role].delete(table.path), 403, "forbidden")


def test_every_call_of_the_interface_is_in_the_tables_above(one_service: Service) -> None:
    called = {(method, f"/v1/datasets/some{path}") for method, path, *_ in [*OF_A_DATASET, ("DELETE", "")]}
    called |= {(method, path) for method, path, *_ in OF_THE_SERVICE} | {("GET", path) for path in OF_FIGURES}
    missing = {
        (method.upper(), path)
        for path, methods in one_service.contract.document["paths"].items()
        for method in methods
        if not any(verb == method.upper() and re.fullmatch(re.sub("{.+?}", "[^/]+", path), at) for verb, at in called)
    }
    assert missing == {("GET", path) for path in ("/healthz", "/readyz", "/metrics", "/v1/sign-on")}


@SERVICE_ON_POSTGRES_SLOWLY
def test_what_a_caller_may_not_see_does_not_exist(service: Service, table: Table) -> None:
    """404 (what a caller may not see does not exist)."""
    release_id = table.fresh(MEAN, epsilon=1)["id"]
    for role in ("analyst", "owner"):
        _, outsider = service.principal(role)
        assert outsider.get("/v1/datasets").json() == {"datasets": [], "next": None}
        for method, path, *_ in [*OF_A_DATASET, ("DELETE", "", ALL, 204)]:
            hidden = outsider.request(method, table.path + path, **UNREADABLE)
            absent = outsider.request(method, f"/v1/datasets/nowhere{path}", **UNREADABLE)
            assert (hidden.status_code, told(hidden)) == (404, told(absent)), f"{role}: {method} {path}"
        assert outsider.get(f"/v1/releases/{release_id}").status_code == 404
        assert outsider.get("/v1/datasets", params={"after": table.name}).status_code == 422
    assert table.analyst.get(table.path).json()["state"] == "open"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic x"},
        {"Authorization": b"Bearer \xff\xfe"},
        {"Authorization": "Bearer gr\u00fcn".encode()},
        {"Authorization": b"Bearer " + b"x" * 10_000},
    ],
    ids=lambda headers: str(headers)[:40],
)
def test_without_a_key_nothing_is_told(service: Service, headers: dict[str, Any]) -> None:
    """`Authorization: Bearer <key>`; 401 first, whatever the path and the method."""
    for method, path in (("GET", "/v1/me"), ("GET", "/v1/nowhere"), ("PATCH", "/v1/me"), ("POST", "/v1/datasets")):
        answer = service.stranger.request(method, path, headers=headers)
        assert_problem(answer, 401, "unauthenticated")
        is_sent = bytes(answer.request.headers.get("authorization", ""), "latin-1").startswith(b"Bearer ")
        code = ', error="invalid_token"' if is_sent else ""
        assert answer.headers["www-authenticate"] == f'Bearer realm="snapledger"{code}'


def test_a_key_sent_twice_is_none(service: Service) -> None:
    headers = [("Authorization", f"Bearer {service.admin_key}"), ("Authorization", "Bearer other")]
    assert service.stranger.get("/v1/me", headers=headers).status_code == 401


def test_the_scheme_s_name_is_in_any_case(service: Service) -> None:
    for scheme in ("bearer", "BEARER"):
        headers = {"Authorization": f"{scheme} {service.admin_key}"}
        assert service.stranger.get("/v1/me", headers=headers).status_code == 200


def test_a_release_needs_an_allowance_whoever_asks(service: Service, table: Table) -> None:
    """A release needs an allowance whoever asks; owner and admin may grant themselves one."""
    for manager, name in ((table.owner, table.owner_name), (service.admin, "admin")):
        budget = table.plan(MEAN, client=manager, epsilon=1, reuse=False).json()["budget"]
        assert (budget["affordable"], budget["repeatable"], budget["allowance_remaining"]) == (False, 0, None)
        assert_problem(table.release(MEAN, client=manager, epsilon=1), 403, "forbidden")
        granted = manager.put(f"{table.path}/allowances/{name}", json={"epsilon_limit": 1})
        assert granted.json()["allowance"]["epsilon_remaining"] == "1"
        assert table.release(MEAN, client=manager, epsilon=1, reuse=False).status_code == 201


def test_an_owner_may_be_granted_an_allowance_on_another_s_dataset(service: Service, table: Table) -> None:
    name, other = service.principal("owner")
    table.grant(name, "1")
    assert table.release(MEAN, client=other, epsilon=1).status_code == 201
    assert other.get(f"{table.path}/ledger").status_code == 403
    assert "allowances" not in other.get(f"{table.path}/budget").json()


@pytest.mark.parametrize("name", ["a%00b", "%ff", "A", "x" * 300, "..%2f..", "9223372036854775808", "%ed%a0%80", "ü"])
def test_names_that_cannot_be_name_nothing(service: Service, name: str) -> None:
    """Names: `[a-z0-9][a-z0-9_-]{0,62}`."""
    for path in (f"/v1/datasets/{name}", f"/v1/releases/{name}", f"/v1/datasets/{name}/budget"):
        assert service.admin.get(path).status_code == 404
    assert service.admin.post(f"/v1/principals/{name}/keys").status_code == 404
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 404


def test_unknown_routes_and_methods_are_problems_too(service: Service, table: Table) -> None:
    for method, path, status in (("GET", "/nowhere", 404), ("PATCH", table.path, 405), ("GET", "/v1/nowhere", 404)):
        answer = table.analyst.request(method, path)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    allowed_methods = {table.path: "DELETE, GET, HEAD", "/v1/datasets": "GET, HEAD, POST", "/healthz": "GET, HEAD"}
    for path, allowed in allowed_methods.items():
        assert table.analyst.request("PATCH", path).headers["allow"] == allowed


def test_alive_and_ready(service: Service) -> None:
    """`GET /healthz` (alive), `/readyz` (database reachable and migrated)."""
    for path in ("/healthz", "/readyz"):
        answer = service.stranger.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert json.loads(service.stranger.get("/openapi.json").content) == service.contract.document, "run make openapi"


@pytest.mark.slow
def test_a_database_behind_the_code_is_not_ready(tmp_path: Path, database_url: str) -> None:
    with serving(tmp_path, database_url) as service:
        database = Database(database_url)
        latest = ScriptDirectory(str(migrations.SCRIPTS)).get_current_head()
        for revision, status in (("0000", 503), (latest, 200)):
            with database.write() as transaction:
                transaction.connection.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))  # noqa: S608
                transaction.commit()
            assert service.stranger.get("/readyz").status_code == status
            assert service.stranger.get("/healthz").status_code == 200
        database.close()
