"""Allowances, adjustments, and the ledger that records them."""

from typing import Any

import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


def figures(limit: str, spent: str, remaining: str) -> dict[str, Any]:
    return {"epsilon_limit": limit, "epsilon_spent": spent, "epsilon_remaining": remaining}


def test_a_budget_as_each_sees_it(service: Service, table: Table) -> None:
    """`GET /v1/datasets/{name}/budget`: the three figures, the caller's allowance, and for owner, admin and auditor
    also `allowances`, a list of the same with `principal`."""
    table.fresh(MEAN, epsilon="0.000000001")
    of_dataset = figures("10", "0.000000001", "9.999999999")
    allowance = figures("10", "0.000000001", "9.999999999") | {"window": None}
    assert table.analyst.get(f"{table.path}/budget").json() == of_dataset | {"allowance": allowance}
    _, auditor = service.principal("auditor")
    for overseer in (table.owner, service.admin, auditor):
        assert overseer.get(f"{table.path}/budget").json() == of_dataset | {
            "allowance": None,
            "allowances": [{"principal": table.analyst_name, "display_name": None, "revoked": False} | allowance],
            "open_requests": 0,
        }
    assert table.analyst.get("/v1/me").json()["allowances"] == [{"dataset": table.name} | allowance]


def test_the_life_of_an_allowance(table: Table) -> None:
    """Less than it has spent is a 422. `DELETE` revokes access, 204; the spending stays."""
    first = table.fresh(MEAN, epsilon=2)
    path = f"{table.path}/allowances/{table.analyst_name}"
    below = table.owner.put(path, json={"epsilon_limit": "1.999999999"})
    assert (below.status_code, below.json()["errors"][0]["where"]) == (422, "epsilon_limit")
    assert table.owner.put(path, json={"epsilon_limit": 2}).json()["allowances"][0]["epsilon_remaining"] == "0"
    assert table.owner.delete(path).status_code == 204
    assert table.owner.delete(path).status_code == 404
    for hidden in (table.path, f"{table.path}/budget", f"{table.path}/releases", f"/v1/releases/{first['id']}"):
        assert table.analyst.get(hidden).status_code == 404
    assert table.analyst.get("/v1/releases").json()["releases"] == []
    assert table.analyst.get("/v1/me").json()["allowances"] == []
    (revoked,) = table.budget()["allowances"]
    assert (revoked["revoked"], revoked["epsilon_spent"]) == (True, "2")
    assert table.plan(MEAN, epsilon=1).status_code == 404
    assert table.release(MEAN, epsilon=1).status_code == 404
    assert table.budget()["epsilon_spent"] == "2"
    below = table.owner.put(path, json={"epsilon_limit": 1})
    assert below.status_code == 422
    assert table.analyst.get(table.path).status_code == 404
    table.grant(table.analyst_name, "3")
    assert table.budget()["allowances"][0]["revoked"] is False
    mine = table.analyst.get(f"{table.path}/budget").json()["allowance"]
    assert mine == figures("3", "2", "1") | {"window": None}


def test_an_allowance_of_nothing_allows_reuse_only(table: Table) -> None:
    """`PUT …/allowances/{principal}`: "0" is allowed (reuse only)."""
    first = table.fresh(MEAN, epsilon="0.5")
    _, poor = table.another("0")
    assert table.release(MEAN, client=poor, epsilon="0.5").json()["id"] == first["id"]
    plan = table.plan(MEAN, client=poor, epsilon="0.5", reuse=False).json()
    assert (plan["budget"]["affordable"], plan["budget"]["repeatable"]) == (False, 0)
    refused = table.release(MEAN, client=poor, epsilon="0.5", reuse=False)
    assert (refused.status_code, refused.json()["scope"], refused.json()["limit"]) == (409, "allowance", "0")


def test_allowances_together_may_exceed_the_dataset_s_limit(service: Service) -> None:
    """Allowances together may exceed the dataset's limit, which holds anyway."""
    table = service.table(X_COLUMNS, numbers_csv(20), limit="1", allowance="1")
    _, other = table.another("1000000")
    table.fresh(MEAN, epsilon="0.7")
    refused = table.release(MEAN, client=other, epsilon="0.4", reuse=False).json()
    assert (refused["scope"], refused["remaining"], refused["limit"]) == ("dataset", "0.3", "1")
    assert table.release(MEAN, client=other, epsilon="0.3", reuse=False).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        *({}, {"epsilon_limit": None}, {"epsilon_limit": -1}, {"epsilon_limit": "1000000.000000001"}),
        *({"epsilon_limit": "0.0000000001"}, {"epsilon_limit": True}, {"epsilon_limit": 1, "more": 1}),
        *([], 1),
        *({"epsilon_limit": 1, "window_days": days} for days in (0, -1, 1.5, 36_501, "x", True)),
    ],
    ids=str,
)
def test_an_allowance_that_is_none(one_service: Service, body: Any) -> None:
    """A limit is a whole number of units in [0, 10⁶]."""
    table = one_service.shared_table(X_COLUMNS, numbers_csv(20))
    with one_service.unchanged():
        assert table.owner.put(f"{table.path}/allowances/admin", json=body).status_code == 422


