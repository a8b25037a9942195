"""The count of calls in memory, by a clock of the tests' own."""

import random

import limits
import pytest

from app.api.middleware import call_counter
from app.api.middleware.call_counter import CallCounter

FIVE_A_MINUTE = limits.parse("5/minute")


class Clock:
    """Says what time it is."""

    now = 600.0

    def time(self) -> float:
        """As `time.time`."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that the counter looks at."""
    clock = Clock()
    monkeypatch.setattr(call_counter, "time", clock)
    return clock


def test_calls_up_to_the_limit_are_allowed_for_each_principal(clock: Clock) -> None:
    counter = CallCounter(FIVE_A_MINUTE)
    assert [counter.count("ana").is_allowed for _ in range(7)] == [True] * 5 + [False] * 2
    assert counter.count("ben").is_allowed


@pytest.mark.parametrize("seed", range(3))
def test_the_seconds_to_wait_are_right_and_no_more(clock: Clock, seed: int) -> None:
    counter, chance = CallCounter(FIVE_A_MINUTE), random.Random(seed)
    for _ in range(400):
        clock.now += chance.uniform(0, 25)
        usage = counter.count("ana")
        if not usage.is_allowed:
            clock.now += usage.seconds - 1e-3
            assert not counter.count("ana").is_allowed
            clock.now += 2e-3
            assert counter.count("ana").is_allowed


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_remains_is_allowed_now_and_one_more_when_it_says_so(clock: Clock, seed: int, *, is_later: bool) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        counter = CallCounter(FIVE_A_MINUTE)
        for _ in range(chance.randrange(1, 12)):
            clock.now += chance.uniform(0, 25)
            usage = counter.count("ana")
        clock.now += usage.seconds + 1e-3 if is_later else 0
        allowed = [counter.count("ana").is_allowed for _ in range(7)].count(True)
        assert (allowed > usage.remaining) if is_later else (allowed == usage.remaining)


def test_of_the_window_before_counts_what_the_last_minute_reaches(clock: Clock) -> None:
    counter = CallCounter(FIVE_A_MINUTE)
    clock.now = 659.0
    assert all(counter.count("ana").is_allowed for _ in range(5))
    clock.now = 660.0 + 23.9  # 5 * 36.1 / 60 = 3.008 of them
    assert [counter.count("ana").is_allowed for _ in range(2)] == [True, False]
    clock.now = 780.0  # a whole window was quiet
    assert [counter.count("ana").is_allowed for _ in range(6)] == [True] * 5 + [False]
