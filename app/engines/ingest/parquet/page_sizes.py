"""Compute how much memory the pages of a Parquet file claim, and find how texts are encoded.

Arrow trusts the header of a page: it allocates that much memory before it checks. The fields are those of the format's
definition (apache/parquet-format, parquet.thrift).
"""

from collections.abc import Collection, Sequence
from typing import Any, BinaryIO, NamedTuple

from app.engines.ingest.parquet.footer import Chunk, TooLargeError
from app.engines.ingest.parquet.thrift import Compact, MalformedError, Shape

_SIZE, _COMPRESSED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8  # of a page's header
_NUMBER = 1  # of values, in the header of each kind of page
_ENCODINGS = {_DATA: 2, _DATA_2: 4}
_DELTA_TEXTS = {6, 7}  # the encodings DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY
_HEADER: Shape = {
    _SIZE: None,
    _COMPRESSED: None,
    _DICTIONARY: {_NUMBER: None},
    **{kind: {_NUMBER: None, encoding: None} for kind, encoding in _ENCODINGS.items()},
}

MAX_PAGES = 2**19
"""The maximum number of pages of the named columns. Each takes 5 to 20 µs.

Chunks can share their pages, so the size of a file does not limit their number.
"""

MAX_BYTES_IN_HEADERS = 2**24
"""The maximum size of the headers of these pages together, of which the worst take 0.3 seconds for each MiB.

What is read again, because a header was not complete, counts again. Arrow reads no header that is larger.
"""

_FIRST_BYTES = 256
_GROWTH = 16
_LONG_HEADERS = "has headers of pages that are too large: write larger pages, or shorter statistics"
_BYTES_OF_A_VALUE = 16
"""The memory that a value of a dictionary takes in addition to its page: an address and a length."""


class Pages(NamedTuple):
    """What the pages of some columns need.

    Attributes:
        bytes_by_group: the memory that they claim while each row group is read. For each column, a dictionary and one
            other page are in memory at the same time, both compressed and decompressed.
        delta_texts: the columns with delta-encoded texts, which Arrow cannot read as dictionaries.
    """

    bytes_by_group: list[int]
    delta_texts: frozenset[str]

    @property
    def most_bytes(self) -> int:
        """The largest amount of memory."""
        return max(self.bytes_by_group, default=0)


class _Examination:
    """Visits pages, of which there may be `MAX_PAGES` with `MAX_BYTES_IN_HEADERS`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._pages_left, self._bytes_left = MAX_PAGES, MAX_BYTES_IN_HEADERS

    def chunk(self, chunk: Chunk) -> tuple[int, set[int]]:
        """Return the memory that a chunk's dictionary and its largest other page claim, and the encodings of its pages.

        The pages are visited in the order in which Arrow reads them.
        """
        place, dictionary, largest, seen = chunk.place, 0, 0, 0
        encodings = set()
        while seen < chunk.values:
            header, size = self._header(place)
            self._pages_left -= 1
            if self._pages_left < 0:
                raise TooLargeError("has too many pages: write larger ones")
            if min(header[_SIZE], header[_COMPRESSED]) < 0:
                raise MalformedError
            claimed = header[_SIZE] + header[_COMPRESSED]
            if _DICTIONARY in header:
                dictionary += claimed + _BYTES_OF_A_VALUE * abs(header[_DICTIONARY][_NUMBER])
            else:
                largest = max(largest, claimed)
                encodings |= {header[kind][encoding] for kind, encoding in _ENCODINGS.items() if kind in header}
            seen += sum(max(0, header[kind][_NUMBER]) for kind in _ENCODINGS if kind in header)
            place += size + header[_COMPRESSED]
        return dictionary + largest, encodings

    def _header(self, place: int) -> tuple[dict[int, Any], int]:
        """Return the header of a page and its size. Read more of the file until the header is complete."""
        if place < 0:
            raise MalformedError
        size = _FIRST_BYTES
        while True:
            self._file.seek(place)
            content = self._file.read(min(size, self._bytes_left))
            reader = Compact(content)
            try:
                header = reader.struct(_HEADER)
            except IndexError:
                self._bytes_left -= len(content)
                if self._bytes_left <= 0:
                    raise TooLargeError(_LONG_HEADERS) from None
                if len(content) < size:
                    raise MalformedError from None
                size *= _GROWTH
            else:
                self._bytes_left -= reader.place
                return header, reader.place


def examine_pages(file: BinaryIO, row_groups: Sequence[Sequence[Chunk]], names: Collection[str]) -> Pages:
    """Read the page headers of the named columns.

    Raises:
        MalformedError: Arrow would not read this as a Parquet file.
        TooLargeError: there are so many pages, or so long headers, that examining all of them would take too long.
    """
    examination, bytes_by_group, delta_texts = _Examination(file), [], set()
    try:
        for group in row_groups:
            claimed = 0
            for chunk in group:
                if chunk.name in names:
                    chunk_bytes, encodings = examination.chunk(chunk)
                    claimed += chunk_bytes
                    if encodings & _DELTA_TEXTS:
                        delta_texts.add(chunk.name)
            bytes_by_group.append(claimed)
    except (KeyError, IndexError, TypeError, OverflowError):
        raise MalformedError from None
    return Pages(bytes_by_group, frozenset(delta_texts))
