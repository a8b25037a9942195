"""Runs of reports that crash at any step, or that several carry out at once: debited and published once."""

import itertools
import os
import secrets
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lengths import ON_POSTGRES_SLOWLY
from report_world import COLUMNS, CONTENT, define, last_run, problems, put_back, rows_now, succeed
from service_world import Service, Table, key_of, serving
from tampering import unconstrained

from app.api.routers.reports import REPORT_INTERFACE
from app.db.database import Database
from app.db.deferred_changes import DeferredChanges
from app.db.group_commit import CommitGroup
from app.db.grouped_session import GroupedSession
from app.db.session import WriteSession
from app.services.context import Services
from app.services.figures import publishing
from app.services.operations.report_worker import carry_out_all


@pytest.fixture
def table(idle: Service) -> Table:
    table = idle.table(COLUMNS, CONTENT)
    assert define(table, epsilon_total="900").status_code == 201
    return table


class _Crash(BaseException):
    """The end of the process at some step."""


def _crash(*_: object) -> None:
    raise _Crash


def crash_at(patched: pytest.MonkeyPatch, step: int) -> None:
    """Crash before the statement of a transaction that has this number, or before or after a commit."""
    left = itertools.count(step - 1, -1)

    def counted(original: Any) -> Any:
        def run(of: Any, *asked: Any, **more: Any) -> Any:
            if next(left) == 0:
                if isinstance(of, CommitGroup):
                    of._session, opened = None, of._open.pop_all()
                    opened.close()  # as the connection of a process that ends
                raise _Crash
            return original(of, *asked, **more)

        return run

    steps = {
        WriteSession: ("commit", "end", "put", "claim", "_run"),
        GroupedSession: ("put", "claim", "keep"),
        DeferredChanges: ("write",),
        CommitGroup: ("commit", "when_durable"),
    }
    for owner, names in steps.items():
        for name in names:
            patched.setattr(owner, name, counted(getattr(owner, name)))


def assert_done_once(table: Table) -> None:
    run = last_run(table)
    assert (run["state"], run["charged"]) == ("done", "0.75")
    assert table.budget()["epsilon_spent"] == "0.75"
    released = table.owner.get(f"{table.path}/releases").json()["releases"]
    assert [each["id"] for each in released] == run["releases"]
    for figure in ("mass", "cats"):
        assert table.owner.get(f"{table.path}/figures/{figure}").json()["version"] == 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_crash_at_any_step_debits_and_publishes_once(
    idle: Service, replicas: list[Services], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in itertools.count(1):
        table = succeed(idle, table)
        crashed = False
        with monkeypatch.context() as patched:
            crash_at(patched, step)
            try:
                assert carry_out_all(replicas[0], REPORT_INTERFACE) == 0
            except _Crash:
                crashed = True
        assert table.budget()["epsilon_spent"] in {"0", "0.75"}
        assert carry_out_all(replicas[1], REPORT_INTERFACE) == 0
        assert_done_once(table)
        if not crashed:
            break
    assert step > 20
    assert table.owner.get(f"{table.path}/reports/monthly").json()["epsilon_spent"] == f"{0.75 * step:g}"
    assert idle.admin.get("/v1/audit/verification").json()["valid"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_replicas_at_once_debit_and_publish_once(idle: Service, replicas: list[Services], table: Table) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(6):
            table = succeed(idle, table)
            list(pool.map(lambda each: carry_out_all(each, REPORT_INTERFACE), replicas))
            assert carry_out_all(replicas[0], REPORT_INTERFACE) == 0
            assert_done_once(table)
    assert table.owner.get(f"{table.path}/reports/monthly").json()["epsilon_spent"] == "4.5"


@ON_POSTGRES_SLOWLY
def test_what_was_queued_is_done_by_the_next_that_works(idle: Service, replicas: list[Services], table: Table) -> None:
    after = succeed(idle, table)
    (run,) = table.owner.get(f"{after.path}/reports/monthly/runs").json()["runs"]
    assert (run["state"], run["charged"], run["problem"]) == ("pending", "0", None)
    last = succeed(idle, after)  # the report moves on, and what it has still to do stays
    assert carry_out_all(replicas[0], REPORT_INTERFACE) == 0
    runs = table.owner.get(f"{last.path}/reports/monthly/runs").json()["runs"]
    assert [(run["dataset"], run["state"]) for run in runs] == [(after.name, "done"), (last.name, "done")]
    assert_done_once(last)


@ON_POSTGRES_SLOWLY
def test_a_run_that_is_put_back_before_it_is_published_is_found(
    idle: Service, replicas: list[Services], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = succeed(idle, table)
    database = Database(idle.database_url)
    pending = rows_now(database)
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "publish_figure", _crash)
        with pytest.raises(_Crash):
            carry_out_all(replicas[0], REPORT_INTERFACE)
    (run,) = table.owner.get(f"{after.path}/reports/monthly/runs").json()["runs"]
    assert (run["state"], run["charged"]) == ("released", "0.75")
    assert idle.admin.get("/v1/audit/verification").json()["problems"] == []
    with unconstrained(database) as connection:
        for row in pending.values():  # each with its seal from before the release
            put_back(connection, row)
        found = problems(connection, idle)
    assert found == [f"the run 1 of the report {after.name}/monthly is not what the records say"]
    database.close()
    assert carry_out_all(replicas[1], REPORT_INTERFACE) == 0
    assert_done_once(after)
    assert idle.admin.get("/v1/audit/verification").json()["problems"] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_killed_service_goes_on_when_it_is_started_again(tmp_path: Path, database_url: str) -> None:
    settings = {"ADMIN_KEY": secrets.token_urlsafe(32), "SECRET": secrets.token_hex(32)}
    table, key = None, ""
    for seconds in (0.0, 0.02, 0.1, None):
        with serving(tmp_path, database_url, **settings) as service:
            service.admin.headers["Authorization"] = f"Bearer {settings['ADMIN_KEY']}"
            if table is None:
                table = service.table(COLUMNS, CONTENT)
                define(table, epsilon_total="900")
                key = key_of(table.owner)
            else:
                table = replace(table, service=service, owner=service.client(key))
                assert_done_once(table)
            if seconds is not None:
                table = succeed(service, table)
                time.sleep(seconds)
                os.kill(service.pid, signal.SIGKILL)
