"""Counts requests in the memory of this process, with the sliding window counter of the limits library.

The library's own memory storage starts a timer thread at almost every count, which took 5 % of a release's time.
"""

import time
from typing import Final, NamedTuple

from cachetools import LRUCache
from limits import RateLimitItem

MAX_COUNTED: Final = 100_000
"""The number of principals; beyond it, those that called least recently start again from zero."""


class Usage(NamedTuple):
    """Whether a request is allowed, how many more are now, and the seconds until one more than that is."""

    is_allowed: bool
    remaining: int
    seconds: float


class CallCounter:
    """The requests of each principal under one limit, in the current window and in the previous one.

    The window slides: the previous window counts in proportion to its overlap with the last `limit.get_expiry()`
    seconds.
    """

    def __init__(self, limit: RateLimitItem) -> None:
        self._seconds, self._amount = limit.get_expiry(), limit.amount
        self._counts: LRUCache[str, tuple[int, int, int]] = LRUCache(MAX_COUNTED)

    def count(self, principal: str) -> Usage:
        """Count a request, if the limit allows it."""
        window, passed = divmod(time.time(), self._seconds)
        known, before, present = self._counts.get(principal, (0, 0, 0))
        if known != window:
            before, present = (present if known == window - 1 else 0), 0
        used = before * (1 - passed / self._seconds) + present + 1
        if is_allowed := used <= self._amount:
            present += 1
            self._counts[principal] = int(window), before, present
            remaining = int(self._amount - used)
        else:
            remaining = 0
        return Usage(is_allowed, remaining, self._seconds_until_more(remaining, before, present, passed))

    def _seconds_until_more(self, remaining: int, before: int, present: int, passed: float) -> float:
        """Return the seconds until `remaining` + 1 requests are allowed, if none is sent meanwhile."""
        seconds, most_used = self._seconds, self._amount - remaining - 1
        room = most_used - present
        if room >= 0 and before:  # enough of the previous window slides out before the current one ends
            return max(0.0, seconds * (1 - room / before) - passed)
        return seconds - passed + seconds * (1 - most_used / present)
