"""Read the footer of a Parquet file and refuse those that would take long or much memory, before Arrow reads it.

The fields are those of the format's definition (apache/parquet-format, parquet.thrift).
"""

from typing import Any, BinaryIO, NamedTuple

from app.engines.ingest.parquet.thrift import Compact, MalformedError, Shape, TooManyElementsError

MAX_BYTES_IN_FOOTER = 2**24
"""Enough for about 100,000 chunks. Reading the worst footer takes about 0.3 seconds for each MiB."""

MAX_ELEMENTS_IN_FOOTER = 2**19
"""The maximum number of columns, row groups, chunks and parts of the chunks' names."""

MAX_ROW_GROUPS = 2**15
"""The maximum number of row groups: Arrow opens each of them on its own."""

MAX_DEPTH = 100
"""How deep groups of the schema may be in others: Arrow follows them by recursion, which could exhaust the stack."""

_SCHEMA, _GROUPS = 2, 4  # of the footer
_CHILDREN = 5  # of an element of the schema
_CHUNKS, _CHUNK = 1, 3  # row groups have column chunks with metadata
_PATH, _VALUES, _DATA_AT, _DICTIONARY_AT = 3, 5, 9, 11  # of a chunk's metadata
_FOOTER: Shape = {
    _SCHEMA: {_CHILDREN: None},
    _GROUPS: {_CHUNKS: {_CHUNK: dict.fromkeys((_PATH, _VALUES, _DATA_AT, _DICTIONARY_AT))}},
}
_TOO_LARGE = "has a footer that is too large: write larger row groups, or fewer columns"
_TAIL = 8  # the footer's length and the magic bytes


class TooLargeError(MalformedError):
    """A file exceeds a limit; the text says which, as a problem of the file."""


class Chunk(NamedTuple):
    """A column in a row group: its name, the number of its values, and the place of its first page."""

    name: str
    values: int
    place: int


def read_row_groups(file: BinaryIO) -> list[list[Chunk]]:
    """Return the chunks of each row group.

    Raises:
        MalformedError: Arrow would not read this as a Parquet file.
        TooLargeError: the footer exceeds a limit.
    """
    end = file.seek(0, 2)
    file.seek(max(0, end - _TAIL))
    size = int.from_bytes(file.read(_TAIL)[:4], "little")
    if size > end - _TAIL:
        raise MalformedError
    if size > MAX_BYTES_IN_FOOTER:
        raise TooLargeError(_TOO_LARGE)
    file.seek(end - _TAIL - size)
    try:
        footer = Compact(file.read(size), MAX_ELEMENTS_IN_FOOTER).struct(_FOOTER)
        groups = footer[_GROUPS]
        if len(groups) > MAX_ROW_GROUPS:
            raise TooLargeError(f"has more than {MAX_ROW_GROUPS:,} row groups: write larger ones")
        _check_depth([element.get(_CHILDREN, 0) for element in footer[_SCHEMA]])
        return [[_read_chunk(chunk[_CHUNK]) for chunk in group[_CHUNKS]] for group in groups]
    except TooManyElementsError:
        raise TooLargeError(_TOO_LARGE) from None
    except (KeyError, IndexError, TypeError, AttributeError, UnicodeDecodeError):
        raise MalformedError from None


def _check_depth(children: list[int]) -> None:
    """Refuse a schema that is too deep. Each of its elements stands before its children."""
    left = [1]
    for number in children:
        while left and left[-1] == 0:
            left.pop()
        if not left:
            return  # Arrow ignores the rest
        left[-1] -= 1
        if number > 0:
            left.append(number)
        if len(left) > MAX_DEPTH:
            raise TooLargeError(f"has groups of columns in more than {MAX_DEPTH} others: write fewer levels")


def _read_chunk(metadata: dict[int, Any]) -> Chunk:
    place, dictionary_at = metadata[_DATA_AT], metadata.get(_DICTIONARY_AT, 0)
    if 0 < dictionary_at < place:
        place = dictionary_at
    return Chunk(metadata[_PATH][0].decode(), metadata[_VALUES], place)
