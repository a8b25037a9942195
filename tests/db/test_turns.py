import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from service_world import becomes

from app.db import fifo_lock
from app.db.connection_limits import Limits
from app.db.database import Database
from app.db.dialects.sqlite import Sqlite
from app.db.fifo_lock import FifoLock


@pytest.fixture
def turns() -> Iterator[FifoLock]:
    turns = FifoLock()
    yield turns
    assert turns.take(0)  # whatever happened, it is free in the end
    turns.pass_on()
    assert turns.take(0)


def test_a_free_turn_is_taken_at_once_and_only_once(turns: FifoLock) -> None:
    assert turns.take(0)
    assert not turns.take(0.01)
    turns.pass_on()


def test_who_gave_up_is_passed_over(turns: FifoLock, monkeypatch: pytest.MonkeyPatch) -> None:
    gives_up = threading.Event()

    class GivingUp:
        """A lock whose wait ends when the test says so."""

        def acquire(self, timeout: float = -1) -> bool:
            return timeout < 0 or not gives_up.wait(60)

        def release(self) -> None: ...

    assert turns.take(0)
    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(fifo_lock, "threading", SimpleNamespace(Lock=GivingUp))
        impatient = pool.submit(turns.take, 10)
        assert becomes(lambda: len(turns._waiting) == 1)
        monkeypatch.setattr(fifo_lock, "threading", threading)
        patient = pool.submit(turns.take, 60)
        assert becomes(lambda: len(turns._waiting) == 2)
        gives_up.set()
        assert not impatient.result()
        turns.pass_on()
        assert patient.result()
    turns.pass_on()


def test_a_turn_that_comes_at_the_last_instant_is_taken(turns: FifoLock, monkeypatch: pytest.MonkeyPatch) -> None:
    class TooLate:
        """A lock that is handed over in the instant after its wait has ended."""

        def acquire(self, timeout: float = -1) -> bool:
            if timeout < 0:
                return True
            turns.pass_on()
            return False

        def release(self) -> None: ...

    assert turns.take(0)
    monkeypatch.setattr(fifo_lock, "threading", SimpleNamespace(Lock=TooLate))
    assert turns.take(0)
    turns.pass_on()


def test_writers_are_served_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    """Under load a pool of one connection serves the same thread again and again, until the others are refused."""
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3", Limits(queue_seconds=60))
    assert isinstance(database._home, Sqlite)
    waiting = database._home._turns._waiting
    served = []

    def write(number: int) -> None:
        with database.write():
            served.append(number)

    with ThreadPoolExecutor(6) as pool, database.write():
        for number in range(6):
            pool.submit(write, number)
            assert becomes(lambda number=number: len(waiting) == number + 1)
    assert served == list(range(6))
    database.close()
