"""Atomic, durable file writes: a file appears complete or not at all, and survives a power failure."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

PARTIAL = ".partial"


@contextmanager
def write_atomically(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which becomes `target` when the block ends and is deleted if the block raises.

    Only its owner may read it. The file is locked while it is written, so `remove_abandoned` can recognize a file whose
    writer died. Several writers may write the same target at the same time: one of the files remains.
    """
    partial = target.with_name(f".{target.name}.{uuid4().hex}{PARTIAL}")
    try:
        with os.fdopen(create_locked(partial), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            partial.rename(target)
        sync_directory(target.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
        raise


def create_locked(path: Path) -> int:
    """Create a locked file and return its descriptor; `remove_abandoned` does not delete the file while it is open.

    Another process may delete the file as abandoned before it is locked. Then the function creates it again.
    """
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def remove(target: Path) -> None:
    """Delete a file durably, if it exists."""
    target.unlink(missing_ok=True)
    sync_directory(target.parent)


def scratch_directory(parent: Path) -> tuple[Path, int]:
    """Return a new directory for temporary files, and the descriptor that keeps it locked until it is closed."""
    while True:
        scratch = parent / f".{uuid4().hex}{PARTIAL}"
        scratch.mkdir(mode=0o700)
        try:
            descriptor = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # as in `create_locked`
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return scratch, descriptor
        os.close(descriptor)


def remove_abandoned(directory: Path) -> None:
    """Delete the unfinished files and scratch directories of processes that were killed, and of no running process."""
    for partial in [*directory.glob(f".*{PARTIAL}"), *directory.glob(f"*.sums/.*{PARTIAL}")]:
        try:
            descriptor = os.open(partial, os.O_RDONLY)
        except FileNotFoundError:  # finished, or removed by another process
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            shutil.rmtree(partial) if partial.is_dir() else partial.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def sync_directory(directory: Path) -> None:
    """Flush a directory's entries to disk, so that they survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
