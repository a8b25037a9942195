"""Files that appear whole or not at all, and survive a power cut."""

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
    """A file to write to, which becomes `target` when the block ends, and vanishes if the block raises.

    Only its owner may read it. While it is written it is locked, which is how `remove_abandoned` knows the ones whose
    writers died. Several may write the same target at once: one of them stays.
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
    """The descriptor of a new file that is locked: nobody sweeps it away while it is open.

    Between the two somebody who looks for what was left behind may have taken it for that: then it is made again.
    """
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def remove(target: Path) -> None:
    """Delete a file for good, if it is there."""
    target.unlink(missing_ok=True)
    sync_directory(target.parent)


def scratch_directory(parent: Path) -> tuple[Path, int]:
    """A new directory for what need not outlive the process, and the descriptor whose closing gives it up."""
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
    """Delete the unfinished files and scratch directories of processes that were killed; the living keep theirs."""
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
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
