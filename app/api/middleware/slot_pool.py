"""The slots for concurrent requests and the bytes of responses held in memory, shared fairly among callers.

A caller is a principal or, without a key, a network address. One caller can use at most seven eighths of the slots.
The last eighth is for callers with few slots, so that nobody can lock out all others. If no slot is free, a transfer
that is slower than the minimum rate loses its slot to the new request.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from app.errors import OverloadedError

_MAX_KNOWN_CALLERS: Final = 10_000

MIN_BYTES_PER_SECOND: Final = 2**15
"""The minimum rate of a transfer."""

MAX_LAG_SECONDS: Final = 1.0
"""How far a transfer may be behind the minimum rate before it can lose its slot to a new request."""

MAX_LEAD_SECONDS: Final = 4.0
"""How far ahead of the minimum rate a transfer can get, so that a fast start does not allow a long pause later."""


@dataclass(slots=True, eq=False)
class Transfer:
    """A body that is read, or a response that is written.

    Attributes:
        stop: ends the transfer.
        due_at: the time at which a transfer at the minimum rate would be as far as this one, by the event loop's clock.
        waits: whether it waits for the client now.
    """

    stop: Callable[[], None]
    due_at: float
    waits: bool = False

    def advance(self, size: int, now: float) -> None:
        """Count transferred bytes."""
        self.due_at = min(self.due_at + size / MIN_BYTES_PER_SECOND, now + MAX_LEAD_SECONDS)


class Slot:
    """The slot of one request; `transfer` is its current transfer, if any."""

    __slots__ = ("_pool", "caller", "credential", "held_bytes", "transfer")

    def __init__(self, pool: "SlotPool", caller: str, credential: int | None) -> None:
        self._pool = pool
        self.caller = caller
        self.credential = credential
        self.held_bytes = 0
        self.transfer: Transfer | None = None

    def assign_to(self, principal: str) -> None:
        """Count the slot against the principal from now on.

        Raises:
            OverloadedError: the principal already has its maximum of slots.
        """
        self._pool.assign(self, f"principal {principal}")

    def hold_bytes(self, size: int) -> None:
        """Reserve bytes for a response that is held in memory as a whole, until the slot is released.

        Raises:
            OverloadedError: there is no room for it.
        """
        self._pool.hold_bytes(self, size)

    def lag(self, now: float) -> float:
        """Return how many seconds the transfer is behind the minimum rate."""
        transfer = self.transfer
        return now - transfer.due_at if transfer is not None and transfer.waits else -math.inf


class _Shares:
    """How much of a limited resource each caller holds."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._total = 0
        self._of_caller: Counter[str] = Counter()

    def of(self, caller: str) -> int:
        """Return the amount that a caller holds."""
        return self._of_caller[caller]

    def take(self, caller: str, amount: int) -> bool:
        """Give a caller more; return False, and change nothing, if there is not enough."""
        total, own = self._total + amount, self._of_caller[caller] + amount
        for_all = self._maximum - self._maximum // 8
        if total > for_all and self._total and (total > self._maximum or own > max(1, self._maximum // 32)):
            return False
        self._total, self._of_caller[caller] = total, own
        return True

    def give_back(self, caller: str, amount: int) -> None:
        """Take back an amount that a caller no longer needs."""
        self._total -= amount
        self._of_caller[caller] -= amount
        if not self._of_caller[caller]:
            del self._of_caller[caller]


class SlotPool:
    """The slots of a process.

    Args:
        max_slots: the maximum number of concurrent requests.
        max_bytes: the maximum size of all responses in memory; a larger single response is allowed if it is alone.
    """

    def __init__(self, max_slots: int, max_bytes: int) -> None:
        self._slots: set[Slot] = set()
        self._callers: LRUCache[int, str] = LRUCache(_MAX_KNOWN_CALLERS)  # by the hash of their credentials
        self._count = _Shares(max_slots)
        self._bytes = _Shares(max_bytes)

    def take(self, network: str, credential: int | None) -> Slot:
        """Return a slot for a request.

        The slot counts against the principal if the same credential was verified before, otherwise against the network.
        Requests with and without a credential from one network count separately.

        Raises:
            OverloadedError: no slot is free, and no transfer is slow enough to lose its slot.
        """
        caller = network if credential is None else self._callers.get(credential, f"{network} with a key")
        while not self._count.take(caller, 1):
            self._stop_slowest(caller)
        slot = Slot(self, caller, credential)
        self._slots.add(slot)
        return slot

    def release(self, slot: Slot) -> None:
        """Release a slot, unless it was released before."""
        if slot in self._slots:
            self._slots.remove(slot)
            self._count.give_back(slot.caller, 1)
            self._bytes.give_back(slot.caller, slot.held_bytes)

    def assign(self, slot: Slot, caller: str) -> None:
        """Count a slot against another caller (see `Slot.assign_to`)."""
        if caller == slot.caller:
            return
        if slot.credential is not None:
            self._callers[slot.credential] = caller
        if slot not in self._slots:  # it was given to another request
            raise OverloadedError
        self._count.give_back(slot.caller, 1)
        self._bytes.give_back(slot.caller, slot.held_bytes)
        self._slots.remove(slot)
        while not self._count.take(caller, 1):
            self._stop_slowest(caller)
        slot.caller = caller
        self._bytes.take(caller, slot.held_bytes)
        self._slots.add(slot)

    def hold_bytes(self, slot: Slot, size: int) -> None:
        """Reserve bytes for a response that is held in memory (see `Slot.hold_bytes`)."""
        while not self._bytes.take(slot.caller, size):
            self._stop_slowest(slot.caller, holding=True)
        slot.held_bytes += size

    def _stop_slowest(self, newcomer: str, *, holding: bool = False) -> None:
        """End the slowest transfer of the caller with the most slots, unless that caller has fewer than the newcomer.

        Raises:
            OverloadedError: no transfer is slow enough.
        """
        now = asyncio.get_running_loop().time()
        slow = [
            slot for slot in self._slots if slot.lag(now) > MAX_LAG_SECONDS and (slot.held_bytes > 0 or not holding)
        ]
        if slow:
            slowest = max(slow, key=lambda slot: (self._count.of(slot.caller), slot.lag(now)))
            if slowest.transfer is not None and self._count.of(slowest.caller) >= self._count.of(newcomer):
                slowest.transfer.stop()
                self.release(slowest)
                return
        raise OverloadedError
