"""Compute how much memory a Parquet file's pages claim; Arrow trusts a page's header and allocates before it checks.

The fields are those of the format's own definition (apache/parquet-format, parquet.thrift).
"""

from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

from app.engines.ingest.thrift import Compact, MalformedError, Shape

_GROUPS, _CHUNKS, _CHUNK = 4, 1, 3  # of the footer: row groups, of which each has column chunks with metadata
_PATH, _VALUES, _DATA_AT, _DICTIONARY_AT = 3, 5, 9, 11  # of a chunk's metadata
_FOOTER: Shape = {_GROUPS: {_CHUNKS: {_CHUNK: dict.fromkeys((_PATH, _VALUES, _DATA_AT, _DICTIONARY_AT))}}}
_SIZE, _COMPRESSED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8  # of a page's header
_NUMBER = 1  # of values, in the header of each kind of page
_HEADER: Shape = {_SIZE: None, _COMPRESSED: None, **{kind: {_NUMBER: None} for kind in (_DATA, _DICTIONARY, _DATA_2)}}

MOST_BYTES_IN_FOOTER = 2**24
"""Some 100,000 chunks, which take as many seconds as MiB to read here; `most_bytes_at_once` reads no larger one."""

MOST_PAGES = 2**19
"""Of the named columns, at 13 to 31 µs each if their headers are not long.

Chunks may share their pages, so a file's size does not limit them.
"""

_TAIL = 8  # the footer's length and the magic bytes
_MOST_BYTES_IN_HEADER = 2**24  # Arrow's own limit
_FIRST_BYTES = 256
_BYTES_OF_A_VALUE = 16
"""What a value of a dictionary takes in memory beside its page: an address and a length."""


class TooManyPagesError(MalformedError):
    """The named columns have more pages than `MOST_PAGES`."""


def most_bytes_at_once(file: BinaryIO, names: Collection[str]) -> int:
    """The most memory that pages of the named columns claim while any row group is read.

    Of every column a dictionary and one other page are in memory at a time, compressed and not.

    Raises:
        MalformedError: it is no Parquet file that Arrow would read.
        TooManyPagesError: looking at every page would take too long.
    """
    wanted, pages = {name.encode() for name in names}, iter(range(MOST_PAGES))
    try:
        groups = [_chunks(group, wanted) for group in _footer(file)[_GROUPS]]
        return max((sum(_claimed(file, chunk, pages) for chunk in chunks) for chunks in groups), default=0)
    except (KeyError, IndexError, TypeError, OverflowError):
        raise MalformedError from None


def _footer(file: BinaryIO) -> dict[int, Any]:
    end = file.seek(0, 2)
    file.seek(max(0, end - _TAIL))
    size = int.from_bytes(file.read(_TAIL)[:4], "little")
    if size > min(MOST_BYTES_IN_FOOTER, end - _TAIL):
        raise MalformedError
    file.seek(end - _TAIL - size)
    return Compact(file.read(size)).struct(_FOOTER)


def _chunks(group: dict[int, Any], wanted: set[bytes]) -> Iterator[dict[int, Any]]:
    for chunk in group[_CHUNKS]:
        if chunk[_CHUNK][_PATH][0] in wanted:
            yield chunk[_CHUNK]


def _claimed(file: BinaryIO, chunk: dict[int, Any], pages: Iterator[int]) -> int:
    """What one chunk's dictionary and its largest other page take. The pages are walked as Arrow walks them.

    Each takes one of `pages`.
    """
    place, dictionary_at = chunk[_DATA_AT], chunk.get(_DICTIONARY_AT, 0)
    if 0 < dictionary_at < place:
        place = dictionary_at
    dictionary = largest = seen = 0
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
        seen += sum(max(0, header[kind][_NUMBER]) for kind in (_DATA, _DATA_2) if kind in header)
        place += size + header[_COMPRESSED]
    return dictionary + largest


def _header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """The header of a page and its size; more is read of the file until the header ends."""
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
            if len(content) < most or most >= _MOST_BYTES_IN_HEADER:
                raise MalformedError from None
            most *= 4
