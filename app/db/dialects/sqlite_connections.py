"""Connections to SQLite: the journal mode and the settings of each connection."""

import hashlib
import time
from pathlib import Path
from typing import Any

from app.db.dialects import sqlite_library

_BUSY = 5
_POLLING_MILLISECONDS = 5
_CHECKPOINT_PAGES = 4_000  # 16 MB, so that a page with many writes is copied to the file once


def is_busy(error: BaseException | None) -> bool:
    """Whether the error means that another connection holds the lock (any form of SQLITE_BUSY)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == _BUSY


def connect(
    path: Path, lock_seconds: float, *, read_only: bool = False, foreign_keys: bool = True, polls: bool = False
) -> Any:  # noqa: ANN401 - either driver's
    """Open a connection without automatic transactions, on which a commit that has returned survives a crash.

    Args:
        path: the database's file.
        lock_seconds: how long a statement waits for a lock of another connection.
        read_only: reject every write.
        foreign_keys: check foreign keys; false while a migration rebuilds a table.
        polls: the caller retries to begin a transaction while the database is busy. With a write-ahead log no other
            statement waits for a lock, so SQLite's own timeout is cut to a few milliseconds.
    """
    driver = sqlite_library.load_library()
    connection = driver.connect(
        str(path),
        timeout=lock_seconds,  # PRAGMA busy_timeout
        isolation_level=None,  # no automatic BEGIN or COMMIT
        check_same_thread=False,  # the pool hands a connection to one thread at a time
        cached_statements=256,
    )
    try:
        if sqlite_library.has_safe_wal(driver.sqlite_version_info):
            _set_journal(connection, "wal", lock_seconds)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            if polls:
                connection.execute(f"PRAGMA busy_timeout = {_POLLING_MILLISECONDS}")
        else:
            # With FULL, a deleted journal may reappear after a power failure and undo the last commit. EXTRA also syncs
            # the journal's directory (sqlite.org/pragma.html#pragma_synchronous).
            _set_journal(connection, "delete", lock_seconds)
            connection.execute("PRAGMA synchronous = EXTRA")
        _add_functions(connection)
        connection.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")
        connection.execute(f"PRAGMA query_only = {'ON' if read_only else 'OFF'}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_as_it_is(path: Path, lock_seconds: float) -> Any:  # noqa: ANN401 - either driver's
    """Open a read-only connection to an existing file without changing anything, not even the journal mode."""
    uri = f"{path.as_uri()}?mode=ro"
    connection = sqlite_library.load_library().connect(
        uri, uri=True, timeout=lock_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    _add_functions(connection)
    return connection


def _add_functions(connection: Any) -> None:  # noqa: ANN401 - either driver's
    """Add what Postgres has: `sha256`, to hash values without fetching them, and `lower` for letters beyond ASCII."""
    connection.create_function("sha256", 1, _sha256, deterministic=True)
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _sha256(value: object) -> bytes | None:
    if value is None:
        return None
    # SQLite stores a text or a number in a column of bytes: that has a hash that no bytes have, and is no error.
    return hashlib.sha256(value).digest() if isinstance(value, bytes) else b"not bytes"


def _set_journal(connection: Any, mode: str, lock_seconds: float) -> None:  # noqa: ANN401 - either driver's
    """Set the file's journal mode if it is another. SQLite does not wait for the lock that this needs, so retry."""
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone() == (mode,):
                return
            connection.execute(f"PRAGMA journal_mode = {mode}")
        except sqlite_library.load_library().OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
