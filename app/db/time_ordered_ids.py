"""Identifiers that sort by their time of creation."""

import secrets
import time
import uuid

_VERSION = 7 << 76
_VARIANT = 0b10 << 62


def time_ordered_id() -> str:
    """Return a UUID of version 7 with a fraction of the millisecond after its milliseconds (RFC 9562, 6.2, method 3).

    Ids of one process sort by time with a resolution of a quarter of a microsecond. 62 random bits make ids unique
    within that time.
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = (rest << 12) // 1_000_000
    return str(uuid.UUID(int=milliseconds << 80 | _VERSION | fraction << 64 | _VARIANT | secrets.randbits(62)))
