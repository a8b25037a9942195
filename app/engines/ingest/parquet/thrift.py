"""Parse the part of Thrift's compact protocol that Parquet's footer and page headers use, and skip unwanted fields.

This runs before Arrow reads a file, because Arrow trusts what the headers say. Malformed bytes are an error. So is a
duplicate of a wanted field, because Arrow might use the other one of the two.

What is skipped is not built, so that the worst bytes take at most 0.3 µs each.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

Shape: TypeAlias = "Mapping[int, Shape | None]"
"""The wanted fields of a struct by their ids: None for a number or text, a shape for a struct or a list of structs."""

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_FLAGS = _TRUE, _FALSE  # in a field, the type of a flag is its value
_INTEGERS = _I16, _I32, _I64
_LISTS = _LIST, _SET
_SIZES = {_TRUE: 1, _FALSE: 1, _BYTE: 1, _DOUBLE: 8}  # as elements of a list
_ONE_BYTE = {**dict.fromkeys(_INTEGERS, 128), **dict.fromkeys(_LISTS, 16), _BINARY: 1, _STRUCT: 1}
"""An element is one byte if it is less than this: a small number, an empty list, an empty text or struct."""
_LONG = 15  # instead of the size of a list, if it does not fit into four bits
_MAX_NESTED = 16


class MalformedError(ValueError):
    """The bytes are not a struct of the compact protocol."""


class TooManyElementsError(MalformedError):
    """The bytes have more wanted structs and elements of lists than are allowed."""


class Compact:
    """Bytes of the compact protocol, and the position up to which they have been read.

    Reading beyond the end raises IndexError: the struct may be complete if there are more bytes.

    Args:
        content: the bytes.
        most_elements: the maximum number of wanted elements of lists, of which each takes memory.
    """

    def __init__(self, content: bytes, most_elements: int = 0) -> None:
        self._content = content
        self._elements_left = most_elements
        self.place = 0

    def struct(self, shape: Shape, nested: int = 0) -> dict[int, Any]:
        """Return the wanted fields of a struct, by their ids.

        Raises:
            MalformedError: the bytes are not a struct.
            TooManyElementsError: they have more elements than are allowed.
            IndexError: the bytes end before the struct does.
        """
        if nested > _MAX_NESTED:
            raise MalformedError
        found: dict[int, Any] = {}
        content, field = self._content, 0
        while head := content[self.place]:
            self.place += 1
            field = field + (head >> 4) if head > 15 else self._integer()
            kind = head & 15
            if field not in shape:
                if kind not in _FLAGS:
                    self.place = self._skip(self.place, kind, nested)
            elif field in found:
                raise MalformedError
            else:
                found[field] = self._value(kind, shape[field] or {}, nested)
        self.place += 1
        return found

    def _value(self, kind: int, shape: Shape, nested: int) -> Any:  # noqa: ANN401 - of any type
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT:
            return self.struct(shape, nested + 1)
        if kind == _BINARY:
            size = self._varint()
            self.place = self._within(self.place + size)
            return self._content[self.place - size : self.place]
        if kind in _LISTS:
            return self._elements(shape, nested + 1)
        raise MalformedError

    def _elements(self, shape: Shape, nested: int) -> list[Any]:
        head = self._byte()
        kind, size = head & 15, self._varint() if head >> 4 == _LONG else head >> 4
        if kind not in {_BINARY, _STRUCT}:
            raise MalformedError
        self._elements_left -= size
        if self._elements_left < 0:
            raise TooManyElementsError
        return [self._value(kind, shape, nested) for _ in range(size)]

    def _skip(self, place: int, kind: int, nested: int) -> int:
        """Return the place after a value."""
        if self._content[place] < _ONE_BYTE.get(kind, 0):
            return place + 1
        if kind == _STRUCT:
            return self._skip_struct(place, nested + 1)
        if kind in _INTEGERS:
            return self._skip_integer(place)
        if kind in {_BYTE, _DOUBLE}:
            return self._within(place + _SIZES[kind])
        if kind in _LISTS:
            return self._skip_elements(place, nested + 1)
        if kind == _BINARY:
            self.place = place
            return self._within(self._varint() + self.place)
        raise MalformedError  # Parquet has no map

    def _skip_struct(self, place: int, nested: int) -> int:
        if nested > _MAX_NESTED:
            raise MalformedError
        content = self._content
        while head := content[place]:
            place += 1
            kind = head & 15
            if head < 16:
                place = self._skip_integer(place)
            if kind not in _FLAGS:
                place = self._skip(place, kind, nested)
        return place + 1

    def _skip_elements(self, place: int, nested: int) -> int:
        content = self._content
        head = content[place]
        size, kind = head >> 4, head & 15
        place += 1
        if size == _LONG:
            self.place = place
            size, place = self._varint(), self.place
        if kind in _SIZES:
            return self._within(place + size * _SIZES[kind])
        if kind in _LISTS or nested > _MAX_NESTED:  # Parquet has no list of lists
            raise MalformedError
        short = _ONE_BYTE.get(kind, 0)
        for _ in range(size):
            place = place + 1 if content[place] < short else self._skip(place, kind, nested)
        return place

    def _skip_integer(self, place: int) -> int:
        content = self._content
        while content[place] > 127:
            place += 1
        return place + 1

    def _integer(self) -> int:
        zigzag = self._varint()
        return (zigzag >> 1) ^ -(zigzag & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise MalformedError

    def _byte(self) -> int:
        byte = self._content[self.place]
        self.place += 1
        return byte

    def _within(self, place: int) -> int:
        if place > len(self._content):
            raise IndexError
        return place
