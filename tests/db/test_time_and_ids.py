import re
import time
import uuid

import pytest

from app.db.clock import now
from app.db.time_ordered_ids import time_ordered_id


def test_times_have_six_decimals_and_sort_as_text() -> None:
    times = [now() for _ in range(1000)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time) for time in times)
    assert times == sorted(times)


def test_an_id_is_a_uuid_of_version_7() -> None:
    parsed = uuid.UUID(time_ordered_id())
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)


def test_ids_sort_by_time_below_the_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    start = 1_764_288_778_123_000_000
    made = []
    for nanoseconds in (0, 250, 500, 999_500, 999_999, 1_000_000, 1_000_250, 10**12):
        monkeypatch.setattr(time, "time_ns", lambda ns=start + nanoseconds: ns)
        made.append(time_ordered_id())
    assert made == sorted(made)
    assert [uuid.UUID(made[0]).int >> 80, uuid.UUID(made[-1]).int >> 80] == [start // 10**6, (start + 10**12) // 10**6]


def test_ids_of_one_instant_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_764_288_778_123_456_789)
    assert len({time_ordered_id() for _ in range(10_000)}) == 10_000
