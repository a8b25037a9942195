"""Exact sums that are stored beside their table, so that a restart or another process need not read the table again.

The sums are as sensitive as the table, and have the same protection: only the owner of the directory can read them,
and they are deleted with the table.
"""

import json
import logging
import os
import shutil
from hashlib import sha256
from pathlib import Path

from app.dp.table.sums import SUMS_OF, Answer, BinCounts, CellSums, ColumnTotal, Needs, Total
from app.engines.atomic_files import write_atomically

logger = logging.getLogger(__name__)

MAX_ANSWERS = 256
MAX_BYTES = 2**26
"""The limit on the stored answers of one table; the least recently used are deleted first."""

_GRAMMAR = "1"
"""The version of the grammar of codes. Change it with the grammar, so that old sums are not used for the new one."""


class StoredSums:
    """The stored sums of all tables of a directory, one file for each answer. Read and write errors are only logged."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find(self, file_id: str, needs: Needs) -> Answer | None:
        """Return the stored answer, or None if there is none."""
        path = self._path(file_id, needs)
        try:
            answer = _answer(needs, json.loads(path.read_bytes()))
            os.utime(path)
        except FileNotFoundError:
            return self._find_in_squares(file_id, needs) if isinstance(needs, ColumnTotal) else None
        except (OSError, ValueError, TypeError) as error:
            logger.warning("stored sums cannot be read: %s", type(error).__name__)
            return None
        return answer

    def _find_in_squares(self, file_id: str, needs: ColumnTotal) -> Total | None:
        """Return the total from the answer to a request that asked for the squares too."""
        answer = self.find(file_id, needs.with_squares)
        return None if answer is None else Total(*answer[:2])

    def keep(self, file_id: str, needs: Needs, answer: Answer, table: Path) -> None:
        """Store an answer, unless `table`, the file from which it was computed, no longer exists."""
        path = self._path(file_id, needs)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with write_atomically(path) as file:
                file.write(json.dumps(answer).encode())
            self._make_room(path.parent)
        except (OSError, ValueError) as error:
            logger.warning("sums cannot be stored: %s", type(error).__name__)
        if not table.exists():  # `Tables.drop` deletes the file first, then the sums
            self.drop(file_id)

    def drop(self, file_id: str) -> None:
        """Delete every answer of a table."""
        shutil.rmtree(self._sums_of(file_id), ignore_errors=True)

    def _sums_of(self, file_id: str) -> Path:
        return self._directory / f"{file_id}.sums"

    def _path(self, file_id: str, needs: Needs) -> Path:
        digest = sha256(f"{_GRAMMAR} {needs!r}".encode()).hexdigest()
        return self._sums_of(file_id) / f"{digest}.json"

    @staticmethod
    def _make_room(directory: Path) -> None:
        kept = []
        for path in directory.glob("*.json"):
            try:
                found = path.stat()
            except FileNotFoundError:  # another process made room too
                continue
            kept.append((found.st_mtime_ns, found.st_size, path))
        size = sum(each[1] for each in kept)
        kept.sort(key=lambda each: each[0])
        while kept and (len(kept) > MAX_ANSWERS or size > MAX_BYTES):
            _, freed, path = kept.pop(0)
            path.unlink(missing_ok=True)
            size -= freed


def _answer(needs: Needs, numbers: object) -> Answer:
    """Return the numbers of a file as an answer to `needs`.

    Raises:
        ValueError: the numbers are no answer to `needs`.
    """
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise ValueError("not a list of whole numbers")
    if isinstance(needs, BinCounts | CellSums):
        if len(numbers) != (needs.bins.count if isinstance(needs, BinCounts) else needs.answers):
            raise ValueError("not one for each bin")
        return tuple(numbers)
    return SUMS_OF[type(needs)](*numbers)
