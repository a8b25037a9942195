"""The prepared sums of all tables of a directory; and tables that are exchanged while others read them."""

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from app.engines.prepared_sums import PreparedTable, decode, prepared_file

logger = logging.getLogger(__name__)

MAX_CACHE_BYTES = 2**26
"""The limit on the prepared sums in memory; those that were not used for the longest time are read again."""

_BYTES_PER_BYTE = 12
"""How much memory a byte of the file takes at most: a number of one digit, with its comma, takes 32 bytes."""


class _Version(NamedTuple):
    """Tells the files apart that have had the same path."""

    inode: int
    changed_ns: int
    size: int


class PreparedTables:
    """Reads and caches prepared sums; safe for threads. Read errors are only logged: then the table is scanned."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._cache: LRUCache[Path, tuple[_Version, PreparedTable | None]] = LRUCache(
            MAX_CACHE_BYTES, lambda cached: 1_000 + _BYTES_PER_BYTE * cached[0].size
        )

    def find(self, table: Path) -> PreparedTable | None:
        """Return the prepared sums of the table at this path; None if it has none."""
        path = prepared_file(table)
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                version = _Version(found.st_ino, found.st_mtime_ns, found.st_size)
                with self._lock:
                    cached = self._cache.get(path)
                if cached is not None and cached[0] == version:
                    return cached[1]
                prepared = decode(file.read())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
            logger.warning("prepared sums cannot be read: %s", type(error).__name__)
            return None
        with self._lock, suppress(ValueError):  # too large for the cache
            self._cache[path] = version, prepared
        return prepared

    def forget(self, table: Path) -> None:
        """Drop what is cached of a table that is deleted."""
        with self._lock:
            self._cache.pop(prepared_file(table), None)


@contextmanager
def hold_table(table: Path, *, exclusive: bool = False) -> Iterator[None]:
    """Keep the file at this path where it is until the block ends: `exchange_table` waits for it.

    A scan opens the file several times, and must find the same one each time.

    Raises:
        FileNotFoundError: there is no such file.
    """
    while True:
        descriptor = os.open(table, os.O_RDWR if exclusive else os.O_RDONLY)  # NFS locks only what is open so
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            if os.fstat(descriptor).st_nlink:  # else it was exchanged or deleted meanwhile
                yield
                return
        finally:
            os.close(descriptor)


def exchange_table(table: Path, other: Path) -> None:
    """Put another table, with its prepared sums, in the place of one that holds the same rows.

    Whenever it is interrupted, a complete table remains, with its own prepared sums or without any.

    Raises:
        FileNotFoundError: the table was deleted.
    """
    with hold_table(table, exclusive=True):
        prepared_file(table).unlink(missing_ok=True)
        other.rename(table)
        prepared_file(other).rename(prepared_file(table))
