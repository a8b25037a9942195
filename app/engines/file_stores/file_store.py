"""The base class of file stores: a store finds a table's files below one prefix, and reads them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeAlias

from app.engines.errors import InvalidFile, Problem

MAX_FILES = 10_000
"""The maximum number of files of one table."""

FilePath: TypeAlias = tuple[str, ...]
"""The names of directories and of a file or directory, below the prefix of the store."""

_TABLE = "source.table"
_SUFFIX = ".parquet"
_REFUSED = re.compile(r"[\x00-\x1f\x7f-\x9f\\%*?\[\]{}#]")
_IGNORED = "_", "."
_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
"""The directories of table formats whose log says which of the files count."""


class StoredFile(NamedTuple):
    """A file in a store.

    Attributes:
        path: below the prefix of the store, with `/` between the names.
        version: changes when the content changes: an entity tag, or the time of the last change. None if unknown.
    """

    path: str
    size: int
    version: str | None


class FileStore(ABC):
    """The files below one prefix that the operator has configured; safe for threads.

    No path leads anywhere else: each name in it is checked, links and redirects are not followed.
    """

    @abstractmethod
    def find_files(self, path: FilePath) -> list[StoredFile]:
        """Return the files of a table in the order of their paths: the file of this path, or all below it.

        Raises:
            InvalidFile: there is no such table, or it has other files too.
            StoreRefusal: the store refuses to read it.
            EngineFailure, OSError: the store is unavailable.
        """

    @abstractmethod
    def open(self, file: StoredFile) -> AbstractContextManager[Iterator[bytes]]:
        """Yield the content of a file in pieces.

        Raises:
            InvalidFile: the file is not the one that was found.
            StoreRefusal, EngineFailure, OSError: as above.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the store's resources."""


class StoreRefusal(InvalidFile):
    """The store refuses to read a table that may be there."""


def refuse_table(what: str) -> InvalidFile:
    """Return an error about the table as a whole, for its owner."""
    return InvalidFile([Problem(_TABLE, what)])


def forbid_table(what: str) -> StoreRefusal:
    """Return an error about the store's refusal, for the table's owner."""
    return StoreRefusal([Problem(_TABLE, what)])


def parse_file_path(table: str) -> FilePath:
    """Return the names in a path as an owner writes it, such as `2024/people.parquet`.

    Raises:
        InvalidFile: it is absolute, has a name that begins with a dot, a pattern, or a character that a server might
            read as something else.
    """
    names = tuple(table.removesuffix("/").split("/"))
    if _REFUSED.search(table):
        raise refuse_table("must be the path of a file or directory, without patterns, `%`, `#` or backslashes")
    if "" in names or any(name.startswith(".") or "://" in name or name.strip() != name for name in names):
        raise refuse_table(
            "must be the path of a file or directory below the connection's own, such as `2024/people.parquet`: not "
            "absolute, without an address, and without names that begin with a dot"
        )
    return names


def is_file_path(path: FilePath) -> bool:
    """Return whether a path may be one of a single file. Some programs write directories with such names, too."""
    return path[-1].lower().endswith(_SUFFIX)


def select_table_files(files: Iterable[StoredFile], path: FilePath) -> list[StoredFile]:
    """Return the Parquet files of a directory. Names that begin with `_` or a dot are ignored, as other readers do.

    Raises:
        InvalidFile: there are none, too many, or other files among them, or it is a table of another format.
    """
    selected: list[StoredFile] = []
    for file in files:
        names = file.path.split("/")[len(path) :]
        if formats := [_LOGS[name] for name in names if name in _LOGS]:
            raise refuse_table(
                f"is a {formats[0]} table, whose files may also have rows that were deleted: export it as Parquet, or "
                "use a connection to Spark"
            )
        if any(name.startswith(_IGNORED) for name in names):
            continue
        if not names[-1].lower().endswith(_SUFFIX):
            raise refuse_table("has files whose names do not end in `.parquet`: name a directory of Parquet files only")
        selected.append(file)
        if len(selected) > MAX_FILES:
            raise refuse_table(f"has more than {MAX_FILES:,} files: write larger ones")
    if not selected:
        raise refuse_table(
            "does not exist, or the connection may not read it: name a file whose name ends in `.parquet`, or a "
            "directory of such files"
        )
    return sorted(selected)
