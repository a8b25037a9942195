"""Lists: oldest or newest first, page by page."""

from typing import Any

import httpx
import pytest
from lengths import SERVICE_ON_POSTGRES_SLOWLY
from service_world import X_COLUMNS, Service, numbers_csv, pages, whole_list

MEAN = {"kind": "mean", "column": "x"}


def assert_pages(client: httpx.Client, path: str, whole: list[Any]) -> None:
    """Pages of any size hold the whole list, each item once, in its order; only the last may be short."""
    for limit in {1, 3, max(1, len(whole) - 1), len(whole), len(whole) + 1}:
        for order, expected in (("oldest", whole), ("newest", whole[::-1])):
            found = list(pages(client, path, limit, order=order))
            assert [item for page in found for item in page] == expected
            assert all(len(page) == limit for page in found[:-1])
            assert len(found) == -(-len(whole) // limit)


def as_others_read(release: dict[str, Any]) -> dict[str, Any]:
    """A release as who did not pay for it reads it."""
    return release | {"budget": release["budget"] | {"allowance_remaining": None}}


@SERVICE_ON_POSTGRES_SLOWLY
def test_every_list_has_pages(service: Service) -> None:
    """Lists are `{"principals" | "datasets" | "releases" | "entries": […], "next": null or the next after}`; `after` is
    exclusive, oldest first."""
    tables = [service.table(X_COLUMNS, numbers_csv(20))]
    name, analyst = tables[0].analyst_name, tables[0].analyst
    for _ in range(4):
        tables.append(service.table(X_COLUMNS, numbers_csv(20)))
        tables[-1].grant(name, "1")
    made = [table.release(MEAN, client=analyst, epsilon="0.1", reuse=False).json() for table in tables]
    made += [tables[0].release(MEAN, client=analyst, epsilon="0.1", reuse=False).json() for _ in range(3)]
    others = [tables[0].release(MEAN, client=tables[0].another("1")[1], epsilon="0.1", reuse=False).json()]
    assert_pages(analyst, "/v1/releases", made)
    assert_pages(analyst, f"{tables[0].path}/releases", [made[0], *made[5:], *map(as_others_read, others)])
    assert_pages(analyst, "/v1/datasets", [analyst.get(table.path).json() for table in tables])
    assert_pages(tables[0].owner, "/v1/datasets", [tables[0].owner.get(tables[0].path).json()])
    more = {"epsilon": 1, "reason": "more"}
    asked = [
        client.post(f"{tables[0].path}/budget-requests", json=more).json()
        for client in (analyst, *(tables[0].another("1")[1] for _ in range(2)))
    ]
    assert_pages(tables[0].owner, f"{tables[0].path}/budget-requests", asked)
    assert_pages(tables[0].owner, f"{tables[0].path}/ledger", tables[0].entries())


def test_the_list_of_principals_has_pages(service: Service) -> None:
    names = [service.principal("analyst")[0] for _ in range(3)]
    limit = min(1000, len(whole_list(service.admin, "/v1/principals")) // 3)
    listed = [one["name"] for page in pages(service.admin, "/v1/principals", limit) for one in page]
    assert (listed[0], listed[-3:]) == ("admin", names)
    assert len(set(listed)) == len(listed)
    newest = [one["name"] for page in pages(service.admin, "/v1/principals", limit, order="newest") for one in page]
    assert newest == listed[::-1]
    table = service.table(X_COLUMNS, numbers_csv(20))
    grantees = f"{table.path}/grantees"
    oldest = [one for page in pages(table.owner, grantees, 50) for one in page]
    assert [one for page in pages(table.owner, grantees, 50, order="newest") for one in page] == oldest[::-1]


@SERVICE_ON_POSTGRES_SLOWLY
def test_a_page_has_a_hundred_unless_it_is_said(service: Service) -> None:
    """`limit` 1 to 1,000, default 100."""
    table = service.table(X_COLUMNS, numbers_csv(20))
    for limit in range(100):
        table.grant(table.analyst_name, str(limit))
    page = table.owner.get(f"{table.path}/ledger").json()
    assert (len(page["entries"]), page["next"]) == (100, 100)
    rest = table.owner.get(f"{table.path}/ledger", params={"after": 100, "limit": 1000}).json()
    assert ([entry["seq"] for entry in rest["entries"]], rest["next"]) == ([101, 102], None)
    assert table.owner.get(f"{table.path}/ledger", params={"after": 102}).json() == {"entries": [], "next": None}


@pytest.mark.parametrize(
    "query",
    [
        *(
            {"limit": 0},
            {"limit": 1001},
            {"limit": -1},
            {"limit": "x"},
            {"limit": ""},
            {"limit": "1.0"},
            {"limit": "+1"},
        ),
        *({"limit": "٣"}, {"limit": "1\n"}, {"limit": 2**63}, {"limit": "9" * 5000}),
        *({"order": "up"}, {"order": ""}, {"order": "newst"}),
        *({"after": "\x00"}, {"after": "'"}, {"after": "\u202e"}, {"after": "x" * 10_000}, {"after": ""}),
    ],
    ids=lambda query: ascii(query)[:40],
)
def test_a_page_that_is_none(one_service: Service, query: dict[str, object]) -> None:
    table = one_service.shared_table(X_COLUMNS, numbers_csv(20))
    lists = ("/v1/principals", "/v1/datasets", "/v1/releases", f"{table.path}/releases", f"{table.path}/ledger")
    for path in lists:
        answer = one_service.admin.get(path, params=query)
        assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, *query)


def test_pages_that_begin_nowhere(service: Service) -> None:
    table = service.table(X_COLUMNS, numbers_csv(20))
    for path in ("/v1/principals", "/v1/datasets"):
        assert service.admin.get(path, params={"after": "nothing-of-this-name"}).status_code == 422
    # The last id of all, and the largest number: nothing comes after them.
    last = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    assert service.admin.get(f"{table.path}/releases", params={"after": last}).json()["releases"] == []
    assert table.owner.get(f"{table.path}/ledger", params={"after": 10**17}).json() == {"entries": [], "next": None}
    assert table.owner.get(f"{table.path}/ledger", params={"after": 2**63}).status_code == 422


def test_every_list_of_the_interface_begins_with_either_end(service: Service) -> None:
    table = service.table(X_COLUMNS, numbers_csv(20))
    figure = {"title": "Mass", "release": table.fresh(MEAN, epsilon=1)["id"]}
    assert table.owner.put(f"{table.path}/figures/mass", json=figure).status_code == 201
    board = {"title": "Board", "figures": [{"dataset": table.name, "figure": "mass"}]}
    assert table.owner.put(f"/v1/collections/{table.name}", json=board).status_code == 201
    items = [{"statistic": MEAN, "epsilon": "0.5"}]
    report = {"batch": {"items": items}, "figures": [{"figure": "mass", "title": "Mass", "items": [0]}]}
    report |= {"epsilon_per_run": "0.5", "epsilon_total": "0.5"}
    assert table.analyst.put(f"{table.path}/reports/monthly", json=report).status_code == 201
    lists = {
        path
        for path, operations in service.contract.document["paths"].items()
        if "after" in {each["name"] for each in operations.get("get", {}).get("parameters", ())}
    }
    by_name = {path for path in lists if path.endswith(("/figures", "/viewers", "/collections", "/reports"))}
    assert (len(lists), len(by_name)) == (16, 6)
    for path in by_name:
        filled = path.format(name=table.name)
        assert service.admin.get(filled, params={"limit": 7}).links["first"]["url"] == f"{filled}?limit=7"
    for path in lists - by_name:
        filled = path.format(name=table.name, figure="mass", report="monthly")
        beyond = service.admin.get(filled, params={"after": 10**17})
        assert beyond.json().get("next") is None, path
        assert service.admin.get(filled).links["first"]["url"] == filled
        newest = service.admin.get(filled, params={"limit": 2, "order": "newest"})
        assert newest.links["first"]["url"] == f"{filled}?limit=2&order=newest"
        assert "did you mean 'newest'?" in service.admin.get(filled, params={"order": "newst"}).text
    records = service.admin.get("/v1/audit", params={"order": "newest", "limit": 2}).json()
    assert records["records"][0]["seq"] == records["next"] + 1
