"""Pieces of bytes that an iterator yields, as a file."""

import io
from collections.abc import Iterator
from typing import Any


class PieceStream(io.RawIOBase):
    """A file that is read once, from its beginning to its end."""

    def __init__(self, pieces: Iterator[bytes | bytearray | memoryview]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer
        """Fill the buffer, and return the number of bytes, 0 at the end."""
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size
