"""Writes files atomically and durably: a file is complete or missing, even after a power failure."""

import os
from pathlib import Path
from uuid import uuid4


def replace(path: Path, content: bytes, mode: int) -> None:
    """Create or replace a file atomically. If this fails, an existing file stays unchanged.

    Raises:
        OSError: the file cannot be written.
    """
    partial = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        write_new(partial, content, mode)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    sync_directory(path.parent)


def write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a new file and sync it. The caller must sync its directory.

    Raises:
        OSError: the file exists or cannot be written.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Sync the content of a file to the disk."""
    _sync(path, os.O_RDONLY)


def sync_directory(path: Path) -> None:
    """Sync the names in a directory to the disk."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
