"""Locates the members of a JSON object that may be too large to hold in memory.

An object in one piece is parsed. For an object in several pieces, only the structure is scanned: quotes, escapes,
brackets, and the commas and colons between the object's own members.
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
    """The byte positions of a member.

    Attributes:
        start: the brace or comma before its name.
        value: the first byte of its value.
        end: the first byte after its value.
    """

    start: int
    value: int
    end: int


def locate_members(pieces: Iterable[bytes]) -> dict[str, MemberPlace]:
    """Return the positions of an object's members by their names.

    Args:
        pieces: the JSON of an object that is compact and not empty, and whose member names are ASCII.

    Raises:
        ValueError: the pieces are not a JSON object.
    """
    remaining = iter(pieces)
    first, second = next(remaining, b""), next(remaining, b"")
    if not second:
        return _locate_by_parsing(first)
    return _locate_by_structure(chain((first, second), remaining))


def _locate_by_parsing(content: bytes) -> dict[str, MemberPlace]:
    text = content.decode("latin-1")  # one character for each byte, so that positions count bytes
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
        unread += piece[taken:] if value <= start else b""  # the name continues in the next piece
        position += len(piece)
    if not scanner.at_end or value <= start:
        raise ValueError("not a JSON object")
    places[name] = MemberPlace(start, value, position - 1)
    return places


class _StructureScanner:
    """Finds the commas and colons between an object's own members, but not those inside strings or values."""

    def __init__(self) -> None:
        self._depth, self._in_string, self._escaped = 0, 0, False

    @property
    def at_end(self) -> bool:
        """Whether every bracket and string is closed."""
        return self._depth == 0 and not self._in_string

    def find_separators(self, piece: bytes) -> list[int]:
        """Return the positions of the separators in the next piece."""
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
