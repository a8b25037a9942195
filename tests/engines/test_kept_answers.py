"""What is kept, for how long, and that the same thing is never computed twice at a time."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from service_world import becomes

from app.engines.storage import single_flight_cache
from app.engines.storage.single_flight_cache import SingleFlightCache


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Gets an item for each caller that waits for an outcome."""
    callers: list[str] = []

    class Watched(Future):  # type: ignore[type-arg]
        def result(self, timeout: float | None = None) -> Any:
            callers.append("waits")
            return super().result(timeout)

    monkeypatch.setattr(single_flight_cache, "Future", Watched)
    return callers


def answer(value: int, size: int = 1) -> tuple[int, ...]:
    return (value,) * size


def test_fifty_threads_make_one_computation() -> None:
    kept: SingleFlightCache[str, tuple[int, ...]] = SingleFlightCache(10, 100)
    started, computations = threading.Barrier(50), []

    def compute() -> tuple[int, ...]:
        computations.append(1)
        time.sleep(0.05)
        return answer(7)

    def ask(_: int) -> tuple[int, ...]:
        started.wait()
        return kept.get("key", compute)

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(ask, range(50))) == {answer(7)}
    assert len(computations) == 1


def test_a_failure_reaches_all_who_wait_and_is_not_kept(waiting: list[str]) -> None:
    kept: SingleFlightCache[str, tuple[int, ...]] = SingleFlightCache(10, 100)
    started, computations = threading.Barrier(20), []

    def fail() -> tuple[int, ...]:
        computations.append(1)
        assert becomes(lambda: len(waiting) == 19)
        raise RuntimeError("no")

    def ask(_: int) -> str:
        started.wait()
        with pytest.raises(RuntimeError):
            kept.get("key", fail)
        return "failed"

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, range(20))) == ["failed"] * 20
    assert len(computations) == 1
    assert kept.get("key", lambda: answer(1)) == answer(1)


def test_different_keys_do_not_wait_for_each_other() -> None:
    kept: SingleFlightCache[str, tuple[int, ...]] = SingleFlightCache(10, 100)
    together = threading.Barrier(2, timeout=60)

    def compute() -> tuple[int, ...]:
        together.wait()  # passes only if both are computed at the same time
        return answer(1)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda key: kept.get(key, compute), ["a", "b"])) == [answer(1)] * 2


def test_overlapping_sets_of_keys_are_computed_once() -> None:
    kept: SingleFlightCache[int, tuple[int, ...]] = SingleFlightCache(100, 1000)
    started, computed = threading.Barrier(20), []

    def compute(keys: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
        for key in keys:
            computed.append(key)
            time.sleep(0.001)
            yield key, answer(key)

    def ask(first: int) -> dict[int, tuple[int, ...]]:
        started.wait()
        keys = range(first, first + 30) if first % 2 else range(first + 29, first - 1, -1)
        return kept.get_all(keys, compute)

    with ThreadPoolExecutor(20) as pool:
        for first, found in enumerate(pool.map(ask, range(20))):
            assert found == {key: answer(key) for key in range(first, first + 30)}
    assert sorted(computed) == list(range(49))


def test_of_several_those_before_a_failure_are_kept(waiting: list[str]) -> None:
    kept: SingleFlightCache[int, tuple[int, ...]] = SingleFlightCache(100, 1000)
    begun = threading.Event()

    def fail(keys: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
        yield keys[0], answer(keys[0])
        begun.set()
        assert becomes(lambda: len(waiting) == 1)  # for the second key: the answer of the first is there
        raise RuntimeError("no")

    def wait(key: int) -> object:
        begun.wait()
        try:
            return kept.get(key, lambda: answer(-1))
        except RuntimeError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(wait, key) for key in (1, 2)]
        with pytest.raises(RuntimeError):
            kept.get_all([1, 2, 3], fail)
        assert [each.result() for each in others] == [answer(1), "no"]
    assert recomputed(kept, range(1, 4)) == [2, 3]


def test_nobody_waits_for_what_is_never_answered() -> None:
    kept: SingleFlightCache[int, tuple[int, ...]] = SingleFlightCache(100, 1000)
    with pytest.raises(AssertionError):
        kept.get_all([1, 2], lambda _: [(1, answer(1))])
    assert recomputed(kept, range(1, 3)) == [2]


def recomputed(kept: SingleFlightCache[int, tuple[int, ...]], keys: range) -> list[int]:
    """Which of the keys are not kept."""
    asked: list[int] = []
    for key in keys:
        kept.get(key, lambda key=key: asked.append(key) or answer(0))
    return asked


def test_the_longest_unused_goes_first() -> None:
    kept: SingleFlightCache[int, tuple[int, ...]] = SingleFlightCache(3, 100)
    for key in (1, 2, 3, 1, 4):  # 1 was used again, so 2 is the longest unused
        kept.get(key, lambda: answer(0))
    assert (recomputed(kept, range(3, 5)), recomputed(kept, range(1, 2))) == ([], [])
    assert recomputed(kept, range(2, 3)) == [2]


def test_sizes_count_together() -> None:
    kept: SingleFlightCache[int, tuple[int, ...]] = SingleFlightCache(100, 10)
    for key in range(4):
        kept.get(key, lambda: answer(0, 4))
    assert recomputed(kept, range(2, 4)) == []
    assert recomputed(kept, range(1)) == [0]
    kept.get(99, lambda: answer(0, 11))  # more than there is room for
    assert recomputed(kept, range(99, 100)) == [99]
    assert kept._size <= 10


def test_what_is_forgotten_is_gone_even_while_it_is_computed() -> None:
    kept: SingleFlightCache[int, tuple[int, ...]] = SingleFlightCache(10, 100)
    kept.get(2, lambda: answer(2))

    def forgotten_meanwhile() -> tuple[int, ...]:
        kept.forget(lambda key: key == 1)
        assert kept.get(1, lambda: answer(20)) == answer(20)  # begun anew, nobody waits for the old
        return answer(10)

    assert kept.get(1, forgotten_meanwhile) == answer(10)
    assert kept.get(1, lambda: answer(30)) == answer(20)
    kept.forget(lambda key: key == 1)
    assert kept.get(1, lambda: answer(40)) == answer(40)
    assert kept.get(2, lambda: answer(50)) == answer(2)
    assert kept._size == 2
