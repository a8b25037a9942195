"""Open uploads: those that are being received, are waiting, or are being checked."""

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
    """Limits the number of open uploads in this process; used only on the event loop.

    Uploads have threads of their own, because they may wait long and must not block other requests.

    Args:
        max_open: the limit for all owners together; one owner may have half of it.
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
            OverloadedError: too many uploads are open, in total or from this owner.
        """
        if self._open.total() >= self._max_open or self._open[owner] >= self._max_for_one:
            raise OverloadedError
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open -= Counter({owner: 1})

    async def run(self, request: Request, call: Callable[[Callable[[], bool]], Result]) -> Result:
        """Run `call` in a thread and return its result.

        Args:
            request: whose body was read completely.
            call: its argument is a function that returns whether the client has disconnected.

        Raises:
            ClientDisconnect: the client disconnected, and the call stopped because of that.
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
            has_left.set()  # so that the thread stops if this task was cancelled
            watcher.cancel()


async def _set_when_left(request: Request, has_left: threading.Event) -> None:
    """Set the event when the client has disconnected. The body was read, so no other message arrives."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    has_left.set()
