"""Batches and derived statistics when something below fails: 503, no debit, nothing stored, and the key still good."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from database_troubles import away, busy
from faulty_world import MEAN, Breakable, refused
from service_world import Table

from app.dp.errors import DrawExhausted
from app.dp.mechanism.mechanism import Mechanism
from app.engines.errors import EngineFailure
from app.engines.storage.tables import Tables

pytestmark = pytest.mark.slow

VARIANCE = {"kind": "variance", "column": "x"}
ITEMS = [{"statistic": each, "weight": 1} for each in (MEAN, VARIANCE, {"kind": "histogram", "column": "x", "bins": 2})]
CALLS: dict[str, dict[str, Any]] = {
    "batches": {"items": ITEMS, "epsilon": "0.3"},
    "derived": {"derived": {"kind": "regression", "columns": ["x", "y"]}, "epsilon": "0.4"},
}


@dataclass(frozen=True)
class Asking:
    """One of the calls on a table of its own, always with the same key."""

    call: str
    table: Table

    def again(self) -> httpx.Response:
        path, headers = f"{self.table.path}/{self.call}", {"Idempotency-Key": "the key"}
        return self.table.analyst.post(path, json=CALLS[self.call], headers=headers)

    def debits(self) -> list[str]:
        return [entry["epsilon"] for entry in self.table.entries() if entry["kind"] == "debit"]

    def assert_nothing_is_paid(self) -> None:
        assert self.debits() == []
        assert self.table.budget()["epsilon_spent"] == "0"

    def assert_paid_once(self) -> None:
        """The key is good for one answer, whose parts are all there."""
        paid = self.again()
        assert paid.status_code == 201, paid.text
        assert self.debits() == {"batches": ["0.1"] * 3, "derived": ["0.12", "0.12", "0.08", "0.08"]}[self.call]
        assert self.again().content == paid.content
        assert self.table.owner.get(f"{self.table.path}/ledger/verification").json()["valid"] is True


@pytest.fixture
def asking(breakable: Breakable) -> list[Asking]:
    columns = {name: {"kind": "integer", "bounds": [0, 100]} for name in ("x", "y")}
    content = "x,y\n" + "".join(f"{i},{2 * i}\n" for i in range(20))
    return [Asking(call, breakable.table.service.table(columns, content)) for call in CALLS]


@pytest.mark.parametrize(
    ("where", "method", "error", "number"),
    [
        pytest.param(Tables, "all_sums", EngineFailure, 1, id="sums"),
        pytest.param(Mechanism, "draw", DrawExhausted, 1, id="first draw"),
        pytest.param(Mechanism, "draw", DrawExhausted, 3, id="third draw"),
    ],
)
def test_the_engine_or_a_draw_fails(
    breakable: Breakable, asking: list[Asking], where: type, method: str, error: type[Exception], number: int
) -> None:
    """At the first, or when others were drawn already: these draws are discarded."""
    works = getattr(where, method)
    for each in asking:
        calls = [0]

        def failing(*asked: Any, calls: list[int] = calls) -> Any:
            calls[0] += 1
            if calls[0] == number:
                raise error
            return works(*asked)

        before, _ = breakable.table.service.footprint()
        with breakable.patch.context() as patch:
            patch.setattr(where, method, failing)
            refused(each.again())
        assert calls == [number]
        assert breakable.table.service.footprint()[0] == before
        each.assert_nothing_is_paid()
        each.assert_paid_once()


@pytest.mark.parametrize("done", [False, True], ids=["not done", "done"])
def test_the_nth_statement_fails(breakable: Breakable, asking: list[Asking], *, done: bool) -> None:
    """Every third of them, in the midst of the items too."""
    for each in asking:
        for number in range(1, 200, 3):
            with breakable.failing_statement(number, done=done) as count:
                answer = each.again()
            if count[0] < number:
                assert answer.status_code == 201
                assert number > (15 if breakable.on_sqlite else 10)  # Postgres gets several changes in one statement
                break
            refused(answer)
            each.assert_nothing_is_paid()
        each.assert_paid_once()


@pytest.mark.parametrize("done", [False, True], ids=["not done", "done"])
def test_a_commit_that_fails(breakable: Breakable, asking: list[Asking], *, done: bool) -> None:
    """All or none, whatever became of the commit."""
    for each in asking:
        with breakable.failing_commit(done=done):
            refused(each.again())
        if not done:
            each.assert_nothing_is_paid()
        each.assert_paid_once()


@pytest.mark.parametrize(
    ("database_url", "trouble"), [("sqlite", busy), ("postgres", busy), ("postgres", away)], indirect=["database_url"]
)
def test_the_database_is_away(
    breakable: Breakable, asking: list[Asking], trouble: Callable[[Breakable], AbstractContextManager[None]]
) -> None:
    with trouble(breakable):
        for each in asking:
            refused(each.again())
    for each in asking:
        each.assert_nothing_is_paid()
        each.assert_paid_once()
