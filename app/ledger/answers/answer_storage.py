"""How answers are stored: small ones as they are, large ones compressed, and all of them read in pieces.

The first byte of what is stored says which form it has:

    0x01   compressed: the header, then Zstandard frames
    0x02   a reuse, by what differs from the release it points to (`reused_answers`): the header, then JSON
    else   the answer itself

The header is the form, the number of plain bytes (8 octets, big-endian) and their SHA-256. An answer of a million bins
has some 45 MB and is never held as a whole: it is compressed while it is made, and read from the database, decompressed
and sent piece by piece.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from app.errors import DamagedAnswerError

if TYPE_CHECKING:
    from hashlib import _Hash

MAX_PLAIN_BYTES = 2**15
"""Up to this size an answer is stored as it is, and held as a whole."""

COMPRESSED, REUSED = b"\x01", b"\x02"
HEADER_BYTES = 1 + 8 + 32
PIECE_BYTES = 2**18
SLICE_BYTES = 2**20
"""How much of what is stored is read from the database at a time."""

Read = Callable[[int, int], bytes]
"""Reads what is stored: from an offset, at most so many bytes."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it is written to the database.

    Attributes:
        content: what is stored.
        size: of the plain answer, in bytes.
        sha256: of the plain answer.
    """

    content: bytes
    size: int
    sha256: bytes

    @property
    def plain(self) -> bytes | None:
        """The answer itself, if it is stored as it is."""
        return None if self.content[:1] in {COMPRESSED, REUSED} else self.content


def header(form: bytes, size: int, sha256: bytes) -> bytes:
    """What large answers begin with."""
    return form + size.to_bytes(8, "big") + sha256


class Opening:
    """The beginning of an answer, up to what only its transaction knows; large ones are compressed as they come."""

    __slots__ = ("_compressed", "_hash", "_plain", "_size")

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._hash: _Hash = hashlib.sha256()
        self._size = 0
        self._compressed: bytes | None = None
        remaining, first = iter(pieces), []
        for piece in remaining:
            self._count(piece)
            first.append(piece)
            if self._size > MAX_PLAIN_BYTES:
                self._compressed = self._compress(b"".join(first), remaining)
                first = []
        self._plain = b"".join(first)

    def _count(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._size += len(piece)

    def _compress(self, first: bytes, remaining: Iterable[bytes]) -> bytes:
        compressed = pa.BufferOutputStream()
        with pa.CompressedOutputStream(compressed, "zstd") as stream:
            stream.write(first)
            for piece in remaining:
                self._count(piece)
                stream.write(piece)
        content: bytes = compressed.getvalue().to_pybytes()
        return content

    @property
    def stored_bytes(self) -> int:
        """How much of the answer is to be stored, but for its ending."""
        return len(self._plain) if self._compressed is None else len(self._compressed)

    def complete(self, ending: bytes) -> StoredAnswer:
        """The answer with its ending. It may be called again, with another one."""
        size, digest = self._size + len(ending), self._hash.copy()
        digest.update(ending)
        sha256 = digest.digest()
        if self._compressed is None:
            return StoredAnswer(self._plain + ending, size, sha256)
        frames = self._compressed + pa.compress(ending, "zstd", asbytes=True)
        return StoredAnswer(header(COMPRESSED, size, sha256) + frames, size, sha256)


def store(plain: bytes) -> StoredAnswer:
    """An answer that is there already, as it is to be stored."""
    return Opening([plain]).complete(b"")


class Body(ABC):
    """The plain bytes of an answer that may be large: read in pieces, as often as they are asked for.

    Attributes:
        stored_sha256: what is stored with the answer as its SHA-256, if anything is.
    """

    stored_sha256: bytes | None = None

    @property
    @abstractmethod
    def size(self) -> int:
        """How many bytes there are."""

    @abstractmethod
    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` to before `end`, a piece at a time.

        Raises:
            DamagedAnswerError: what is stored is not what was written.
            UnavailableError: the database is busy or away.
        """

    def content(self) -> bytes:
        """All of it, where it may be held as a whole."""
        return b"".join(self.pieces())

    def sha256(self) -> bytes:
        """The SHA-256 of its bytes, computed now."""
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.digest()

    def checked_pieces(self) -> Iterator[bytes]:
        """All of it, a piece at a time, and its SHA-256 compared at the end with the one that is stored, if one is.

        Raises:
            DamagedAnswerError: it is another.
        """
        digest = hashlib.sha256()
        for piece in self.pieces():
            if self.stored_sha256 is not None:
                digest.update(piece)
            yield piece
        if self.stored_sha256 not in {None, digest.digest()}:
            raise DamagedAnswerError

    def require_sound(self) -> None:
        """Read all of it, as `checked_pieces`."""
        if self.stored_sha256 is not None:
            for _ in self.checked_pieces():
                pass


