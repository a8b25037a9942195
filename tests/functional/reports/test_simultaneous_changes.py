"""Reports that are changed while others carry them out, change them, or register the dataset where they run next."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from report_world import COLUMNS, CONTENT, REPORT, define, last_run, succeed
from service_world import Service, Table, becomes
from waiting_writers import has_waiting_writer

from app.api.routers.reports import REPORT_INTERFACE
from app.db.repositories import credentials, datasets, principals
from app.errors import SnapledgerError
from app.ledger import accounts, reports
from app.services import audit_records
from app.services.context import Services
from app.services.operations.report_worker import carry_out_all
from app.services.rendering.documents import Document
from app.services.reports.defining import report_path

pytestmark = pytest.mark.slow

ON_POSTGRES = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@pytest.fixture
def table(idle: Service) -> Table:
    return idle.table(COLUMNS, CONTENT)


def carry_out_changing(services: Services, table: Table, change: Callable[[], object]) -> None:
    """Carry out a run that is refused, with a change after the reading of the budgets, for which it is tried again."""
    changed: list[object] = []

    def change_meanwhile(error: SnapledgerError) -> Document:
        if not changed:
            changed.append(change())
        return REPORT_INTERFACE.describe_problem(error)

    assert carry_out_all(services, replace(REPORT_INTERFACE, describe_problem=change_meanwhile)) == 0
    run = table.owner.get(f"{table.path}/reports/monthly/runs", params={"order": "newest"}).json()["runs"][0]
    assert (run["state"], run["problem"]) == ("pending", None)


def assert_done(table: Table, services: Services) -> None:
    assert carry_out_all(services, REPORT_INTERFACE) == 0
    assert last_run(table)["state"] == "done"
    assert table.service.admin.get("/v1/audit/verification").json()["problems"] == []


def test_an_allowance_that_is_granted_while_a_run_is_refused(
    idle: Service, replicas: list[Services], table: Table
) -> None:
    assert define(table, table.analyst).status_code == 201
    after = succeed(idle, table)
    carry_out_changing(replicas[0], after, lambda: after.grant(after.analyst_name, "2"))
    assert_done(after, replicas[0])


def test_a_budget_that_is_raised_while_a_run_is_refused(idle: Service, replicas: list[Services], table: Table) -> None:
    assert define(table, epsilon_total="0.75").status_code == 201
    first = succeed(idle, table)
    assert_done(first, replicas[0])
    after = succeed(idle, first)
    carry_out_changing(replicas[0], after, lambda: define(after, epsilon_total="1.5"))
    after.grant(after.owner_name, "1")  # nothing was left that it could have had when it succeeded
    assert_done(after, replicas[0])


def test_a_report_that_is_defined_again_after_a_grant_while_its_run_is_refused(
    idle: Service, replicas: list[Services], table: Table
) -> None:
    assert define(table, table.analyst).status_code == 201
    after = succeed(idle, table)

    def change() -> None:
        assert after.owner.delete(f"{after.path}/reports/monthly").status_code == 204
        after.grant(after.analyst_name, "2")  # which queues no run of what is withdrawn
        assert define(after, after.analyst).status_code == 201

    carry_out_changing(replicas[0], after, change)
    assert_done(after, replicas[0])


def test_who_asks_for_a_run_while_it_is_refused_gets_another_try(
    idle: Service, replicas: list[Services], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a key was replaced that had expired, which queues nothing by itself."""
    assert define(table).status_code == 201
    after = succeed(idle, table)
    monkeypatch.setattr(credentials, "has_expired_key", lambda _: True)

    def change() -> None:
        monkeypatch.undo()
        asked = after.owner.post(f"{after.path}/reports/monthly/runs")
        assert (asked.status_code, asked.json()["state"]) == (200, "pending")

    carry_out_changing(replicas[0], after, change)
    assert_done(after, replicas[0])


def take_over(services: Services, table: Table, call: Callable[[], Any]) -> Any:
    """Make an analyst's report its owner's, as `define_report` does, while `call` waits for that; return its result."""
    keyring, database = services.keyring, services.database
    with ThreadPoolExecutor(1) as pool, database.write() as transaction:
        dataset = datasets.find_dataset(transaction, table.name)
        owner = principals.find_by_name(transaction, table.owner_name)
        assert dataset is not None
        assert owner is not None
        accounts.lock_account(transaction, dataset.id)
        report = reports.lock_report(transaction, keyring, dataset.id, "monthly")
        assert report is not None
        taken = report._replace(principal_id=owner.id, principal=owner.name)
        reports.save_report(transaction, keyring.seal, taken)
        waiting = pool.submit(call)
        assert becomes(lambda: has_waiting_writer(database))
        audit_records.record(
            *(transaction, keyring.seal, owner, "report.define", report_path(table.name, "monthly")),
            epsilon_per_run="0.75",
            epsilon_total="1.5",
            definition_sha256=hashlib.sha256(taken.definition.encode()).hexdigest(),
        )
        transaction.commit()
        return waiting.result()


@ON_POSTGRES
def test_a_registration_waits_for_a_report_and_takes_it_along(
    idle: Service, replicas: list[Services], table: Table
) -> None:
    assert define(table, table.analyst).status_code == 201
    after = take_over(replicas[0], table, lambda: succeed(idle, table))
    moved = after.owner.get(f"{after.path}/reports/monthly").json()
    assert moved["principal"] == table.owner_name
    assert_done(after, replicas[0])


@ON_POSTGRES
def test_a_withdrawal_that_waits_is_of_the_report_as_it_is_then(
    idle: Service, replicas: list[Services], table: Table
) -> None:
    assert define(table, table.analyst).status_code == 201
    path = f"{table.path}/reports/monthly"
    as_read = {"If-Match": table.owner.get(path).headers["etag"]}
    refused = take_over(replicas[0], table, lambda: table.owner.delete(path, headers=as_read))
    assert (refused.status_code, refused.json()["type"]) == (412, "/problems/precondition-failed")
    assert take_over(replicas[0], table, lambda: table.owner.delete(path)).status_code == 204
    assert idle.admin.get("/v1/audit/verification").json()["problems"] == []


def test_of_simultaneous_changes_of_a_report_as_it_was_read_one_is_made(idle: Service, table: Table) -> None:
    assert define(table).status_code == 201
    path = f"{table.path}/reports/monthly"
    for turn in range(4):
        as_read = {"If-Match": table.owner.get(path).headers["etag"]}

        def change(number: int, limit: int = 10 * turn, as_read: dict[str, str] = as_read) -> httpx.Response:
            body = REPORT | {"epsilon_total": str(limit + number + 2)}
            return table.owner.put(path, json=body, headers=as_read)

        with ThreadPoolExecutor(6) as hands:
            statuses = sorted(answer.status_code for answer in hands.map(change, range(6)))
        assert statuses == [200] + [412] * 5
