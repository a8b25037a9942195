"""Tables from file stores: copy their files, and notice later that a file has changed."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from app.engines.atomic_files import write_atomically
from app.engines.errors import EngineFailure, InvalidFile, StaleTable
from app.engines.file_stores.file_store import FilePath, FileStore, StoredFile, StoreRefusal, refuse_table
from app.engines.ingest.parquet.parquet_parts import Part
from app.engines.ingest_process.pool import IngestInterrupted, Interrupted


class CopyLimits(NamedTuple):
    """What the copy of a table's files may take."""

    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class WatchedFiles:
    """The files that a table was copied from, as they were then; it is stale when they are not so any more."""

    connection: str
    path: FilePath
    files: Sequence[StoredFile]

    def write(self, target: Path) -> None:
        """Write the description to `target`.

        Raises:
            OSError: the file could not be written; nothing is left behind.
        """
        with write_atomically(target) as file:
            file.write(json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, path: Path) -> "WatchedFiles":
        """Read the description.

        Raises:
            OSError: the file does not exist or cannot be read.
        """
        read = json.loads(path.read_text("utf-8"))
        return cls(read["connection"], tuple(read["path"]), [StoredFile(*file) for file in read["files"]])

    def require_unchanged(self, store: FileStore) -> None:
        """Check that the store still has the same files, by their names, sizes and versions.

        Raises:
            StaleTable: a file was changed, added or removed.
            EngineFailure, OSError: the store is unavailable, or refuses to say.
        """
        try:
            found = store.find_files(self.path)
        except StoreRefusal:
            raise EngineFailure from None
        except InvalidFile:
            raise StaleTable from None
        if found != list(self.files):
            raise StaleTable


def copy_files(
    store: FileStore, files: Sequence[StoredFile], target: BinaryIO, limits: CopyLimits, interrupted: Interrupted
) -> list[Part]:
    """Copy the files into one, one after the other, and return what it consists of.

    Raises:
        InvalidFile: the files are too large or take too long, or one was changed.
        IngestInterrupted: `interrupted` became true.
        EngineFailure, OSError: the store is unavailable.
    """
    if sum(file.size for file in files) > limits.bytes:
        raise refuse_table(
            f"has files of more than {limits.bytes:,} bytes: ask the operator to raise SNAPLEDGER_MAX_UPLOAD_BYTES"
        )
    deadline = time.monotonic() + limits.seconds
    for file in files:
        left = file.size
        _require_time(deadline, limits, interrupted)  # for each file, since an empty one has no piece
        with store.open(file) as pieces:
            for piece in pieces:
                left -= len(piece)
                if left < 0:
                    break
                _require_time(deadline, limits, interrupted)
                target.write(piece)
        if left:
            raise refuse_table("changed while it was read: try again")
    target.flush()
    return [Part(file.path, file.size) for file in files]


def _require_time(deadline: float, limits: CopyLimits, interrupted: Interrupted) -> None:
    if interrupted():
        raise IngestInterrupted
    if time.monotonic() > deadline:
        raise refuse_table(
            f"takes more than {limits.seconds:,} seconds to copy: ask the operator to raise "
            "SNAPLEDGER_MAX_UPLOAD_SECONDS"
        )


def require_versions(files: Sequence[StoredFile]) -> None:
    """Check that a change of each file would be noticed.

    Raises:
        InvalidFile: the store tells no version of a file.
    """
    if any(file.version is None for file in files):
        raise refuse_table(
            "cannot be live, since its server sends neither `ETag` nor `Last-Modified`, so that no change would be "
            'noticed: copy it (`"live": false`)'
        )
