"""The storage format of answers: small answers are packed, large ones are compressed, and all are read in pieces.

The first stored byte says which form the answer has:

    0x01   compressed: the header, then Zstandard frames
    0x02   a reuse, stored as the differences from its release (`reused_answers`): the header, then JSON
    0x03   packed (`answer_packing`)
    else   the answer itself

The header is the form byte, the number of plain bytes (8 octets, big-endian) and their SHA-256. An answer with a
million bins has about 45 MB and is never held in memory as a whole: it is compressed while it is rendered, and it is
read from the database, decompressed and sent piece by piece.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from app.errors import DamagedAnswerError
from app.ledger.answers.answer_packing import MAX_PACKED_BYTES, pack, unpack

if TYPE_CHECKING:
    from hashlib import _Hash

MAX_PLAIN_BYTES = 2**15
"""Up to this size an answer is held in memory as a whole."""

COMPRESSED, REUSED, PACKED = b"\x01", b"\x02", b"\x03"
HEADER_BYTES = 1 + 8 + 32
PIECE_BYTES = 2**18
SLICE_BYTES = 2**20
"""How many stored bytes are read from the database at a time."""

Read = Callable[[int, int], bytes]
"""Reads stored bytes: from an offset, at most the given number."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it is written to the database.

    Attributes:
        content: the stored bytes.
        size: the size of the plain answer, in bytes.
        sha256: the SHA-256 of the plain answer.
    """

    content: bytes
    size: int
    sha256: bytes

    @property
    def plain(self) -> bytes | None:
        """The answer itself if it is stored plain, or else None."""
        return None if self.content[:1] in {COMPRESSED, REUSED} else self.content


def pack_content(content: bytes) -> bytes:
    """The stored bytes of a small answer in packed form; other forms, and answers that would grow, as they are."""
    if content[:1] in {COMPRESSED, REUSED, PACKED} or len(content) > MAX_PACKED_BYTES:
        return content
    packed = PACKED + pack(content)
    return packed if len(packed) < len(content) else content


def unpack_content(content: bytes) -> bytes:
    """The stored bytes before `pack_content`.

    Raises:
        DamagedAnswerError: they are not a packed answer.
    """
    return unpack(content[1:]) if content[:1] == PACKED else content


def header(form: bytes, size: int, sha256: bytes) -> bytes:
    """The header of a large stored answer."""
    return form + size.to_bytes(8, "big") + sha256


class Opening:
    """The first part of an answer, without the ending that only its transaction knows.

    A large answer is compressed while its pieces arrive.
    """

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
        """How many bytes will be stored, without the ending."""
        return len(self._plain) if self._compressed is None else len(self._compressed)

    def complete(self, ending: bytes) -> StoredAnswer:
        """Return the answer with this ending. It may be called again with another ending."""
        size, digest = self._size + len(ending), self._hash.copy()
        digest.update(ending)
        sha256 = digest.digest()
        if self._compressed is None:
            return StoredAnswer(self._plain + ending, size, sha256)
        frames = self._compressed + pa.compress(ending, "zstd", asbytes=True)
        return StoredAnswer(header(COMPRESSED, size, sha256) + frames, size, sha256)


def store(plain: bytes) -> StoredAnswer:
    """Convert a complete answer to its stored form."""
    return Opening([plain]).complete(b"")


class Body(ABC):
    """The plain bytes of an answer that may be large. They can be read in pieces any number of times.

    Attributes:
        stored_sha256: the SHA-256 that is stored with the answer; None if none is stored.
        has_exact_size: whether there are exactly `size` bytes, and not only about as many.
    """

    stored_sha256: bytes | None = None
    has_exact_size = True

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of plain bytes."""

    @abstractmethod
    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` to before `end`, a piece at a time.

        Raises:
            DamagedAnswerError: the stored answer is damaged.
            UnavailableError: the database is busy or does not answer.
        """

    def content(self) -> bytes:
        """All bytes at once, for an answer that fits into memory."""
        return b"".join(self.pieces())

    def sha256(self) -> bytes:
        """Compute the SHA-256 of the bytes."""
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        return digest.digest()

    def checked_sha256(self) -> bytes:
        """Compute the SHA-256 of the bytes, and compare it with the stored one, if there is one.

        Raises:
            DamagedAnswerError: the hashes differ.
        """
        computed = self.sha256()
        if self.stored_sha256 not in {None, computed}:
            raise DamagedAnswerError
        return computed

    def read_checked_pieces(self) -> Iterator[bytes]:
        """Yield all bytes in pieces, and at the end compare their SHA-256 with the stored one, if there is one.

        Raises:
            DamagedAnswerError: the hashes differ.
        """
        digest = hashlib.sha256()
        for piece in self.pieces():
            if self.stored_sha256 is not None:
                digest.update(piece)
            yield piece
        if self.stored_sha256 not in {None, digest.digest()}:
            raise DamagedAnswerError

    def require_sound(self) -> None:
        """Read and check all bytes, with the errors of `read_checked_pieces`."""
        if self.stored_sha256 is not None:
            for _ in self.read_checked_pieces():
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
    """A body with a header."""

    def __init__(self, head: bytes) -> None:
        self._size, self.stored_sha256 = int.from_bytes(head[1:9], "big"), head[9:HEADER_BYTES]

    @property
    def size(self) -> int:
        """The number of plain bytes, from the header."""
        return self._size

    @abstractmethod
    def _all_pieces(self) -> Iterator[bytes]:
        """Yield all bytes from the first on."""

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the same as `Body.pieces`, but never more bytes than the header says."""
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
                left = self._size + 1  # one more byte shows that the content is longer than it should be
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
"""Makes the body of a reuse from its header and the stored bytes after it."""


def of_content(content: bytes) -> Read:
    """Return a reader of bytes that are already in memory."""
    return lambda offset, size: content[offset : offset + size]


def open_body(read: Read, stored_bytes: int, reuse: Reuse | None = None) -> Body:
    """Open a stored answer.

    Args:
        read: reads the stored bytes.
        stored_bytes: how many stored bytes there are.
        reuse: makes the body of a reuse; None if the answer cannot be a reuse.

    Raises:
        DamagedAnswerError: the stored answer has an unknown form.
    """
    head = read(0, HEADER_BYTES)
    form = head[:1]
    if form == PACKED:
        plain = unpack_content(head + read(HEADER_BYTES, stored_bytes))
        return _PlainBody(of_content(plain), len(plain))
    if form not in {COMPRESSED, REUSED}:
        return _PlainBody(read, stored_bytes)
    if len(head) < HEADER_BYTES or (form == REUSED and reuse is None):
        raise DamagedAnswerError
    if form == COMPRESSED or reuse is None:
        return _CompressedBody(head, read)
    return reuse(head, read(HEADER_BYTES, stored_bytes))


def hash_stored(content: bytes) -> bytes:
    """The SHA-256 of the answer that is stored as this, and is no reuse.

    Raises:
        DamagedAnswerError: the stored answer is damaged.
    """
    if content[:1] not in {COMPRESSED, REUSED}:
        return hashlib.sha256(unpack_content(content)).digest()
    return open_body(of_content(content), len(content)).checked_sha256()
