"""Times as the database keeps them: text that sorts by time."""

import math
from datetime import UTC, datetime, timedelta

from sqlalchemy import Text, func, select

_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"

# The database's clock in the same form. SQLite knows milliseconds. On Postgres the clock goes on during a transaction,
# which may have waited for a lock since it began.
NOW_IN = {
    "sqlite": select(func.strftime("%Y-%m-%dT%H:%M:%f000Z", "now", type_=Text).label("time")),
    "postgresql": select(
        func.to_char(func.timezone("UTC", func.clock_timestamp()), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"', type_=Text).label(
            "time"
        )
    ),
}


def now() -> str:
    """The time in UTC by RFC 3339, always with six decimals and `Z`: `2026-11-28T00:12:58.123456Z`."""
    return datetime.now(UTC).strftime(_FORMAT)


def to_stored_time(time: datetime) -> str:
    """A time with a zone as the database keeps it."""
    return time.astimezone(UTC).strftime(_FORMAT)


def days_after(time: str, days: int) -> str:
    """The time so many days of 24 hours later."""
    return (datetime.fromisoformat(time) + timedelta(days=days)).strftime(_FORMAT)


def seconds_until(time: str) -> int:
    """How many whole seconds there are until a time, rounded up; at least one."""
    return max(1, math.ceil((datetime.fromisoformat(time) - datetime.now(UTC)).total_seconds()))


def whole_days_between(earlier: str, later: str) -> int:
    """How many whole days of 24 hours have passed from one time to another; negative where it is none later."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).days
