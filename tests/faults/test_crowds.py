"""More callers at once than connections: they wait for a thread, and nobody who has one waits for a connection."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from faulty_world import MEAN, Breakable

from app.db.connection_limits import REQUEST_THREADS, Limits
from app.db.database import Database
from app.db.session import ReadSession

pytestmark = pytest.mark.slow

WORKERS, MAX_CONNECTIONS, OF_SUPERUSERS = 4, 100, 3  # the last two: what a Postgres server has by default


def test_no_thread_waits_for_a_connection(breakable: Breakable) -> None:
    read, callers = Database.read_without_transaction, 2 * Limits().connections
    inside: list[str] = []
    most = [0]

    @contextmanager
    def counted(database: Database) -> Iterator[ReadSession]:
        inside.append(threading.current_thread().name)
        most[0] = max(most[0], inside.count("worker"))  # not the threads that authenticate
        try:
            with read(database) as session:
                time.sleep(0.02)  # so that others come meanwhile
                yield session
        finally:
            inside.remove(threading.current_thread().name)

    with breakable.patch.context() as patch, ThreadPoolExecutor(callers) as pool:
        patch.setattr(Database, "read_without_transaction", counted)
        plans = list(pool.map(lambda _: breakable.table.plan(MEAN, epsilon="0.1"), range(callers)))
    assert [plan.status_code for plan in plans] == [200] * callers
    assert 0 < most[0] <= REQUEST_THREADS < Limits().connections


def test_four_workers_leave_connections_to_the_operator() -> None:
    assert Limits().connections > REQUEST_THREADS
    assert WORKERS * Limits().connections < MAX_CONNECTIONS - OF_SUPERUSERS
