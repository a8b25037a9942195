"""Who may see and do what: 401, 404 and 403 in that order, and what administration leaves behind."""

import json

import pytest
from service_world import Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {"x": {"kind": "integer", "bounds": [0, 100]}}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, numbers_csv(20))


def test_without_a_key_nothing_is_told(service: Service) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic x"},
        {"Authorization": b"Bearer \xff"},
    ):
        for method, path in (
            ("GET", "/v1/me"),
            ("GET", "/v1/nowhere"),
            ("POST", "/v1/datasets"),
            ("GET", "/v1/datasets/x"),
        ):
            answer = service.stranger.request(method, path, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.headers["content-type"] == "application/problem+json"


def test_a_stranger_sees_no_dataset(service: Service, table: Table) -> None:
    for role in ("analyst", "owner"):
        _, stranger = service.principal(role)
        assert table.name not in [dataset["name"] for dataset in stranger.get("/v1/datasets").json()["datasets"]]
        for method, path in (
            ("GET", ""),
            ("GET", "/budget"),
            ("GET", "/ledger"),
            ("GET", "/releases"),
            ("POST", "/plan"),
            ("POST", "/releases"),
            ("POST", "/budget/adjustments"),
            ("PUT", "/allowances/admin"),
            ("DELETE", "/allowances/admin"),
            ("DELETE", ""),
        ):
            answer = stranger.request(method, table.path + path, content=b"{")
            assert answer.status_code == 404, path
            assert answer.content == stranger.request(method, f"/v1/datasets/nowhere{path}").content


def test_an_analyst_rules_nothing(service: Service, table: Table) -> None:
    for method, path in (
        ("GET", f"{table.path}/ledger"),
        ("POST", f"{table.path}/budget/adjustments"),
        ("PUT", f"{table.path}/allowances/admin"),
        ("DELETE", f"{table.path}/allowances/nobody"),
        ("DELETE", table.path),
        ("POST", "/v1/datasets"),
        ("GET", "/v1/principals"),
        ("POST", "/v1/principals"),
        ("POST", "/v1/principals/admin/keys"),
        ("DELETE", "/v1/principals/admin"),
    ):
        answer = table.analyst.request(method, path, content=b"not json")
        assert answer.status_code == 403, path
        assert answer.json()["type"] == "/problems/forbidden"
    assert "allowances" not in table.analyst.get(f"{table.path}/budget").json()


def test_an_auditor_reads_and_nothing_else(service: Service, table: Table) -> None:
    name, auditor = service.principal("auditor")
    table.fresh(MEAN, epsilon=1)
    for path in ("", "/budget", "/ledger", "/releases"):
        assert auditor.get(table.path + path).status_code == 200
    assert len(auditor.get(f"{table.path}/releases").json()["releases"]) == 1
    assert auditor.get(f"{table.path}/budget").json()["allowances"]
    for path in ("/plan", "/releases"):
        assert auditor.post(table.path + path, json={"statistic": MEAN, "epsilon": 1}).status_code == 403
    assert table.owner.put(f"{table.path}/allowances/{name}", json={"epsilon_limit": 1}).status_code == 422


def test_a_release_needs_an_allowance_whoever_asks(service: Service, table: Table) -> None:
    body = {"statistic": MEAN, "epsilon": 1}
    for ruler, name in ((table.owner, table.owner.get("/v1/me").json()["name"]), (service.admin, "admin")):
        plan = ruler.post(f"{table.path}/plan", json=body | {"reuse": False}).json()
        assert (plan["budget"]["affordable"], plan["budget"]["allowance_remaining"]) == (False, None)
        assert ruler.post(f"{table.path}/releases", json=body).status_code == 403
        table.grant(name, "1")
        assert ruler.post(f"{table.path}/releases", json=body).status_code in {200, 201}


def test_the_life_of_an_allowance(service: Service, table: Table) -> None:
    table.fresh(MEAN, epsilon=2)
    path = f"{table.path}/allowances/{table.analyst_name}"
    below = table.owner.put(path, json={"epsilon_limit": "1.999999999"})
    assert (below.status_code, below.json()["errors"][0]["where"]) == (422, "epsilon_limit")
    assert table.owner.put(path, json={"epsilon_limit": 2}).json()["allowances"][0]["epsilon_remaining"] == "0"
    assert table.owner.delete(path).status_code == 204
    assert table.owner.delete(path).status_code == 404
    assert table.analyst.get(table.path).status_code == 404
    assert table.release(MEAN, epsilon=1).status_code == 404
    table.grant(table.analyst_name, "3")
    mine = table.analyst.get(f"{table.path}/budget").json()["allowance"]
    assert mine == {"epsilon_limit": "3", "epsilon_spent": "2", "epsilon_remaining": "1", "window": None}
    assert table.owner.put(f"{table.path}/allowances/nobody-at-all", json={"epsilon_limit": 1}).status_code == 404
    windowed = table.owner.put(path, json={"epsilon_limit": 3, "window_days": 30})
    assert windowed.status_code == 422


def test_an_adjustment_is_on_record(service: Service, table: Table) -> None:
    table.fresh(MEAN, epsilon=2)
    path = f"{table.path}/budget/adjustments"
    assert table.owner.post(path, json={"epsilon_limit": "1.9", "reason": "less"}).status_code == 422
    assert table.owner.post(path, json={"epsilon_limit": "12"}).status_code == 422
    raised = table.owner.post(path, json={"epsilon_limit": "12", "reason": "a second survey"})
    assert (raised.status_code, raised.json()["epsilon_remaining"]) == (201, "10")
    entries = table.owner.get(f"{table.path}/ledger").json()["entries"]
    assert [(entry["seq"], entry["kind"], entry["epsilon"], entry["epsilon_spent"]) for entry in entries] == [
        (1, "open", "10", "0"),
        (2, "allow", "10", "0"),
        (3, "debit", "2", "2"),
        (4, "adjust", "12", "2"),
    ]
    assert entries[2]["release_id"]
    assert entries[2]["principal"] == table.analyst_name
    assert {entry["hash"] for entry in entries} == {None}
    page = table.owner.get(f"{table.path}/ledger", params={"limit": 2, "after": 1}).json()
    assert ([entry["seq"] for entry in page["entries"]], page["next"]) == ([2, 3], 3)


def test_a_closed_dataset_keeps_its_record_and_nothing_else(service: Service, table: Table) -> None:
    first = table.release(MEAN, key="kept", epsilon=1)
    files = set(service.data.glob("*.parquet"))
    assert table.owner.delete(table.path).status_code == 204
    assert len(files - set(service.data.glob("*.parquet"))) == 1
    assert table.owner.delete(table.path).json()["type"] == "/problems/closed"
    assert table.analyst.get(table.path).json()["state"] == "closed"
    assert table.plan(MEAN, epsilon=1).json()["type"] == "/problems/closed"
    assert table.release(MEAN, epsilon=1).json()["type"] == "/problems/closed"
    assert table.release(MEAN, key="kept", epsilon=1).content == first.content
    assert table.analyst.get(f"{table.path}/releases").json()["releases"] == [first.json()]
    kinds = [entry["kind"] for entry in table.owner.get(f"{table.path}/ledger").json()["entries"]]
    assert kinds == ["open", "allow", "debit", "close"]
    again = service.upload(
        table.owner, {"name": table.name, "epsilon_limit": 1, "columns": COLUMNS}, numbers_csv(3).encode()
    )
    assert (again.status_code, again.json()["type"]) == (409, "/problems/name-taken")


def test_the_life_of_a_key(service: Service) -> None:
    name, client = service.principal("analyst")
    me = client.get("/v1/me").json()
    assert (me["name"], me["role"], me["allowances"]) == (name, "analyst", [])
    renewed = client.post("/v1/me/key")
    assert renewed.status_code == 201
    assert client.get("/v1/me").status_code == 401
    client = service.client(renewed.json()["key"])
    assert client.get("/v1/me").status_code == 200
    replaced = service.admin.post(f"/v1/principals/{name}/keys")
    assert replaced.status_code == 201
    assert client.get("/v1/me").status_code == 401
    client = service.client(replaced.json()["key"])
    assert client.get("/v1/me").status_code == 200
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 204
    assert client.get("/v1/me").status_code == 401
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 404
    assert service.admin.post(f"/v1/principals/{name}/keys").status_code == 404
    taken = service.admin.post("/v1/principals", json={"name": name, "role": "owner"})
    assert (taken.status_code, taken.json()["type"]) == (409, "/problems/name-taken")


def test_the_last_admin_stays(service: Service) -> None:
    answer = service.admin.delete("/v1/principals/admin")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/last-admin")
    name, second = service.principal("admin")
    assert second.delete(f"/v1/principals/{name}").status_code == 204


def test_principals_are_listed_without_keys(service: Service) -> None:
    name, _ = service.principal("auditor")
    listed, after = [], None
    while True:
        page = service.admin.get("/v1/principals", params={"limit": 7} | ({"after": after} if after else {})).json()
        listed += page["principals"]
        after = page["next"]
        if after is None:
            break
    assert listed[0]["name"] == "admin"
    assert listed[-1] == {
        "name": name,
        "role": "auditor",
        "created_at": listed[-1]["created_at"],
        "disabled": False,
    }
    assert "key" not in json.dumps(listed)


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"limit": ""}, {"after": "\x00"}])
def test_a_page_that_is_none(service: Service, query: dict[str, object]) -> None:
    for path in ("/v1/principals", "/v1/datasets", "/v1/releases"):
        assert service.admin.get(path, params=query).status_code == 422


@pytest.mark.parametrize("name", ["a%00b", "%ff", "A", "x" * 300, "..%2f..", "9223372036854775808"])
def test_names_that_cannot_be(service: Service, name: str) -> None:
    for path in (f"/v1/datasets/{name}", f"/v1/releases/{name}", f"/v1/datasets/{name}/budget"):
        assert service.admin.get(path).status_code == 404
    assert service.admin.post(f"/v1/principals/{name}/keys").status_code == 404
    assert service.admin.delete(f"/v1/principals/{name}").status_code == 404


def test_alive_and_ready(service: Service) -> None:
    for path in ("/healthz", "/readyz"):
        answer = service.stranger.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_the_page_of_the_interface_asks_no_other_host(service: Service) -> None:
    page = service.stranger.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert service.stranger.get(f"/docs/assets/{asset}").status_code == 200
    document = service.contract.document
    release = document["paths"]["/v1/datasets/{name}/releases"]["post"]
    assert release["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("ReleaseRequest")
    assert {"200", "201", "400", "401", "403", "404", "409", "413", "415", "422", "503"} == release["responses"].keys()
