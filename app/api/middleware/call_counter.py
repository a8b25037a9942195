"""Counts requests in the memory of this process, with the sliding window counter of the limits library.

The library's own memory storage starts a timer thread at almost every count, which took 5 % of a release's time.
"""

import time
from typing import Final

from cachetools import LRUCache
from limits import RateLimitItem

MAX_COUNTED: Final = 100_000
"""The number of principals; beyond it, those that called least recently start again from zero."""


class CallCounter:
    """The requests of each principal under one limit, in the current window and in the previous one.

    The window slides: the previous window counts in proportion to its overlap with the last `limit.get_expiry()`
    seconds.
    """

    def __init__(self, limit: RateLimitItem) -> None:
        self._seconds, self._amount = limit.get_expiry(), limit.amount
        self._counts: LRUCache[str, tuple[int, int, int]] = LRUCache(MAX_COUNTED)

    def count(self, principal: str) -> float | None:
        """Count a request and return None if the limit allows it; otherwise return the seconds to wait."""
        window, passed = divmod(time.time(), self._seconds)
        known, before, present = self._counts.get(principal, (0, 0, 0))
        if known != window:
            before, present = (present if known == window - 1 else 0), 0
        if before * (1 - passed / self._seconds) + present + 1 > self._amount:
            return self._seconds_until_allowed(before, present, passed)
        self._counts[principal] = int(window), before, present + 1
        return None

    def _seconds_until_allowed(self, before: int, present: int, passed: float) -> float:
        seconds, room = self._seconds, self._amount - 1 - present
        if room >= 0:  # enough of the previous window slides out before the current one ends
            return max(0.0, seconds * (1 - room / before) - passed)
        return seconds - passed + seconds * (1 - (self._amount - 1) / present)
