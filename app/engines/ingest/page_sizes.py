"""Compute how much memory the pages of a Parquet file claim, and find how texts are encoded.

Arrow trusts the header of a page: it allocates that much memory before it checks. The fields are those of the format's
definition (apache/parquet-format, parquet.thrift).
"""

from collections.abc import Collection, Iterator
from typing import Any, BinaryIO, NamedTuple

from app.engines.ingest.thrift import Compact, MalformedError, Shape

_GROUPS, _CHUNKS, _CHUNK = 4, 1, 3  # of the footer: row groups, of which each has column chunks with metadata
_PATH, _VALUES, _DATA_AT, _DICTIONARY_AT = 3, 5, 9, 11  # of a chunk's metadata
_FOOTER: Shape = {_GROUPS: {_CHUNKS: {_CHUNK: dict.fromkeys((_PATH, _VALUES, _DATA_AT, _DICTIONARY_AT))}}}
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

MAX_BYTES_IN_FOOTER = 2**24
"""Enough for about 100,000 chunks. Reading a footer here takes about a second for each MiB; larger ones are refused."""

MAX_PAGES = 2**19
"""The maximum number of pages of the named columns. Each takes 13 to 31 µs, or more if its header is long.

Chunks can share their pages, so the size of a file does not limit their number.
"""

_TAIL = 8  # the footer's length and the magic bytes
_MAX_BYTES_IN_HEADER = 2**24  # Arrow's own limit
_FIRST_BYTES = 256
_BYTES_OF_A_VALUE = 16
"""The memory that a value of a dictionary takes in addition to its page: an address and a length."""


class TooManyPagesError(MalformedError):
    """The named columns have more pages than `MAX_PAGES`."""


class Pages(NamedTuple):
    """What the pages of some columns need.

    Attributes:
        most_bytes: the largest amount of memory that they claim while a row group is read. For each column, a
            dictionary and one other page are in memory at the same time, both compressed and decompressed.
        delta_texts: the columns with delta-encoded texts, which Arrow cannot read as dictionaries.
    """

    most_bytes: int
    delta_texts: frozenset[str]


def examine_pages(file: BinaryIO, names: Collection[str]) -> Pages:
    """Read the page headers of the named columns.

    Raises:
        MalformedError: Arrow would not read this as a Parquet file.
        TooManyPagesError: there are so many pages that examining all of them would take too long.
    """
    wanted, pages = {name.encode() for name in names}, iter(range(MAX_PAGES))
    most_bytes, delta_texts = 0, set()
    try:
        for group in _footer(file)[_GROUPS]:
            claimed = 0
            for chunk in _chunks(group, wanted):
                chunk_bytes, encodings = _examine(file, chunk, pages)
                claimed += chunk_bytes
                if encodings & _DELTA_TEXTS:
                    delta_texts.add(chunk[_PATH][0].decode())
            most_bytes = max(most_bytes, claimed)
    except (KeyError, IndexError, TypeError, OverflowError):
        raise MalformedError from None
    return Pages(most_bytes, frozenset(delta_texts))


def _footer(file: BinaryIO) -> dict[int, Any]:
    end = file.seek(0, 2)
    file.seek(max(0, end - _TAIL))
    size = int.from_bytes(file.read(_TAIL)[:4], "little")
    if size > min(MAX_BYTES_IN_FOOTER, end - _TAIL):
        raise MalformedError
    file.seek(end - _TAIL - size)
    return Compact(file.read(size)).struct(_FOOTER)


def _chunks(group: dict[int, Any], wanted: set[bytes]) -> Iterator[dict[int, Any]]:
    for chunk in group[_CHUNKS]:
        if chunk[_CHUNK][_PATH][0] in wanted:
            yield chunk[_CHUNK]


def _examine(file: BinaryIO, chunk: dict[int, Any], pages: Iterator[int]) -> tuple[int, set[int]]:
    """Return the memory that a chunk's dictionary and its largest other page claim, and the encodings of its pages.

    The pages are visited in the order in which Arrow reads them, and each takes one item from `pages`.
    """
    place, dictionary_at = chunk[_DATA_AT], chunk.get(_DICTIONARY_AT, 0)
    if 0 < dictionary_at < place:
        place = dictionary_at
    dictionary = largest = seen = 0
    encodings = set()
    while seen < chunk[_VALUES]:
        if next(pages, None) is None:
            raise TooManyPagesError
        header, size = _header(file, place)
        if min(header[_SIZE], header[_COMPRESSED]) < 0:
            raise MalformedError
        claimed = header[_SIZE] + header[_COMPRESSED]
        if _DICTIONARY in header:
            dictionary += claimed + _BYTES_OF_A_VALUE * abs(header[_DICTIONARY][_NUMBER])
        else:
            largest = max(largest, claimed)
            encodings |= {header[kind][encoding] for kind, encoding in _ENCODINGS.items() if kind in header}
        seen += sum(max(0, header[kind][_NUMBER]) for kind in (_DATA, _DATA_2) if kind in header)
        place += size + header[_COMPRESSED]
    return dictionary + largest, encodings


def _header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """Return the header of a page and the header's size. Read more of the file until the header is complete."""
    if place < 0:
        raise MalformedError
    most = _FIRST_BYTES
    while True:
        file.seek(place)
        content = file.read(most)
        reader = Compact(content)
        try:
            return reader.struct(_HEADER), reader.place
        except IndexError:
            if len(content) < most or most >= _MAX_BYTES_IN_HEADER:
                raise MalformedError from None
            most *= 4
