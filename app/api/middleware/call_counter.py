"""Counts calls in the memory of this process, by the sliding window counter that the limits library has too.

The library's memory storage starts a timer thread at almost every count, which cost a twentieth of a release.
"""

import time
from typing import Final

from cachetools import LRUCache
from limits import RateLimitItem

MAX_COUNTED: Final = 100_000
"""Pairs of a principal and a limit; beyond them the ones that were quiet for longest begin anew."""


class CallCounter:
    """Calls of each principal in the present window and the one before it.

    The window slides: of the one before it counts the part that the last `limit.get_expiry()` seconds still reach.
    """

    def __init__(self) -> None:
        self._counts: LRUCache[tuple[RateLimitItem, str], tuple[int, int, int]] = LRUCache(MAX_COUNTED)

    def count(self, limit: RateLimitItem, principal: str) -> float | None:
        """Count a call if the limit allows it; else the seconds until the next one is allowed."""
        seconds, now = limit.get_expiry(), time.time()
        window, passed = divmod(now, seconds)
        known, before, present = self._counts.get((limit, principal), (0, 0, 0))
        if known != window:
            before, present = (present if known == window - 1 else 0), 0
        if before * (1 - passed / seconds) + present + 1 > limit.amount:
            return _seconds_until_allowed(limit, before, present, passed)
        self._counts[limit, principal] = int(window), before, present + 1
        return None


def _seconds_until_allowed(limit: RateLimitItem, before: int, present: int, passed: float) -> float:
    seconds, room = limit.get_expiry(), limit.amount - 1 - present
    if room >= 0:  # enough of the window before slides out while this one lasts
        return max(0.0, seconds * (1 - room / before) - passed)
    return seconds - passed + seconds * (1 - (limit.amount - 1) / present)
