"""Which SQLite is used: Python's own or the bundled one, and whether its version may use a write-ahead log (WAL).

No version is rejected: one that may not use a write-ahead log uses a rollback journal.
"""

import importlib
import sqlite3
from functools import cache
from types import ModuleType


@cache
def load_library() -> ModuleType:
    """Return the driver with the newer SQLite: the bundled wheel if it is installed and newer, or else Python's own."""
    own: ModuleType = sqlite3
    try:
        bundled = importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return own
    return bundled if bundled.sqlite_version_info > own.sqlite_version_info else own


def has_safe_wal(version: tuple[int, int, int]) -> bool:
    """Whether this version of SQLite loses no commits in WAL mode (with a write-ahead log).

    Before 3.51.3 two connections that write or checkpoint at the same instant can lose acknowledged commits ("the WAL
    reset bug", sqlite.org/wal.html). 3.50.7 and 3.44.6 have the fix too.
    """
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)
