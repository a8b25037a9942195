"""More callers at once than connections: they wait for a thread, and nobody who has one waits for a connection."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from faulty_world import MEAN, Breakable

from app.db.connection_limits import REQUEST_THREADS, Limits
from app.db.engine import Database
from app.db.session import ReadSession

WORKERS, MAX_CONNECTIONS, OF_SUPERUSERS = 4, 100, 3  # the last two: what a Postgres server has by default


def test_no_thread_waits_for_a_connection(breakable: Breakable) -> None:
    read = Database.read
    callers = 2 * Limits().connections

    @contextmanager
    def slow(database: Database) -> Iterator[ReadSession]:
        with read(database) as session:
            time.sleep(0.4)  # longer than the queue before the connections may last in this service
            yield session

    with breakable.patch.context() as patch, ThreadPoolExecutor(callers) as pool:
        patch.setattr(Database, "read", slow)
        plans = list(pool.map(lambda _: breakable.table.plan(MEAN, epsilon="0.1"), range(callers)))
    assert [plan.status_code for plan in plans] == [200] * callers


def test_four_workers_leave_connections_to_the_operator() -> None:
    assert Limits().connections > REQUEST_THREADS
    assert WORKERS * Limits().connections < MAX_CONNECTIONS - OF_SUPERUSERS
