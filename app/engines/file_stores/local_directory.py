"""A directory of this machine as a file store. No symbolic link below it is followed."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from app.engines.errors import EngineFailure
from app.engines.file_stores.file_store import (
    FilePath,
    FileStore,
    StoredFile,
    forbid_table,
    is_file_path,
    refuse_table,
    select_table_files,
)

_PIECE_BYTES = 2**20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MAX_ENTRIES = 100_000
"""The maximum number of files and directories that are looked at for one table."""


class LocalDirectory(FileStore):
    """The files below a directory. Each name of a path is opened in the directory before it, never by the whole path.

    Args:
        root: the absolute path of the directory.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def find_files(self, path: FilePath) -> list[StoredFile]:
        """Return the files of a table in the order of their paths: the file of this path, or all below it.

        Raises:
            InvalidFile: there is no such table, or it has other files too.
            StoreRefusal: the service may not read it.
            EngineFailure, OSError: the directory is unavailable.
        """
        with self._open_path(path) as descriptor:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode) and is_file_path(path):
                return [_describe("/".join(path), found)]
            if not stat.S_ISDIR(found.st_mode):
                return select_table_files([], path)
            return select_table_files(_walk(descriptor, "/".join(path)), path)

    @contextmanager
    def open(self, file: StoredFile) -> Iterator[Iterator[bytes]]:
        """Yield the content of a file in pieces.

        Raises:
            InvalidFile: the file is not the one that was found.
            StoreRefusal, EngineFailure, OSError: as above.
        """
        with self._open_path(tuple(file.path.split("/"))) as descriptor:
            if _describe(file.path, os.fstat(descriptor)) != file:
                raise refuse_table("changed while it was read: try again")
            with os.fdopen(os.dup(descriptor), "rb", buffering=0) as content:
                yield _pieces(content)
            if _describe(file.path, os.fstat(descriptor)) != file:
                raise refuse_table("changed while it was read: try again")

    def close(self) -> None:
        """Do nothing: no file is open between calls."""

    @contextmanager
    def _open_path(self, path: FilePath) -> Iterator[int]:
        try:
            descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            raise EngineFailure from None
        try:
            for name in path:
                inner = _open_name(name, descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)


def _open_name(name: str, directory: int) -> int:
    try:
        return os.open(name, _OPEN, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise refuse_table("has a symbolic link in it, which is not followed: name the real path") from None
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENXIO}:
            raise refuse_table("does not exist, or the connection may not read it") from None
        if error.errno in {errno.EACCES, errno.EPERM}:
            raise forbid_table("does not exist, or the connection may not read it") from None
        raise


def _walk(top: int, path: str) -> Iterator[StoredFile]:
    """Yield all files below an open directory."""
    looked_at = 0
    for place, directories, names, descriptor in os.fwalk(".", dir_fd=top, onerror=_raise):
        inner = "/".join([path, *place.split("/")[1:]])
        looked_at += len(directories) + len(names)
        if looked_at > MAX_ENTRIES:
            raise refuse_table(f"has more than {MAX_ENTRIES:,} files and directories: name a smaller directory")
        for name in [*directories, *names]:
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                raise refuse_table("has a symbolic link in it, which is not followed: name the real path")
            if stat.S_ISREG(found.st_mode):
                yield _describe(f"{inner}/{name}", found)


def _raise(error: OSError) -> None:
    if error.errno in {errno.EACCES, errno.EPERM}:
        raise forbid_table("has a directory that the connection may not read") from None
    raise error


def _describe(path: str, found: os.stat_result) -> StoredFile:
    return StoredFile(path, found.st_size, str(found.st_mtime_ns))


def _pieces(content: BinaryIO) -> Iterator[bytes]:
    while piece := content.read(_PIECE_BYTES):
        yield piece
