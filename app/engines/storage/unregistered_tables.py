"""Marks for tables that are not registered yet, so that the tables of a killed process can be found and deleted."""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

from app.engines.atomic_files import create_locked

_PENDING = ".pending"


class UnregisteredTables:
    """The marks of one directory: an empty file for each table that is not registered yet.

    A mark is locked while its process runs. For a mark that is not locked, `drop_unregistered` checks whether the table
    was registered. Only a table that has a mark can be deleted for not being registered.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[str, int] = {}
        self._lock = threading.Lock()

    def mark(self, file_id: str) -> None:
        """Create the mark of a table; call this before the table is written."""
        descriptor = create_locked(self._path(file_id))
        with self._lock:
            self._held[file_id] = descriptor

    def clear(self, file_id: str) -> None:
        """Delete the mark, because the table is registered or deleted."""
        self._path(file_id).unlink(missing_ok=True)
        self.unlock(file_id)

    def unlock(self, file_id: str) -> None:
        """Unlock a mark, so that a later `drop_unregistered` handles it."""
        with self._lock:
            descriptor = self._held.pop(file_id, None)
        if descriptor is not None:
            os.close(descriptor)

    def drop_unregistered(self, registered: Callable[[str], bool], drop: Callable[[str], None]) -> None:
        """Handle every mark that is not locked: drop its table unless it is registered, then delete the mark."""
        for mark in self._directory.glob(f".*{_PENDING}"):
            file_id = mark.name.removeprefix(".").removesuffix(_PENDING)
            try:
                descriptor = os.open(mark, os.O_RDWR)
            except FileNotFoundError:  # another process has handled it
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            else:
                if not registered(file_id):
                    drop(file_id)
                mark.unlink(missing_ok=True)
            finally:
                os.close(descriptor)

    def close(self) -> None:
        """Unlock all marks, so that a later `drop_unregistered` handles them."""
        for file_id in list(self._held):
            self.unlock(file_id)

    def _path(self, file_id: str) -> Path:
        return self._directory / f".{file_id}{_PENDING}"
