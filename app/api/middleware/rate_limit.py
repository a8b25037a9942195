"""The rate limit of each principal."""

import logging
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import limits
from limits import RateLimitItem
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.concurrency import run_in_threadpool

from app.api.middleware.call_counter import CallCounter, Usage

OFF: Final = "off"
_AWAY_SECONDS: Final = 5  # how long a shared storage that failed is not tried again
_REDIS_OPTIONS: Final = {"socket_timeout": 1, "socket_connect_timeout": 1}

log = logging.getLogger("snapledger.rates")


class Verdict(NamedTuple):
    """The headers of the response about the limits, and the seconds to wait if the request is refused."""

    headers: Sequence[tuple[bytes, bytes]] = ()
    wait_seconds: int | None = None


class RateLimit:
    """The limits of each principal, counted in the process or in a storage that all processes share.

    If a shared storage does not respond, each process counts for itself: the limit is then too high for some seconds,
    but the service keeps working. No privacy budget depends on this limit.

    The headers are those of draft-ietf-httpapi-ratelimit-headers-11.

    Args:
        rate: such as `600/minute`; several are separated by `;`, and `off` means no limit.
        storage: the URL of the counters, as the limits library defines it: `memory://`, `redis://…`.
    """

    def __init__(self, rate: str, storage: str) -> None:
        self._limits = [] if rate == OFF else limits.parse_many(rate)
        self._alone = [CallCounter(limit).count for limit in self._limits]
        self._shared = _open_shared_limiter(storage)
        self._away_until = -math.inf
        self._forms = [f'"{_name(limit)}";r=%d;t=%d'.encode() for limit in self._limits]
        policies = [f'"{_name(limit)}";q={limit.amount};w={limit.get_expiry()}' for limit in self._limits]
        self._policy = (b"ratelimit-policy", ", ".join(policies).encode())

    async def count(self, principal: str) -> Verdict:
        """Count a request, unless the principal has reached a limit."""
        if not self._limits:
            return Verdict()
        usages = None
        if self._shared is not None and time.monotonic() >= self._away_until:
            usages = await run_in_threadpool(self._count_in, self._shared, principal)
        if usages is None:  # always on the event loop, so the counter needs no lock
            usages = _up_to_a_refusal(self._alone, principal)
        told, wait_seconds = b"", None
        for form, (is_allowed, remaining, seconds) in zip(self._forms, usages, strict=False):
            until = max(1, math.ceil(seconds))
            told += (b", " if told else b"") + form % (remaining, until)
            if not is_allowed:
                wait_seconds = until
        return Verdict((self._policy, (b"ratelimit", told)), wait_seconds)

    def _count_in(self, shared: SlidingWindowCounterRateLimiter, principal: str) -> list[Usage] | None:
        """Count a request in the shared storage; return None if the storage does not respond."""
        try:
            return _up_to_a_refusal([partial(_count_in, shared, limit) for limit in self._limits], principal)
        except Exception as error:  # noqa: BLE001 - each storage's library has its own errors
            self._away_until = time.monotonic() + _AWAY_SECONDS
            log.warning("the shared rate-limit storage does not answer: %s", type(error).__name__)
            return None


def _up_to_a_refusal(counts: Sequence[Callable[[str], Usage]], principal: str) -> list[Usage]:
    """Count a request in each limit up to the first that refuses it, so that it does not count in those after it."""
    usages = []
    for count in counts:
        usage = count(principal)
        usages.append(usage)
        if not usage.is_allowed:
            break
    return usages


def _name(limit: RateLimitItem) -> str:
    """Return the name of a limit in the headers: `600-per-minute`."""
    times = "" if limit.multiples == 1 else f"{limit.multiples}-"
    return f"{limit.amount}-per-{times}{limit.GRANULARITY.name}"


def _count_in(shared: SlidingWindowCounterRateLimiter, limit: RateLimitItem, principal: str) -> Usage:
    """Count a request in the shared storage, with the result of `CallCounter.count`."""
    is_allowed = shared.hit(limit, principal)
    more_at, remaining = shared.get_window_stats(limit, principal)
    return Usage(is_allowed, remaining if is_allowed else 0, more_at - time.time())


def _open_shared_limiter(storage: str) -> SlidingWindowCounterRateLimiter | None:
    """Return a limiter for a shared storage; None if each process counts in its own memory.

    Raises:
        ValueError: there is no such storage, or its client is not installed. The text does not repeat the URL.
    """
    options: dict[str, Any] = _REDIS_OPTIONS if storage.startswith(("redis", "valkey")) else {}
    if storage.startswith("redis") and find_spec("redis") is None:
        raise ValueError(
            "SNAPLEDGER_RATE_LIMIT_STORAGE names Redis, whose client is not installed: pip install 'snapledger[redis]'"
        )
    try:
        opened = storage_from_string(storage, **options)
    except limits.errors.ConfigurationError:
        raise ValueError("SNAPLEDGER_RATE_LIMIT_STORAGE is not the URL of a usable storage") from None
    return None if isinstance(opened, MemoryStorage) else SlidingWindowCounterRateLimiter(opened)
