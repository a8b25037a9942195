"""Long work is done a little at a time, and no caller keeps the others out of it."""

import json
import threading
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.errors import OverloadedError
from app.services.planning.derived_accuracy import Target
from app.services.releasing import bulkhead, derived
from app.services.releasing.bulkhead import Bulkhead
from app.services.releasing.derived import DerivedQuestion


class Workers:
    """Threads that are inside, or wait to be, until they are told to leave."""

    def __init__(self, room: Bulkhead) -> None:
        self.room, self.leave, self.threads = room, threading.Event(), list[threading.Thread]()
        self.inside, self.refused = threading.Semaphore(0), threading.Semaphore(0)

    def send(self, caller: str) -> None:
        self.threads.append(threading.Thread(target=self._work, args=(caller,)))
        self.threads[-1].start()

    def _work(self, caller: str) -> None:
        try:
            with self.room.enter(caller):
                self.inside.release()
                self.leave.wait(60)
        except OverloadedError:
            self.refused.release()

    def end(self) -> None:
        self.leave.set()
        for thread in self.threads:
            thread.join(60)


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(6_000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


def test_one_caller_has_half_of_the_places() -> None:
    room = Bulkhead(max_working=1, max_waiting=6)
    workers = Workers(room)
    try:
        for _ in range(4):
            workers.send("one")
        _until(lambda: room._places["one"] == 4)
        with pytest.raises(OverloadedError), room.enter("one"):
            pass
        for _ in range(3):
            workers.send("other")
        _until(lambda: room._places["other"] == 3)
        with pytest.raises(OverloadedError), room.enter("third"):
            pass
    finally:
        workers.end()
    assert not room._places
    with room.enter("third"):
        pass


def test_who_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulkhead, "MAX_WAITING_SECONDS", 0.05)
    room = Bulkhead(max_working=1, max_waiting=2)
    workers = Workers(room)
    try:
        workers.send("one")
        assert workers.inside.acquire(timeout=60)
        workers.send("other")
        assert workers.refused.acquire(timeout=60)
        assert room._places == {"one": 1}
    finally:
        workers.end()


@pytest.mark.parametrize(
    ("target", "is_long"),
    [
        (Target(None, mpq(1), None, {"mean": mpq(5), "count": mpq(500)}), True),
        (Target(10**9, None, None, {"mean": mpq(5), "count": mpq(500)}), True),
        (Target(10**9, None, None, {}), False),
    ],
)
def test_a_search_for_epsilon_takes_a_place(monkeypatch: pytest.MonkeyPatch, target: Target, is_long: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr(bulkhead, "LONG_PLANS", Bulkhead(max_working=0, max_waiting=0))
    columns = json.dumps({"x": {"kind": "integer", "bounds": ["0", "10"], "nullable": False}})
    facts: dict[str, Any] = dict.fromkeys(Dataset._fields)
    dataset = Dataset(**facts | {"name": "d", "columns": columns, "n": 1_000, "rows_per_unit": 1})
    services: Any = SimpleNamespace(
        settings=SimpleNamespace(max_epsilon_nano=10**12), database=SimpleNamespace(pause=lambda: None)
    )
    access: Any = SimpleNamespace(dataset=dataset, principal=SimpleNamespace(id=1))
    statistic = {"kind": "mean", "column": "x", "where": {"x": {"between": [mpq(0), mpq(5)]}}}
    question = DerivedQuestion(statistic, target, mpq(1, 20), mpq(1, 20), "auto", reuse=True)
    with pytest.raises(OverloadedError) if is_long else nullcontext():
        derived._plan_derived(services, access, question)