@pytest.mark.parametrize(
    ("limit", "shown"), [("0", "0"), ("1000000", "1000000"), ("1e-9", "0.000000001"), ("1.50", "1.5")]
)
def test_the_ends_of_a_limit(one_service: Service, limit: str, shown: str) -> None:
    """A limit in [0, 10⁶]; a response gives every ε as a decimal string without exponent or trailing zeros."""
    table = one_service.table(X_COLUMNS, numbers_csv(20), limit=limit, allowance=limit)
    budget = table.budget()
    assert (budget["epsilon_limit"], budget["allowances"][0]["epsilon_limit"]) == (shown, shown)


def test_who_cannot_have_an_allowance(service: Service, table: Table) -> None:
    auditor, _ = service.principal("auditor")
    assert table.owner.put(f"{table.path}/allowances/{auditor}", json={"epsilon_limit": 1}).status_code == 422
    assert table.owner.put(f"{table.path}/allowances/nobody-at-all", json={"epsilon_limit": -1}).status_code == 404


def test_an_adjustment_is_on_record(table: Table) -> None:
    """`POST …/budget/adjustments`: 201; below what is spent: 422.

    Entries: `open`, `allow`, `revoke`, `adjust`, `debit`, `close`.
    """
    first = table.fresh(MEAN, epsilon=2)
    path = f"{table.path}/budget/adjustments"
    for body in ({"epsilon_limit": "1.999999999", "reason": "less"}, {"epsilon_limit": 12}, {"reason": "none"}):
        assert table.owner.post(path, json=body).status_code == 422
    for reason in ("", "x" * 1001, None, 1, "\x00"):
        assert table.owner.post(path, json={"epsilon_limit": 12, "reason": reason}).status_code == 422
    raised = table.owner.post(path, json={"epsilon_limit": "12", "reason": "a second survey"})
    assert (raised.status_code, raised.json()["epsilon_remaining"]) == (201, "10")
    lowered = table.owner.post(path, json={"epsilon_limit": 2, "reason": "what is spent"})
    assert (lowered.status_code, lowered.json()["epsilon_remaining"]) == (201, "0")
    assert table.owner.delete(f"{table.path}/allowances/{table.analyst_name}").status_code == 204
    assert table.owner.delete(table.path).status_code == 204
    entries = table.entries()
    assert [
        (entry["seq"], entry["kind"], entry["principal"], entry["epsilon"], entry["epsilon_spent"], entry["release_id"])
        for entry in entries
    ] == [
        (1, "open", table.owner_name, "10", "0", None),
        (2, "allow", table.analyst_name, "10", "0", None),
        (3, "debit", table.analyst_name, "2", "2", first["id"]),
        (4, "adjust", table.owner_name, "12", "2", None),
        (5, "adjust", table.owner_name, "2", "2", None),
        (6, "revoke", table.analyst_name, "0", "2", None),
        (7, "close", table.owner_name, "0", "2", None),
    ]
    assert entries[2]["at"] == first["created_at"]


def test_a_refusal_writes_no_entry(service: Service, table: Table) -> None:
    with service.unchanged():
        assert table.release(MEAN, epsilon=11, reuse=False).status_code == 409
        assert table.owner.put(f"{table.path}/allowances/{table.analyst_name}", json={}).status_code == 422
        assert table.owner.delete(f"{table.path}/allowances/admin").status_code == 404


def test_a_closed_dataset_keeps_its_record_and_nothing_else(service: Service, table: Table) -> None:
    """`DELETE` (owner): 204; data and sums deleted, `state` `closed`, ledger and releases stay readable, the name is
    never free again; plan and release then 409 `closed`."""
    first = table.release(MEAN, key="kept", epsilon=1)
    files = set(service.data.glob("*.parquet"))
    assert table.owner.delete(table.path).status_code == 204
    assert len(files - set(service.data.glob("*.parquet"))) == 1
    assert table.analyst.get(table.path).json()["state"] == "closed"
    assert table.release(MEAN, key="kept", epsilon=1).content == first.content
    for refused in (
        table.owner.delete(table.path),
        table.plan(MEAN, epsilon=1),
        table.release(MEAN, epsilon=1),
        table.release(MEAN, epsilon=1, reuse=False),
        table.owner.put(f"{table.path}/allowances/{table.analyst_name}", json={"epsilon_limit": 1}),
        table.owner.post(f"{table.path}/budget/adjustments", json={"epsilon_limit": 20, "reason": "more"}),
    ):
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/closed")
    assert table.analyst.get(f"{table.path}/releases").json()["releases"] == [first.json()]
    assert table.analyst.get(f"/v1/releases/{first.json()['id']}").json() == first.json()
    assert [entry["kind"] for entry in table.entries()] == ["open", "allow", "debit", "close"]
    again = service.upload(
        table.owner, {"name": table.name, "epsilon_limit": 1, "columns": X_COLUMNS}, numbers_csv(3).encode()
    )
    assert (again.status_code, again.json()["type"]) == (409, "/problems/name-taken")
