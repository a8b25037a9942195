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
def lock() -> Iterator[FifoLock]:
    lock = FifoLock()
    yield lock
    assert lock.acquire(0)  # whatever happened, it is free in the end
    lock.release()
    assert lock.acquire(0)


def test_a_free_lock_is_acquired_at_once_and_only_once(lock: FifoLock) -> None:
    assert lock.acquire(0)
    assert not lock.acquire(0.01)
    lock.release()


def test_who_gave_up_is_passed_over(lock: FifoLock, monkeypatch: pytest.MonkeyPatch) -> None:
    gives_up = threading.Event()

    class GivingUp:
        """A lock whose wait ends when the test says so."""

        def acquire(self, timeout: float = -1) -> bool:
            return timeout < 0 or not gives_up.wait(60)

        def release(self) -> None: ...

    assert lock.acquire(0)
    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(fifo_lock, "threading", SimpleNamespace(Lock=GivingUp))
        impatient = pool.submit(lock.acquire, 10)
        assert becomes(lambda: len(lock._waiting) == 1)
        monkeypatch.setattr(fifo_lock, "threading", threading)
        patient = pool.submit(lock.acquire, 60)
        assert becomes(lambda: len(lock._waiting) == 2)
        gives_up.set()
        assert not impatient.result()
        lock.release()
        assert patient.result()
    lock.release()


def test_a_lock_that_is_handed_over_at_the_last_instant_is_acquired(
    lock: FifoLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TooLate:
        """A lock that is handed over in the instant after its wait has ended."""

        def acquire(self, timeout: float = -1) -> bool:
            if timeout < 0:
                return True
            lock.release()
            return False

        def release(self) -> None: ...

    assert lock.acquire(0)
    monkeypatch.setattr(fifo_lock, "threading", SimpleNamespace(Lock=TooLate))
    assert lock.acquire(0)
    lock.release()


def test_writers_are_served_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    """Under load a pool of one connection serves the same thread again and again, until the others are refused."""
    database = Database(f"sqlite:///{tmp_path}/ledger.sqlite3", Limits(queue_seconds=60))
    assert isinstance(database._home, Sqlite)
    waiting = database._home._write_lock._waiting
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
