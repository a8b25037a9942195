"""How often a principal may call."""

import logging
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import limits
from limits import RateLimitItem
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.concurrency import run_in_threadpool

from app.api.middleware.call_counter import CallCounter
from app.errors import RateLimitedError

OFF: Final = "off"
_AWAY_SECONDS: Final = 5  # for which a shared storage that failed is not asked again
_REDIS_OPTIONS: Final = {"socket_timeout": 1, "socket_connect_timeout": 1}

log = logging.getLogger("snapledger.rates")


class RateLimit:
    """The limits of each principal, counted in the process or in a storage that all processes share.

    While a shared storage is away each process counts for itself: a limit that is too wide for some seconds, rather
    than a service that answers nobody. No budget depends on it.

    Args:
        rate: as `600/minute`, several with `;` between them, or `off`.
        storage: where it is counted, as the limits library has it: `memory://`, `redis://…`.
    """

    def __init__(self, rate: str, storage: str) -> None:
        self._limits = [] if rate == OFF else limits.parse_many(rate)
        self._alone = CallCounter()
        self._shared = _open_shared_limiter(storage)
        self._away_until = -math.inf

    async def count(self, principal: str) -> None:
        """Count a call.

        Raises:
            RateLimitedError: it is one too many.
        """
        if not self._limits:
            return
        is_counted = False
        if self._shared is not None and time.monotonic() >= self._away_until:
            is_counted = await run_in_threadpool(self._is_counted_by, self._shared, principal)
        if not is_counted:  # always in the event loop, which is one thread
            self._count(self._alone.count, principal)

    def _is_counted_by(self, shared: SlidingWindowCounterRateLimiter, principal: str) -> bool:
        """Count a call in the shared storage; False where that does not answer."""
        try:
            self._count(partial(_count_in, shared), principal)
        except RateLimitedError:
            raise
        except Exception as error:  # noqa: BLE001 - of whatever client library the storage has
            self._away_until = time.monotonic() + _AWAY_SECONDS
            log.warning("the shared rate-limit storage does not answer: %s", type(error).__name__)
            return False
        return True

    def _count(self, count: Callable[[RateLimitItem, str], float | None], principal: str) -> None:
        for limit in self._limits:
            if (wait_seconds := count(limit, principal)) is not None:
                raise RateLimitedError(max(1, math.ceil(wait_seconds)))


def _count_in(shared: SlidingWindowCounterRateLimiter, limit: RateLimitItem, principal: str) -> float | None:
    """As `CallCounter.count`."""
    if shared.hit(limit, principal):
        return None
    reset_at, _ = shared.get_window_stats(limit, principal)
    return float(reset_at - time.time())


def _open_shared_limiter(storage: str) -> SlidingWindowCounterRateLimiter | None:
    """A limiter on a storage that processes share; None for the memory of each.

    Raises:
        ValueError: there is no such storage, or its client is not installed. The text does not repeat the URL.
    """
    options: dict[str, Any] = _REDIS_OPTIONS if storage.startswith(("redis", "valkey")) else {}
    try:
        opened = storage_from_string(storage, **options)
    except limits.errors.ConfigurationError:
        raise ValueError("SNAPLEDGER_RATE_LIMIT_STORAGE is not the URL of a usable storage") from None
    return None if isinstance(opened, MemoryStorage) else SlidingWindowCounterRateLimiter(opened)
