"""Times as the database keeps them: text that sorts by time."""

from datetime import UTC, datetime


def now() -> str:
    """The time in UTC by RFC 3339, always with six decimals and `Z`: `2026-11-28T00:12:58.123456Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
