"""Allowances that renew, as owners and analysts meet them."""

from datetime import UTC, datetime, timedelta

import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv
from sqlalchemy import select, update

from app.db import tables
from app.db.clock import days_after
from app.db.database import Database

MEAN = {"kind": "mean", "column": "x"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(20))


def put(table: Table, **asked: object) -> dict[str, object]:
    answer = table.owner.put(f"{table.path}/allowances/{table.analyst_name}", json=asked)
    assert answer.status_code == 200, answer.text
    (allowance,) = answer.json()["allowances"]
    return allowance


def own(table: Table) -> dict[str, object]:
    allowance: dict[str, object] = table.analyst.get(f"{table.path}/budget").json()["allowance"]
    assert [allowance | {"dataset": table.name}] == table.analyst.get("/v1/me").json()["allowances"]
    return allowance


def let_days_pass(table: Table, days: int) -> None:
    """As seen from the allowance: it was granted so many days earlier."""
    of_dataset = tables.allowances.c.dataset_id.in_(
        select(tables.datasets.c.id).where(tables.datasets.c.name == table.name)
    )
    database = Database(table.service.database_url)
    with database.write() as transaction:
        (row,) = transaction.rows(select(tables.allowances.c.window_started_at).where(of_dataset))
        earlier = days_after(row.window_started_at, -days)
        transaction.change(update(tables.allowances).where(of_dataset).values(window_started_at=earlier))
        transaction.commit()
    database.close()


def test_an_allowance_is_renewed_when_its_window_has_passed(table: Table) -> None:
    """`window_days` renews an analyst's allowance; the dataset's limit never renews."""
    window = put(table, epsilon_limit="1", window_days="30")["window"]
    assert window["days"] == 30
    started = datetime.fromisoformat(window["started_at"])
    assert abs(datetime.now(UTC) - started) < timedelta(minutes=1)
    assert datetime.fromisoformat(window["ends_at"]) - started == timedelta(days=30)
    first = table.release(MEAN, key="first", epsilon=1, reuse=False)
    assert first.json()["budget"]["allowance_remaining"] == "0"
    assert own(table)["window"] == window
    refused = table.release(MEAN, epsilon="0.1", reuse=False)
    assert (refused.status_code, refused.json()["scope"], refused.json()["remaining"]) == (409, "allowance", "0")
    assert refused.json()["renews_at"] == window["ends_at"]
    assert 29 * 86_400 < int(refused.headers["retry-after"]) <= 30 * 86_400
    batch = table.analyst.post(
        f"{table.path}/batches", json={"items": [{"statistic": {**MEAN, "bounds": [0, 9]}, "epsilon": 1}]}
    )
    assert (batch.json()["renews_at"], "retry-after" in batch.headers) == (window["ends_at"], True)
    never = table.release(MEAN, epsilon="1.1", reuse=False)  # more than any window has
    assert (never.status_code, "retry-after" in never.headers, "renews_at" in never.json()) == (409, False, False)
    assert table.plan(MEAN, epsilon="0.1", reuse=False).json()["budget"]["affordable"] is False

    let_days_pass(table, 31)
    renewed = own(table)
    assert (renewed["epsilon_spent"], renewed["epsilon_remaining"]) == ("0", "1")
    assert renewed["window"] == {
        "days": 30,
        "started_at": days_after(window["started_at"], -1),
        "ends_at": days_after(window["started_at"], 29),
    }
    assert table.plan(MEAN, epsilon="0.1", reuse=False).json()["budget"]["repeatable"] == 10
    second = table.release(MEAN, epsilon="0.4", reuse=False)
    assert second.json()["budget"] == {"charged": "0.4", "dataset_remaining": "8.6", "allowance_remaining": "0.6"}
    assert second.json()["created_at"] == table.entries()[-1]["at"]
    assert table.release(MEAN, key="first", epsilon=1, reuse=False).content == first.content  # costs nothing anew
    assert (own(table)["epsilon_spent"], table.budget()["epsilon_spent"]) == ("0.4", "1.4")


def test_a_window_is_taken_away(table: Table) -> None:
    put(table, epsilon_limit=2, window_days=1)
    table.fresh(MEAN, epsilon=1)
    assert put(table, epsilon_limit=1)["window"] is None
    assert put(table, epsilon_limit=1, window_days=None)["epsilon_spent"] == "1"
    assert table.release(MEAN, epsilon=1, reuse=False).status_code == 409


@pytest.mark.parametrize("days", [1, "7", 36_500, 3e1])
def test_windows_of_every_length(table: Table, days: object) -> None:
    assert put(table, epsilon_limit=1, window_days=days)["window"]["days"] == float(days)


def test_owners_are_told_that_the_dataset_s_limit_is_never_renewed(one_service: Service) -> None:
    """Say so where owners read: renewal over the same rows reveals arbitrary amounts."""
    schemas = one_service.contract.document["components"]["schemas"]
    told = (
        schemas["DatasetRequest"]["properties"]["epsilon_limit"],
        schemas["AllowanceRequest"]["properties"]["window_days"],
        one_service.contract.document["paths"]["/v1/datasets/{name}/allowances/{principal}"]["put"],
        one_service.contract.document["paths"]["/v1/datasets/{name}/budget/adjustments"]["post"],
    )
    assert all("never renewed" in where["description"] for where in told[:3])
    assert "no window renews it" in told[3]["description"]
