"""Answers worth keeping: the most recent ones, each computed once however many ask for it at the same time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value", bound=Sized)


class Kept(Generic[Key, Value]):
    """The answers used last, bounded by their number and by their sizes together; safe for threads.

    A key is in one of three states. *Unknown*: the first who asks computes it. *Computed now*: whoever asks waits, and
    shares the outcome, be it an answer or an error. *Kept*: the answer is there until it is the one longest unused
    when room is needed, or is forgotten. An error leaves the key unknown, and an answer that was forgotten while it was
    computed still serves those who wait for it, but is not kept.
    """

    def __init__(self, most: int, most_size: int) -> None:
        self._most = most
        self._most_size = most_size
        self._lock = threading.Lock()
        self._answers: OrderedDict[Key, Value] = OrderedDict()
        self._size = 0
        self._computing: dict[Key, Future[Value]] = {}

    def __contains__(self, key: Key) -> bool:
        """Whether an answer is kept."""
        with self._lock:
            return key in self._answers

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """The answer of `key`, computed if need be. Raises what `compute` raises."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
            future = self._computing.get(key)
            mine = future is None
            if future is None:
                future = self._computing[key] = Future()
        if mine:
            self._compute(key, future, compute)
        return future.result()

    def forget(self, condition: Callable[[Key], bool]) -> None:
        """Drop the answers of all keys that meet the condition, those being computed too."""
        with self._lock:
            for key in [key for key in self._answers if condition(key)]:
                self._size -= len(self._answers.pop(key))
            for key in [key for key in self._computing if condition(key)]:
                del self._computing[key]

    def _compute(self, key: Key, future: "Future[Value]", compute: Callable[[], Value]) -> None:
        try:
            answer = compute()
        except BaseException as error:  # noqa: BLE001  whatever it is, nobody may be left waiting
            with self._lock:
                self._end(key, future)
            future.set_exception(error)
            return
        with self._lock:
            if self._end(key, future):
                self._keep(key, answer)
        future.set_result(answer)

    def _end(self, key: Key, future: "Future[Value]") -> bool:
        """End a computation; false if it was forgotten meanwhile (and perhaps begun anew)."""
        if self._computing.get(key) is not future:
            return False
        del self._computing[key]
        return True

    def _keep(self, key: Key, answer: Value) -> None:
        self._answers[key] = answer
        self._size += len(answer)
        while len(self._answers) > self._most or self._size > self._most_size:
            _, longest_unused = self._answers.popitem(last=False)
            self._size -= len(longest_unused)
