"""A bulkhead around work on large answers: however many are asked for, the other calls have threads and memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.db.engine import Database
from app.errors import OverloadedError


class Bulkhead:
    """Lets a few calls work at once and a few more wait, and refuses the rest.

    Args:
        max_working: how many work at once.
        max_waiting: how many more wait for them. Each holds a thread.
    """

    def __init__(self, max_working: int, max_waiting: int) -> None:
        self._places = threading.BoundedSemaphore(max_working + max_waiting)
        self._working = threading.BoundedSemaphore(max_working)

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Work within.

        Raises:
            OverloadedError: as many wait as may.
        """
        if not self._places.acquire(blocking=False):
            raise OverloadedError
        try:
            with self._working:
                yield
        finally:
            self._places.release()


LARGE_ANSWERS = Bulkhead(max_working=1, max_waiting=6)
"""One of a million bins takes seconds of a processor, and some hundred MiB while it is drawn."""

LARGE_COMPONENTS = 20_000
"""From how many numbers on an answer is large."""


@contextmanager
def enter_if_large(database: Database, components: int) -> Iterator[None]:
    """Work within `LARGE_ANSWERS` where an answer has so many numbers that it is large.

    Raises:
        OverloadedError: as many wait as may.
    """
    if components < LARGE_COMPONENTS:
        yield
        return
    database.pause()
    with LARGE_ANSWERS.enter():
        yield
