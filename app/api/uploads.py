"""Uploads that are open: being received, waiting for their turn, or being read."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request

from app.errors import OverloadedError, UnavailableError

Result = TypeVar("Result")


class OpenUploads:
    """Bounds how many uploads are open in this process; used on the event loop alone.

    They have threads of their own, since they may wait long: threads that answer other calls never wait with them.

    Args:
        max_open: in all. One owner may have half of them.
    """

    def __init__(self, max_open: int) -> None:
        self._max_open = max_open
        self._max_for_one = max(1, max_open // 2)
        self._open: Counter[str] = Counter()
        self._threads = CapacityLimiter(max_open)

    @contextmanager
    def open_for(self, owner: str) -> Iterator[None]:
        """Count an upload of this owner during the block.

        Raises:
            OverloadedError: there are too many, or too many of this owner.
        """
        if self._open.total() >= self._max_open or self._open[owner] >= self._max_for_one:
            raise OverloadedError
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open -= Counter({owner: 1})

    async def run(self, request: Request, call: Callable[[Callable[[], bool]], Result]) -> Result:
        """What the call returns, in a thread; it is given a function that says whether the client has hung up.

        Raises:
            ClientDisconnect: the client hung up, and the call ended for it.
        """
        has_left = threading.Event()
        watcher = asyncio.create_task(_set_when_left(request, has_left))
        try:
            return await to_thread.run_sync(call, has_left.is_set, limiter=self._threads)
        except UnavailableError:
            if has_left.is_set():
                raise ClientDisconnect from None
            raise
        finally:
            has_left.set()  # so that the thread ends where this task was cancelled
            watcher.cancel()


async def _set_when_left(request: Request, has_left: threading.Event) -> None:
    """Set the event when the client has hung up. The body was read, so that nothing else is received."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    has_left.set()
