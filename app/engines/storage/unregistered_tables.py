"""Files that belong to nothing yet: a process that is killed before it says so leaves a mark of what it wrote."""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

from app.engines.atomic_files import create_locked

_PENDING = ".pending"


class UnregisteredTables:
    """The marks of one directory: an empty file for each table that is written but not registered yet.

    A mark is locked while its process lives. Who finds one that is not locked asks whether its table was registered:
    only files that have a mark are ever deleted for belonging to nothing.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[str, int] = {}
        self._lock = threading.Lock()

    def mark(self, file_id: str) -> None:
        """Mark a table before it is written."""
        descriptor = create_locked(self._path(file_id))
        with self._lock:
            self._held[file_id] = descriptor

    def clear(self, file_id: str) -> None:
        """Take the mark away: the table is registered, or gone."""
        self._path(file_id).unlink(missing_ok=True)
        self.let_go(file_id)

    def let_go(self, file_id: str) -> None:
        """Leave a mark to be decided later."""
        with self._lock:
            descriptor = self._held.pop(file_id, None)
        if descriptor is not None:
            os.close(descriptor)

    def decide(self, registered: Callable[[str], bool], drop: Callable[[str], None]) -> None:
        """Of every table whose process died: drop it unless it is registered, and take its mark away."""
        for mark in self._directory.glob(f".*{_PENDING}"):
            file_id = mark.name.removeprefix(".").removesuffix(_PENDING)
            try:
                descriptor = os.open(mark, os.O_RDWR)
            except FileNotFoundError:  # decided by another process
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
        """Leave all marks to be decided later."""
        for file_id in list(self._held):
            self.let_go(file_id)

    def _path(self, file_id: str) -> Path:
        return self._directory / f".{file_id}{_PENDING}"
