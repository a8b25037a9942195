"""Bulkheads limit how many long tasks run at once, so that other requests always have threads and memory."""

import gc
import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import pyarrow as pa

from app.db.database import Database
from app.errors import OverloadedError

MAX_WAITING_SECONDS = 30


class Bulkhead:
    """Lets a few calls work at once and a few more wait, and refuses the rest.

    One caller can take at most half of the places, rounded up, so it cannot block everybody else.

    Args:
        max_working: how many calls may work at once.
        max_waiting: how many more calls may wait. Each waiting call holds a thread.
    """

    def __init__(self, max_working: int, max_waiting: int) -> None:
        self._max_places = max_working + max_waiting
        self._places: Counter[Hashable] = Counter()
        self._mutex = threading.Lock()
        self._working = threading.BoundedSemaphore(max_working)

    @contextmanager
    def enter(self, caller: Hashable) -> Iterator[None]:
        """Run the body of the `with` statement once a place is free.

        Args:
            caller: who takes the place; each caller's places are counted.

        Raises:
            OverloadedError: all places are taken, the caller has its share already, or it waited too long.
        """
        self._take_place(caller)
        try:
            if not self._working.acquire(timeout=MAX_WAITING_SECONDS):
                raise OverloadedError
            try:
                yield
            finally:
                self._working.release()
        finally:
            self._give_place_back(caller)

    def _take_place(self, caller: Hashable) -> None:
        with self._mutex:
            if self._places.total() >= self._max_places or self._places[caller] >= (self._max_places + 1) // 2:
                raise OverloadedError
            self._places[caller] += 1

    def _give_place_back(self, caller: Hashable) -> None:
        with self._mutex:
            self._places[caller] -= 1
            if not self._places[caller]:
                del self._places[caller]


LARGE_ANSWERS = Bulkhead(max_working=1, max_waiting=6)
"""An answer with a million bins takes seconds of CPU time, and some hundred MiB while it is drawn."""

LARGE_BATCHES = Bulkhead(max_working=1, max_waiting=2)
"""A batch of a thousand items takes seconds of CPU time."""

LONG_PLANS = Bulkhead(max_working=1, max_waiting=6)
"""To find an ε for an accuracy, or its division at guesses, can take seconds of CPU time."""

PICTURES = Bulkhead(max_working=1, max_waiting=11)
"""A figure's PNG takes 0.2 s of CPU time. One caller has six places: a browser has as many connections."""

LARGE_COMPONENTS = 20_000
"""An answer with at least this many numbers is large."""

LARGE_ITEMS = 100
"""A batch with at least this many items is large."""


def enter_if_large(database: Database, components: int, caller: Hashable) -> AbstractContextManager[None]:
    """Return a context manager that enters `LARGE_ANSWERS` if the answer is large, and does nothing otherwise.

    Args:
        database: the database; other requests' commits go before the large answer.
        components: how many numbers the answer has.
        caller: who takes the place.

    Raises:
        OverloadedError: as `Bulkhead.enter`.
    """
    return _enter_large(database, caller) if components >= LARGE_COMPONENTS else nullcontext()


def enter_if_many(database: Database, items: int, caller: Hashable) -> AbstractContextManager[None]:
    """Return a context manager that enters `LARGE_BATCHES` if the batch is large, and does nothing otherwise.

    Args:
        database: the database; other requests' commits go before the large batch.
        items: how many items the batch has.
        caller: who takes the place.

    Raises:
        OverloadedError: as `Bulkhead.enter`.
    """
    return _enter(database, LARGE_BATCHES, caller) if items >= LARGE_ITEMS else nullcontext()


def enter_long_plan(database: Database, caller: Hashable) -> AbstractContextManager[None]:
    """Return a context manager that enters `LONG_PLANS`.

    Args:
        database: the database; other requests' commits go before the plan.
        caller: who takes the place.

    Raises:
        OverloadedError: as `Bulkhead.enter`.
    """
    return _enter(database, LONG_PLANS, caller)


@contextmanager
def _enter(database: Database, bulkhead: Bulkhead, caller: Hashable) -> Iterator[None]:
    """Enter a bulkhead, but first let other requests' commits go on, so that none waits for this work."""
    database.pause()
    with bulkhead.enter(caller):
        yield


@contextmanager
def _enter_large(database: Database, caller: Hashable) -> Iterator[None]:
    """Enter `LARGE_ANSWERS`, and give back memory before the next answer: reference cycles, and Arrow's free pages.

    The garbage collector runs rarely (`app.main`), so a cycle could hold an answer's arrays for a long time.
    """
    with _enter(database, LARGE_ANSWERS, caller):
        try:
            yield
        finally:
            gc.collect()
            pa.default_memory_pool().release_unused()
