"""Bulkheads around work that is long: however much of it is asked for, the other calls have threads and memory."""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from app.db.engine import Database
from app.errors import OverloadedError

MAX_WAITING_SECONDS = 30


class Bulkhead:
    """Lets a few calls work at once and a few more wait, and refuses the rest.

    One caller has at most half of the places, rounded up: it cannot keep everybody else out.

    Args:
        max_working: how many work at once.
        max_waiting: how many more wait for them. Each holds a thread.
    """

    def __init__(self, max_working: int, max_waiting: int) -> None:
        self._max_places = max_working + max_waiting
        self._places: Counter[Hashable] = Counter()
        self._mutex = threading.Lock()
        self._working = threading.BoundedSemaphore(max_working)

    @contextmanager
    def enter(self, caller: Hashable) -> Iterator[None]:
        """Work within.

        Raises:
            OverloadedError: as many wait as may, or it waited too long.
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
"""One of a million bins takes seconds of a processor, and some hundred MiB while it is drawn."""

LARGE_BATCHES = Bulkhead(max_working=1, max_waiting=2)
"""One of a thousand items takes seconds of a processor."""

LARGE_COMPONENTS = 20_000
"""From how many numbers on an answer is large."""

LARGE_ITEMS = 100
"""From how many items on a batch is large."""


def enter_if_large(database: Database, components: int, caller: Hashable) -> AbstractContextManager[None]:
    """Work within `LARGE_ANSWERS` where an answer has so many numbers that it is large.

    Raises:
        OverloadedError: as `Bulkhead.enter`.
    """
    return _enter(database, LARGE_ANSWERS, caller) if components >= LARGE_COMPONENTS else nullcontext()


def enter_if_many(database: Database, items: int, caller: Hashable) -> AbstractContextManager[None]:
    """Work within `LARGE_BATCHES` where a batch has so many items that it is large.

    Raises:
        OverloadedError: as `Bulkhead.enter`.
    """
    return _enter(database, LARGE_BATCHES, caller) if items >= LARGE_ITEMS else nullcontext()


@contextmanager
def _enter(database: Database, bulkhead: Bulkhead, caller: Hashable) -> Iterator[None]:
    """Work within a bulkhead, for which no commit of others waits."""
    database.pause()
    with bulkhead.enter(caller):
        yield
