"""Limit how many files are read at once, across all processes that share a directory of tables."""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.engines.atomic_files import PARTIAL
from app.engines.errors import EngineFailure
from app.engines.ingest_process.pool import IngestInterrupted, Interrupted

_LOOK_SECONDS = 0.1


class SlotsBusy(EngineFailure):
    """The limit on how many files are read at once is reached."""


@contextmanager
def hold_slot(parent: Path, count: int, seconds: float, interrupted: Interrupted) -> Iterator[Path]:
    """Yield one of `count` directories: empty, exclusive to the caller, and deleted at the end of the block.

    The directory is locked while it is held. If a process is killed, its lock ends, and others can use the directory.

    Raises:
        SlotsBusy: no directory became free in time.
        IngestInterrupted: `interrupted` became true.
    """
    deadline = time.monotonic() + seconds
    while True:
        for number in range(count):
            directory = parent / f".upload-{number}{PARTIAL}"
            descriptor = _take(directory)
            if descriptor is not None:
                try:
                    yield directory
                finally:
                    shutil.rmtree(directory, ignore_errors=True)
                    os.close(descriptor)
                return
        if interrupted():
            raise IngestInterrupted
        if time.monotonic() > deadline:
            raise SlotsBusy
        time.sleep(_LOOK_SECONDS)


def _take(directory: Path) -> int | None:
    """Create and lock a directory; return its descriptor, or None if it is in use."""
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        _remove_abandoned(directory)
        return None
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:  # another process took it for an abandoned one
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # the same, a moment later
        os.close(descriptor)
        return None
    if os.fstat(descriptor).st_nlink:
        return descriptor
    os.close(descriptor)
    return None


def _remove_abandoned(directory: Path) -> None:
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)
