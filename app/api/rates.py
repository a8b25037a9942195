"""How often a principal may call."""

import math
import time
from typing import Final

import limits
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.concurrency import run_in_threadpool

from app.errors import RateLimitedError

OFF: Final = "off"


class RateLimit:
    """The limits of each principal, counted in the process or in a storage that all processes share.

    Args:
        rate: as `600/minute`, several with `;` between them, or `off`.
        storage: where it is counted, as the limits library has it: `memory://`, `redis://…`.
    """

    def __init__(self, rate: str, storage: str) -> None:
        self._limits = [] if rate == OFF else limits.parse_many(rate)
        self._storage = storage_from_string(storage)
        self._limiter = SlidingWindowCounterRateLimiter(self._storage)

    async def count(self, principal: str) -> None:
        """Count a call.

        Raises:
            RateLimitedError: it is one too many.
        """
        if isinstance(self._storage, MemoryStorage):
            self._count(principal)
        elif self._limits:
            await run_in_threadpool(self._count, principal)

    def _count(self, principal: str) -> None:
        for limit in self._limits:
            if not self._limiter.hit(limit, principal):
                reset_at, _ = self._limiter.get_window_stats(limit, principal)
                raise RateLimitedError(max(1, math.ceil(reset_at - time.time())))
