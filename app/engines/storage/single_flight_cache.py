"""Answers worth keeping: the most recent ones, each computed once however many ask for it at the same time."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value", bound=Sized)


class SingleFlightCache(Generic[Key, Value]):
    """The answers used last, bounded by their number and by their sizes together; safe for threads.

    A key is in one of three states. *Unknown*: the first who asks computes it. *Computed now*: whoever asks waits, and
    shares the outcome, be it an answer or an error. *Kept*: the answer is there until it is the one longest unused
    when room is needed, or is forgotten. An error leaves the key unknown, and an answer that was forgotten while it was
    computed still serves those who wait for it, but is not kept.
    """

    def __init__(
        self, most: int, most_size: int, size_of: Callable[[Key, Value], int] = lambda _, answer: len(answer)
    ) -> None:
        self._most = most
        self._most_size = most_size
        self._size_of = size_of
        self._lock = threading.Lock()
        self._answers: OrderedDict[Key, tuple[Value, int]] = OrderedDict()  # each with its size
        self._size = 0
        self._computing: dict[Key, Future[Value]] = {}

    def __contains__(self, key: Key) -> bool:
        """Whether an answer is kept."""
        with self._lock:
            return key in self._answers

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """The answer of `key`, computed if need be. Raises what `compute` raises."""
        return self.get_all([key], lambda _: [(key, compute())])[key]

    def get_all(
        self, keys: Iterable[Key], compute: Callable[[Sequence[Key]], Iterable[tuple[Key, Value]]]
    ) -> dict[Key, Value]:
        """The answers of all keys; `compute` is given those that are unknown, and is asked for one after the other.

        Raises what `compute` raises; what it answered before is kept. Nobody waits for others before having computed
        what others may wait for, so no two can wait for each other.
        """
        answers: dict[Key, Value] = {}
        waiting: dict[Key, Future[Value]] = {}
        mine: dict[Key, Future[Value]] = {}
        with self._lock:
            for key in dict.fromkeys(keys):
                if key in self._answers:
                    self._answers.move_to_end(key)
                    answers[key] = self._answers[key][0]
                elif key in self._computing:
                    waiting[key] = self._computing[key]
                else:
                    mine[key] = self._computing[key] = Future()
        if mine:
            self._compute(dict(mine), compute)
        return answers | {key: future.result() for key, future in (mine | waiting).items()}

    def forget(self, condition: Callable[[Key], bool]) -> None:
        """Drop the answers of all keys that meet the condition, those being computed too."""
        with self._lock:
            for key in [key for key in self._answers if condition(key)]:
                self._size -= self._answers.pop(key)[1]
            for key in [key for key in self._computing if condition(key)]:
                del self._computing[key]

    def _compute(
        self, left: "dict[Key, Future[Value]]", compute: Callable[[Sequence[Key]], Iterable[tuple[Key, Value]]]
    ) -> None:
        try:
            for key, answer in compute(list(left)):
                future = left.pop(key)
                with self._lock:
                    if self._end(key, future):
                        self._keep(key, answer)
                future.set_result(answer)
            if left:
                raise AssertionError("not every key was answered")  # noqa: TRY301
        except BaseException as error:  # noqa: BLE001  whatever it is, nobody may be left waiting
            with self._lock:
                for key, future in left.items():
                    self._end(key, future)
            for future in left.values():
                future.set_exception(error)

    def _end(self, key: Key, future: "Future[Value]") -> bool:
        """End a computation; false if it was forgotten meanwhile (and perhaps begun anew)."""
        if self._computing.get(key) is not future:
            return False
        del self._computing[key]
        return True

    def _keep(self, key: Key, answer: Value) -> None:
        size = self._size_of(key, answer)
        if size > self._most_size:
            return
        self._answers[key] = answer, size
        self._size += size
        while len(self._answers) > self._most or self._size > self._most_size:
            _, (_, size) = self._answers.popitem(last=False)
            self._size -= size
