"""Connections to SQLite: which library, which journal, and what each connection promises."""

import hashlib
import importlib
import sqlite3
import time
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

_BUSY = 5
_POLLING_MILLISECONDS = 5
_CHECKPOINT_PAGES = 4_000  # 16 MB: a page that is written again and again goes to the file once


@cache
def load_library() -> ModuleType:
    """The driver with the newer SQLite: the bundled one where its wheel exists, or else the interpreter's own."""
    own: ModuleType = sqlite3
    try:
        bundled = importlib.import_module("pysqlite3.dbapi2")
    except ImportError:
        return own
    return bundled if bundled.sqlite_version_info > own.sqlite_version_info else own


def keeps_commits_in_a_log(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite may be trusted with a write-ahead log.

    Before 3.51.3 two connections that write or checkpoint at the same instant can lose acknowledged commits ("the WAL
    reset bug", sqlite.org/wal.html); 3.50.7 and 3.44.6 have the correction too.
    """
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)


def is_busy(error: BaseException | None) -> bool:
    """Whether it says that another connection holds the lock (SQLITE_BUSY, in any of its forms)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == _BUSY


def connect(
    path: Path, lock_seconds: float, *, read_only: bool = False, foreign_keys: bool = True, polls: bool = False
) -> Any:  # noqa: ANN401 - either driver's
    """A connection that begins and commits nothing by itself, and on which a commit that has returned survives a crash.

    Args:
        path: the database's file.
        lock_seconds: how long a statement waits for a lock of another connection.
        read_only: refuse every write.
        foreign_keys: check references; not while a migration rebuilds a table.
        polls: its user begins transactions again and again while they are refused. In a log nothing else has to wait,
            so SQLite's own patience is cut to some milliseconds.
    """
    driver = load_library()
    connection = driver.connect(
        str(path),
        timeout=lock_seconds,  # PRAGMA busy_timeout
        isolation_level=None,  # no BEGIN or COMMIT but ours
        check_same_thread=False,  # the pool hands a connection to one thread at a time
        cached_statements=256,
    )
    try:
        if keeps_commits_in_a_log(driver.sqlite_version_info):
            _set_journal(connection, "wal", lock_seconds)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            if polls:
                connection.execute(f"PRAGMA busy_timeout = {_POLLING_MILLISECONDS}")
        else:
            # With FULL a power cut may bring a deleted journal back, which would undo the last commit: EXTRA also syncs
            # its directory (sqlite.org/pragma.html#pragma_synchronous).
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
    """A connection to a file that is there, of which nothing is changed: no table, no journal mode."""
    uri = f"{path.as_uri()}?mode=ro"
    connection = load_library().connect(
        uri, uri=True, timeout=lock_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    _add_functions(connection)
    return connection


def _add_functions(connection: Any) -> None:  # noqa: ANN401 - either driver's
    """As Postgres has them: what is hashed need not be fetched."""
    connection.create_function("sha256", 1, _sha256, deterministic=True)


def _sha256(value: bytes | None) -> bytes | None:
    return None if value is None else hashlib.sha256(value).digest()


def _set_journal(connection: Any, mode: str, lock_seconds: float) -> None:  # noqa: ANN401 - either driver's
    """Switch the file's journal unless it is switched; SQLite itself does not wait for the lock that this takes."""
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone() == (mode,):
                return
            connection.execute(f"PRAGMA journal_mode = {mode}")
        except load_library().OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
