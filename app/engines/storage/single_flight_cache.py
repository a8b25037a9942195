"""A cache of the most recently used answers; concurrent requests for the same key share one computation."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value", bound=Sized)


class SingleFlightCache(Generic[Key, Value]):
    """A thread-safe LRU cache, limited in the number of its answers and in their total size.

    A key is in one of three states. *Unknown*: the first caller computes the answer. *Computing*: other callers wait
    and share the outcome, which is an answer or an error. *Cached*: the answer stays until the cache evicts it as the
    least recently used one, or `forget` drops it. An error leaves the key unknown. If `forget` drops a key while its
    answer is being computed, the waiting callers still get the answer, but the cache does not keep it.
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
        """Whether an answer is cached."""
        with self._lock:
            return key in self._answers

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the answer for `key`, and compute it if necessary. Raises what `compute` raises."""
        return self.get_all([key], lambda _: [(key, compute())])[key]

    def get_all(
        self, keys: Iterable[Key], compute: Callable[[Sequence[Key]], Iterable[tuple[Key, Value]]]
    ) -> dict[Key, Value]:
        """Return the answers for all keys; `compute` gets the unknown keys and yields their answers one by one.

        Raises what `compute` raises; the answers that it yielded before the error stay cached. A caller computes its
        own keys before it waits for other callers, so two callers can never deadlock.
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
        """Drop the answers of all keys that meet the condition, including those that are being computed."""
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
        except BaseException as error:  # noqa: BLE001  after any error, no caller may be left waiting
            with self._lock:
                for key, future in left.items():
                    self._end(key, future)
            for future in left.values():
                future.set_exception(error)

    def _end(self, key: Key, future: "Future[Value]") -> bool:
        """End a computation; return false if `forget` dropped it meanwhile (another may have started since)."""
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
