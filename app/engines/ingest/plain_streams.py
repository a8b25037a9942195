"""Compressed files and other encodings as plain UTF-8 streams, which are converted piece by piece."""

import codecs
import io
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from gzip import GzipFile
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from app.engines.ingest.file_kinds import ZIP, is_parquet, peek
from app.engines.piece_streams import PieceStream

_COMPRESSIONS: Final = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # a frame, or one that is skipped
}
_UTF_16: Final = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
_UTF_32: Final = codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE
_PIECE_BYTES: Final = 2**16

ENCODINGS: Final = {"windows-1252": "cp1252", "latin-1": "latin-1"}
"""The encodings that an owner may declare instead of UTF-8, with Python's names."""

MAX_RATIO = 200
"""The limit on the content of a compressed file, relative to the file's size, above `FREE_PLAIN_BYTES`.

gzip compresses blank lines to a thousandth, and zstd further: such a file would take the place for uploads for long.
"""

FREE_PLAIN_BYTES = 2**24


class UnreadableStreamError(ValueError):
    """The content cannot be decompressed or decoded; the text says why, as a problem of the file."""


def open_plain(file: BinaryIO, encoding: str | None = None) -> BinaryIO:
    """Return the content of a file that is compressed, in another encoding than UTF-8, or has CR as line ends.

    Any other file is returned itself. It must be at its beginning: its first bytes show gzip, zstd and UTF-16, the
    first 64 KiB show lines that end in CR alone, and `encoding` names what cannot be recognised: a member of
    `ENCODINGS`. The stream can be rewound.

    Raises, also when the stream is read:
        UnreadableStreamError: the file is damaged or truncated, or its content is of another kind or too large.
        OSError: it could not be read.
    """
    magic = peek(file, 4)
    compression = next((name for name, first in _COMPRESSIONS.items() if first.match(magic)), None)
    plain = file if compression is None else _stream(partial(_decompress, file, compression))
    if plain is not file:
        _refuse_inner(plain)
    magic = peek(plain, 4)
    if magic.startswith(_UTF_32):
        raise UnreadableStreamError("is in UTF-32: save it as UTF-8")
    if magic.startswith(_UTF_16):
        plain = _stream(partial(_decode, plain, "utf-16", "is not valid UTF-16, as its first bytes say that it is"))
    elif encoding in ENCODINGS and not magic.startswith(codecs.BOM_UTF8) and not _is_binary(plain):
        if _is_utf_8(peek(plain, _PIECE_BYTES)):
            raise UnreadableStreamError(f"is in UTF-8, and not in {encoding}: leave `encoding` out")
        what = f"has bytes that {encoding} does not define: it is in another encoding"
        plain = _stream(partial(_decode, plain, ENCODINGS[encoding], what))
    first = peek(plain, _PIECE_BYTES)
    if b"\r" in first[:-1] and b"\n" not in first and not _is_binary(plain):
        return _stream(partial(_end_lines, plain))
    return plain


def _refuse_inner(plain: BinaryIO) -> None:
    """Refuse a compressed file of another kind than a text file."""
    if is_parquet(plain):
        raise UnreadableStreamError("is a Parquet file in a compressed one: upload the Parquet file")
    first = peek(plain, 4)
    if first == ZIP:
        raise UnreadableStreamError("is a workbook or an archive in a compressed file: upload the workbook, or a CSV")
    if any(each.match(first) for each in _COMPRESSIONS.values()):
        raise UnreadableStreamError("is compressed twice: decompress it once")


def _is_utf_8(first: bytes) -> bool:
    """Return whether the first bytes are UTF-8 with more than ASCII. Texts in other encodings practically never are."""
    try:
        return not codecs.getincrementaldecoder("utf-8")().decode(first).isascii()
    except UnicodeDecodeError:
        return False


def _is_binary(file: BinaryIO) -> bool:
    """Return whether a file is a Parquet file or a workbook, which has no encoding and no lines."""
    return is_parquet(file) or peek(file, len(ZIP)) == ZIP


def _stream(pieces: Callable[[], Iterator[bytes]]) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(_RewindableStream(pieces), _PIECE_BYTES))


class _RewindableStream(PieceStream):
    """A stream that can go back to its beginning, where it opens its pieces again."""

    def __init__(self, open_pieces: Callable[[], Iterator[bytes]]) -> None:
        super().__init__(open_pieces())
        self._open_pieces = open_pieces
        self._place = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation
        self._place = 0
        self._pieces, self._left = self._open_pieces(), memoryview(b"")
        return 0

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer
        size = super().readinto(buffer)
        self._place += size
        return size


class _Unclosed:
    """A file that Arrow does not close together with its own stream."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Do nothing."""


def _decompress(file: BinaryIO, compression: str) -> Iterator[bytes]:
    """Yield the content of all members or frames. Zeros may follow the last one in gzip, as tapes have them."""
    most = FREE_PLAIN_BYTES + MAX_RATIO * file.seek(0, io.SEEK_END)
    file.seek(0)
    size = 0
    try:
        # Arrow's own stream of gzip refuses zeros at the end.
        zipped = compression == "gzip"
        stream = GzipFile(fileobj=file) if zipped else pa.CompressedInputStream(_Unclosed(file), compression)
        while piece := stream.read(_PIECE_BYTES):
            size += len(piece)
            if size > most:
                raise UnreadableStreamError(f"has more than {most:,} bytes when it is decompressed: upload it as it is")
            yield piece
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        what = f"is damaged or truncated: its {compression} stream cannot be decompressed"
        raise UnreadableStreamError(what) from None


def _decode(file: BinaryIO, codec: str, what: str) -> Iterator[bytes]:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        while piece := file.read(_PIECE_BYTES):
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        raise UnreadableStreamError(what) from None


def _end_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file whose lines end in CR, as old programs on a Macintosh write them, with LF instead."""
    file.seek(0)
    while piece := file.read(_PIECE_BYTES):
        yield piece.replace(b"\r", b"\n")
