"""A lock that threads get in the order in which they asked for it."""

import threading
from collections import deque


class FifoLock:
    """A fair mutual exclusion lock with a timeout.

    A plain lock, or a pool of one connection, goes to the thread that asks at the right instant. Under load that is
    often the thread that has just released it, while others wait until they time out.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, seconds: float) -> bool:
        """Acquire the lock, waiting at most `seconds`; return whether it was acquired."""
        with self._mutex:
            if not self._taken:
                self._taken = True
                return True
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=seconds):
            return True
        with self._mutex:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
        return True  # the lock was handed over just as the wait timed out

    def release(self) -> None:
        """Release the lock to the thread that has waited longest."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
