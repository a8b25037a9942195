"""Places dates on an axis, as seconds since 1970-01-01, and chooses the ones that are labelled."""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from app.dp.table.dates import EPOCH, FIRST_DAY, LAST_DAY

MINUTE, HOUR, DAY = 60, 3_600, 86_400
_STEPS = (
    *(1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR),
    *(digit * 10**power * DAY for power in range(7) for digit in (1, 2, 5)),
)
_TICKS, _MIN_TICKS = 3, 2


def seconds_of(date: str) -> float:
    """Return where an ISO date or time is; what is beyond all dates is at the first or last of them."""
    if date.endswith("infinity"):
        date = (FIRST_DAY if date.startswith("-") else LAST_DAY).isoformat()
    return (datetime.fromisoformat(date) - EPOCH).total_seconds()


def list_date_ticks(low: float, high: float, least: int) -> Iterator[tuple[float, str]]:
    """Yield some three dates from `low` to `high` with their labels, at least `least` seconds apart."""
    first, last = (seconds_of(end.isoformat()) for end in (FIRST_DAY, LAST_DAY))
    low, high = max(low, first), min(high, last)
    step = next(each for each in _STEPS if each >= max(least, (high - low) / _TICKS))
    ticks = _list_multiples(low, high, step)
    if len(ticks) < _MIN_TICKS:  # one alone says nothing of how long the axis is
        step = max((each for each in _STEPS if least <= each < step), default=step)
        ticks = _list_multiples(low, high, step)
    for tick in ticks:
        yield tick, _format_tick(tick, step)


def _list_multiples(low: float, high: float, step: int) -> range:
    return range(math.ceil(low / step) * step, math.floor(high) + 1, step)


def _format_tick(seconds: int, step: int) -> str:
    at = EPOCH + timedelta(seconds=seconds)
    if step >= DAY:
        return at.date().isoformat()
    return at.isoformat(" ", "minutes") if step >= MINUTE else f"{at:%H:%M:%S}"