class _PlainBody(Body):
    def __init__(self, read: Read, stored_bytes: int) -> None:
        self._read, self._size = read, stored_bytes

    @property
    def size(self) -> int:
        return self._size

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        stop = self._size if end is None else min(end, self._size)
        for offset in range(start, stop, SLICE_BYTES):
            content = self._read(offset, min(SLICE_BYTES, stop - offset))
            for at in range(0, len(content), PIECE_BYTES):
                yield content[at : at + PIECE_BYTES]


class LargeBody(Body):
    """One that has a header."""

    def __init__(self, head: bytes) -> None:
        self._size, self.stored_sha256 = int.from_bytes(head[1:9], "big"), head[9:HEADER_BYTES]

    @property
    def size(self) -> int:
        """As the header says."""
        return self._size

    @abstractmethod
    def _all_pieces(self) -> Iterator[bytes]:
        """The bytes from the first on."""

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """As `Body.pieces`, and never more bytes than the header says."""
        stop, position = self._size if end is None else min(end, self._size), 0
        for piece in self._all_pieces():
            within = piece[max(start - position, 0) : max(stop - position, 0)]
            position += len(piece)
            if within:
                yield within
            if position >= stop and end is not None:
                return
        if position != self._size:
            raise DamagedAnswerError


class _CompressedBody(LargeBody):
    def __init__(self, head: bytes, read: Read) -> None:
        super().__init__(head)
        self._read = read

    def _all_pieces(self) -> Iterator[bytes]:
        try:
            with pa.CompressedInputStream(pa.PythonFile(_Frames(self._read), "r"), "zstd") as stream:
                left = self._size + 1  # one more tells what is longer than it should be
                while left > 0 and (piece := stream.read(min(PIECE_BYTES, left))):
                    left -= len(piece)
                    yield piece
        except (pa.ArrowInvalid, OSError) as error:
            raise DamagedAnswerError from error


class _Frames:
    """The compressed frames as a file that Arrow reads."""

    closed = False

    def __init__(self, read: Read) -> None:
        self._read, self._offset, self._ahead = read, HEADER_BYTES, b""

    def read(self, size: int) -> bytes:
        if not self._ahead:
            self._ahead = self._read(self._offset, SLICE_BYTES)
            self._offset += len(self._ahead)
        taken, self._ahead = self._ahead[:size], self._ahead[size:]
        return taken

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


Reuse = Callable[[bytes, bytes], Body]
"""Makes the body of a reuse from its header and the rest of what is stored of it."""


def of_content(content: bytes) -> Read:
    """Reads what is in memory already."""
    return lambda offset, size: content[offset : offset + size]


def open_body(read: Read, stored_bytes: int, reuse: Reuse | None = None) -> Body:
    """The body of what is stored, which has `stored_bytes`.

    Args:
        read: reads what is stored.
        stored_bytes: how much of it there is.
        reuse: makes the body of a reuse, where there may be one.

    Raises:
        DamagedAnswerError: it has no form that was written here.
    """
    head = read(0, HEADER_BYTES)
    form = head[:1]
    if form not in {COMPRESSED, REUSED}:
        return _PlainBody(read, stored_bytes)
    if len(head) < HEADER_BYTES or (form == REUSED and reuse is None):
        raise DamagedAnswerError
    if form == COMPRESSED or reuse is None:
        return _CompressedBody(head, read)
    return reuse(head, read(HEADER_BYTES, stored_bytes))
