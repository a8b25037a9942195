"""The rate limit of each principal."""

import logging
import math
import time
from collections.abc import Iterable
from typing import Any, Final

import limits
from limits import RateLimitItem
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.concurrency import run_in_threadpool

from app.api.middleware.call_counter import CallCounter
from app.errors import RateLimitedError

OFF: Final = "off"
_AWAY_SECONDS: Final = 5  # how long a shared storage that failed is not tried again
_REDIS_OPTIONS: Final = {"socket_timeout": 1, "socket_connect_timeout": 1}

log = logging.getLogger("snapledger.rates")


class RateLimit:
    """The limits of each principal, counted in the process or in a storage that all processes share.

    If a shared storage does not respond, each process counts for itself: the limit is then too high for some seconds,
    but the service keeps working. No privacy budget depends on this limit.

    Args:
        rate: such as `600/minute`; several are separated by `;`, and `off` means no limit.
        storage: the URL of the counters, as the limits library defines it: `memory://`, `redis://…`.
    """

    def __init__(self, rate: str, storage: str) -> None:
        self._limits = [] if rate == OFF else limits.parse_many(rate)
        self._alone = [CallCounter(limit).count for limit in self._limits]
        self._shared = _open_shared_limiter(storage)
        self._away_until = -math.inf

    async def count(self, principal: str) -> None:
        """Count a request.

        Raises:
            RateLimitedError: the principal has reached a limit.
        """
        if not self._limits:
            return
        is_counted = False
        if self._shared is not None and time.monotonic() >= self._away_until:
            is_counted = await run_in_threadpool(self._is_counted_by, self._shared, principal)
        if not is_counted:  # always on the event loop, so the counter needs no lock
            _require_room(count(principal) for count in self._alone)

    def _is_counted_by(self, shared: SlidingWindowCounterRateLimiter, principal: str) -> bool:
        """Count a request in the shared storage; return False if the storage does not respond."""
        try:
            _require_room(_count_in(shared, limit, principal) for limit in self._limits)
        except RateLimitedError:
            raise
        except Exception as error:  # noqa: BLE001 - each storage's library has its own errors
            self._away_until = time.monotonic() + _AWAY_SECONDS
            log.warning("the shared rate-limit storage does not answer: %s", type(error).__name__)
            return False
        return True


def _require_room(waits: Iterable[float | None]) -> None:
    for wait_seconds in waits:
        if wait_seconds is not None:
            raise RateLimitedError(max(1, math.ceil(wait_seconds)))


def _count_in(shared: SlidingWindowCounterRateLimiter, limit: RateLimitItem, principal: str) -> float | None:
    """Count a request in the shared storage, with the result of `CallCounter.count`."""
    if shared.hit(limit, principal):
        return None
    reset_at, _ = shared.get_window_stats(limit, principal)
    return float(reset_at - time.time())


def _open_shared_limiter(storage: str) -> SlidingWindowCounterRateLimiter | None:
    """Return a limiter for a shared storage; None if each process counts in its own memory.

    Raises:
        ValueError: there is no such storage, or its client is not installed. The text does not repeat the URL.
    """
    options: dict[str, Any] = _REDIS_OPTIONS if storage.startswith(("redis", "valkey")) else {}
    try:
        opened = storage_from_string(storage, **options)
    except limits.errors.ConfigurationError:
        raise ValueError("SNAPLEDGER_RATE_LIMIT_STORAGE is not the URL of a usable storage") from None
    return None if isinstance(opened, MemoryStorage) else SlidingWindowCounterRateLimiter(opened)
