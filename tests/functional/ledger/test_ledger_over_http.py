"""`GET …/ledger/verification`: what is changed behind the service's back is told to those who oversee the dataset."""

from collections.abc import Callable
from typing import Any

import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv
from sqlalchemy import select, update

from app.db import tables
from app.db.database import Database

MEAN = {"kind": "mean", "column": "x"}


@pytest.fixture
def table(service: Service) -> Table:
    table = service.table(X_COLUMNS, numbers_csv(20))
    for _ in range(3):
        table.fresh(MEAN, epsilon="0.1")
    return table


def verification(table: Table) -> dict[str, Any]:
    answer = table.owner.get(f"{table.path}/ledger/verification")
    assert answer.status_code == 200
    document: dict[str, Any] = answer.json()
    return document


def tamper(table: Table, statement: Callable[[Any], Any]) -> None:
    """Change a table of the ledger, as whoever can write to the database may."""
    database = Database(table.service.database_url)
    of_dataset = select(tables.datasets.c.id).where(tables.datasets.c.name == table.name).scalar_subquery()
    with database.write() as transaction:
        assert transaction.connection.execute(statement(of_dataset)).rowcount == 1
        transaction.commit()
    database.close()


def entry(seq: int, **values: object) -> Callable[[Any], Any]:
    entries = tables.entries
    return lambda of: update(entries).where(entries.c.dataset_id == of, entries.c.seq == seq).values(**values)


def account(**values: object) -> Callable[[Any], Any]:
    return lambda of: update(tables.accounts).where(tables.accounts.c.dataset_id == of).values(**values)


def test_an_untouched_ledger_is_valid(table: Table) -> None:
    last = table.entries()[-1]
    assert verification(table) == {
        "valid": True,
        "entries": 5,
        "first_checked": 1,
        "head": last["hash"],
        "problems": [],
    }
    assert table.owner.delete(table.path).status_code == 204
    found = verification(table)
    assert (found["valid"], found["entries"], found["head"]) == (True, 6, table.entries()[-1]["hash"])


def test_an_incremental_verification_checks_what_follows_the_latest(table: Table) -> None:
    path = f"{table.path}/ledger/verification"
    assert table.owner.get(path, params={"incremental": "true"}).json()["first_checked"] == 1
    full_at = table.owner.get(f"{path}/latest").json()["latest"]["full_at"]
    table.fresh(MEAN, epsilon="0.25")
    found = table.owner.get(path, params={"incremental": "true"}).json()
    assert (found["valid"], found["entries"], found["first_checked"]) == (True, 6, 6)
    assert table.owner.get(f"{path}/latest").json()["latest"]["full_at"] == full_at
    assert verification(table)["first_checked"] == 1
    refused = table.owner.get(path, params={"incremental": "some"})
    assert (refused.status_code, "incremental" in refused.text) == (422, True)


@pytest.mark.parametrize(
    ("statement", "first"),
    [
        (entry(4, epsilon_nano=1), 4),
        (entry(4, principal="nobody"), 4),
        (entry(5, at="2026-01-01T00:00:00.000000Z"), 5),
        (account(spent_nano=0), None),
        (account(head=b"x" * 32), None),
    ],
)
def test_a_changed_ledger_is_found(table: Table, statement: Callable[[Any], Any], first: int | None) -> None:
    tamper(table, statement)
    found = verification(table)
    assert (found["valid"], found["entries"]) == (False, 5)
    assert found["problems"][0]["seq"] == first
    assert found["problems"][0]["what"]


def test_a_changed_answer_is_found(table: Table) -> None:
    release_id = table.entries()[3]["release_id"]
    releases = tables.releases
    tamper(table, lambda _: update(releases).where(releases.c.id == release_id).values(response=b"{}"))
    problem = {"seq": 4, "what": "is the debit of a release whose stored response was changed"}
    assert verification(table)["problems"] == [problem]


def test_who_may_ask(table: Table) -> None:
    """Owner, admin and auditor; an analyst sees that it may not, and who may not know of the dataset nothing."""
    path, service = f"{table.path}/ledger/verification", table.service
    _, auditor = service.principal("auditor")
    _, somebody = service.principal("analyst")
    assert [client.get(path).status_code for client in (table.owner, service.admin, auditor)] == [200, 200, 200]
    assert table.analyst.get(path).status_code == 403
    assert somebody.get(path).status_code == 404
    assert service.stranger.get(path).status_code == 401
    assert service.admin.get("/v1/datasets/nothing/ledger/verification").status_code == 404
    assert table.owner.post(path).status_code == 405
