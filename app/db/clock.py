"""Times in the form that the database stores: text that sorts by time."""

import math
import time as clock
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from sqlalchemy import Text, func, select

_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"

# The database's clock in the same form. SQLite has milliseconds. On Postgres this is the current time and not the start
# of the transaction, because the transaction may have waited for a lock since then.
NOW_IN = {
    "sqlite": select(func.strftime("%Y-%m-%dT%H:%M:%f000Z", "now", type_=Text).label("time")),
    "postgresql": select(
        func.to_char(func.timezone("UTC", func.clock_timestamp()), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"', type_=Text).label(
            "time"
        )
    ),
}


def now() -> str:
    """The current UTC time in RFC 3339 form, always with six decimals and `Z`: `2026-11-28T00:12:58.123456Z`."""
    seconds, microseconds = divmod(clock.time_ns() // 1000, 1_000_000)
    return f"{_format_second(seconds)}.{microseconds:06d}Z"


@lru_cache(2)
def _format_second(seconds: int) -> str:
    """A whole second since 1970 without its fraction; cached, because `strftime` takes longer than all the rest."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def to_stored_time(time: datetime) -> str:
    """Convert a time with a time zone to the stored form."""
    return time.astimezone(UTC).strftime(_FORMAT)


def days_after(time: str, days: int) -> str:
    """The time that is the given number of 24-hour days later."""
    return (datetime.fromisoformat(time) + timedelta(days=days)).strftime(_FORMAT)


def seconds_until(time: str) -> int:
    """The number of seconds until a time, rounded up; at least 1."""
    return max(1, math.ceil((datetime.fromisoformat(time) - datetime.now(UTC)).total_seconds()))


def whole_days_between(earlier: str, later: str) -> int:
    """The number of 24-hour days from one time to another, rounded down; negative if `later` is before `earlier`."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).days
