"""Where the members of a JSON object are, which may be larger than what is held at once.

One that comes in a piece is parsed. Of others only the structure is read: quotes, escapes, brackets, and what stands
between the object's own members.
"""

import json
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

_decode = json.JSONDecoder().raw_decode
_QUOTE, _COMMA = b'",'
_DEPTH_STEPS = np.zeros(256, np.int8)
_DEPTH_STEPS[list(b"[{")], _DEPTH_STEPS[list(b"]}")] = 1, -1
_SEPARATORS = np.zeros(256, np.bool_)
_SEPARATORS[list(b",:")] = True


class MemberPlace(NamedTuple):
    """Where a member is: from `start`, the brace or comma before its name, to before `end`; its value from `value`."""

    start: int
    value: int
    end: int


def locate_members(pieces: Iterable[bytes]) -> dict[str, MemberPlace]:
    """The members of an object that is given in pieces, compact and not empty, by their names, which are ASCII.

    Raises:
        ValueError: it is no such object.
    """
    remaining = iter(pieces)
    first, second = next(remaining, b""), next(remaining, b"")
    if not second:
        return _locate_by_parsing(first)
    return _locate_by_structure(chain((first, second), remaining))


def _locate_by_parsing(content: bytes) -> dict[str, MemberPlace]:
    text = content.decode("latin-1")  # one character for each byte: places are those of the bytes
    places: dict[str, MemberPlace] = {}
    start, end = 0, len(text) - 1
    while start < end:
        name, colon = _decode(text, start + 1)
        _, after = _decode(text, colon + 1)
        places[name] = MemberPlace(start, colon + 1, after)
        start = after
    if start != end:
        raise ValueError("not a JSON object")
    return places


def _locate_by_structure(pieces: Iterable[bytes]) -> dict[str, MemberPlace]:
    scanner = _StructureScanner()
    places: dict[str, MemberPlace] = {}
    name, unread = "", b""
    start, value, position = 0, 0, 0
    for piece in pieces:
        taken = 0
        for at in scanner.find_separators(piece):
            if piece[at] == _COMMA:
                places[name] = MemberPlace(start, value, position + at)
                start = position + at
                unread = b""
            else:
                name, value = (unread + piece[taken:at])[1:].decode().strip('"'), position + at + 1
            taken = at
        unread += piece[taken:] if value <= start else b""  # a name that goes on in the next piece
        position += len(piece)
    if not scanner.at_end or value <= start:
        raise ValueError("not a JSON object")
    places[name] = MemberPlace(start, value, position - 1)
    return places


class _StructureScanner:
    """Finds the commas and colons between an object's own members, not those within strings or values."""

    def __init__(self) -> None:
        self._depth, self._in_string, self._escaped = 0, 0, False

    @property
    def at_end(self) -> bool:
        """Whether every bracket and string is closed."""
        return self._depth == 0 and not self._in_string

    def find_separators(self, piece: bytes) -> list[int]:
        """Where they are in the next piece."""
        text = piece
        if self._escaped or b"\\" in piece:
            text = (b" " + piece[1:]) if self._escaped and piece else piece
            text = text.replace(rb"\\", b"  ").replace(rb"\"", b"  ")
            self._escaped = text.endswith(b"\\")
        characters = np.frombuffer(text, np.uint8)
        if not len(characters):
            return []
        in_string = np.bitwise_xor.accumulate((characters == _QUOTE).view(np.uint8)) ^ self._in_string
        depths = np.cumsum(_DEPTH_STEPS[characters] * (1 - in_string).view(np.int8), dtype=np.int32) + self._depth
        self._depth, self._in_string = int(depths[-1]), int(in_string[-1])
        found: list[int] = np.flatnonzero(_SEPARATORS[characters] & (depths == 1) & (in_string == 0)).tolist()
        return found
