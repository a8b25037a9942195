"""Taking turns: a lock that is handed over in the order in which it was asked for."""

import threading
from collections import deque


class FifoLock:
    """A mutual exclusion that is fair, and whose waits end.

    A plain lock, or a pool of one connection, goes to whoever comes at the right instant: under load that is the thread
    which has just let it go, and others wait until they are refused.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def take(self, seconds: float) -> bool:
        """Wait for one's turn, at most so long; whether it came."""
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
        return True  # it came at the last instant

    def pass_on(self) -> None:
        """End one's turn."""
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
