"""What is told of a release beside its answer: metrics of what is durable alone, and the time that decided."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from faulty_world import MEAN, Breakable, refused
from lengths import ON_POSTGRES_SLOWLY

from app.api.server.worker_pool import WorkerPool
from app.db.clock import days_after
from app.db.session import Session

Ask = Callable[[Breakable, str], httpx.Response]


def ask_release(breakable: Breakable, key: str) -> httpx.Response:
    return breakable.ask(key)


def ask_batch(breakable: Breakable, key: str) -> httpx.Response:
    body = {"items": [{"statistic": MEAN, "epsilon": "0.1"}], "reuse": False}
    return _post(breakable, "batches", body, key)


def ask_derived(breakable: Breakable, key: str) -> httpx.Response:
    body = {"derived": {"kind": "sum", "column": "x"}, "epsilon": "0.1", "reuse": False}
    return _post(breakable, "derived", body, key)


def _post(breakable: Breakable, what: str, body: dict[str, Any], key: str) -> httpx.Response:
    table = breakable.table
    return table.analyst.post(f"{table.path}/{what}", json=body, headers={"Idempotency-Key": key})


each_way = pytest.mark.parametrize("ask", [ask_release, ask_batch, ask_derived])


def told_by_metrics(breakable: Breakable) -> list[str]:
    lines = httpx.get(f"{breakable.table.service.url}/metrics").text.splitlines()
    return [
        line for line in lines if line.startswith(("snapledger_releases_total", "snapledger_epsilon_debited_total"))
    ]


@ON_POSTGRES_SLOWLY
@each_way
def test_only_what_is_durable_is_counted(breakable: Breakable, ask: Ask) -> None:
    """Where several transactions are committed together, each ends before anybody knows whether it will be kept."""
    assert ask(breakable, "first").status_code == 201
    before = told_by_metrics(breakable)
    with breakable.failing_commit(done=False), breakable.patch.context() as patch:
        patch.setattr(WorkerPool, "follows", lambda *_: True)  # so that transactions are not committed at once
        refused(ask(breakable, "k"))
    assert told_by_metrics(breakable) == before
    assert ask(breakable, "k").status_code == 201
    assert told_by_metrics(breakable) != before


@ON_POSTGRES_SLOWLY
@each_way
def test_a_debit_at_a_window_s_edge_has_the_time_that_decided(breakable: Breakable, ask: Ask) -> None:
    """The first instant of the next window, by the database's clock; the process's own may say otherwise."""
    table, started = breakable.table, "2026-01-01T00:00:00.000000Z"
    with breakable.patch.context() as patch:
        patch.setattr(Session, "time", lambda _: started)
        limit = {"epsilon_limit": "0.1", "window_days": 7}
        assert table.owner.put(f"{table.path}/allowances/{table.analyst_name}", json=limit).is_success
        assert ask(breakable, "first").status_code == 201
        assert ask(breakable, "second").status_code == 409
        edge = days_after(started, 7)
        patch.setattr(Session, "time", lambda _: edge)
        assert ask(breakable, "second").status_code == 201
        assert [entry["at"] for entry in table.entries()[-2:]] == [started, edge]
        releases = table.owner.get(f"{table.path}/releases").json()["releases"]
        assert [release["created_at"] for release in releases] == [started, edge]
        assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"]
