"""Parse the part of Thrift's compact protocol that Parquet's footer and page headers use, and skip unwanted fields.

This runs before Arrow reads a file, because Arrow trusts what the headers say. Malformed bytes are an error. So is a
duplicate field, because Arrow might use the other one of the two.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Shape: TypeAlias = "Mapping[int, Shape | None]"
"""The wanted fields of a struct by their ids: None for a number or text, a shape for a struct or a list of structs."""

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_MAX_NESTED = 16


class MalformedError(ValueError):
    """The bytes are not a struct of the compact protocol."""


class Compact:
    """Bytes of the compact protocol, and the position up to which they have been read.

    Reading beyond the end raises IndexError: the struct may be complete if there are more bytes.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.place = 0

    def struct(self, shape: Shape, nested: int = 0) -> dict[int, Any]:
        """Return the wanted fields of a struct, by their ids.

        Raises:
            MalformedError: the bytes are not a struct.
            IndexError: the bytes end before the struct does.
        """
        found: dict[int, Any] = {}
        seen: set[int] = set()
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            if field in seen:
                raise MalformedError
            seen.add(field)
            value = self._value(head & 15, shape.get(field) or {}, nested)
            if field in shape:
                found[field] = value
        return found

    def _value(self, kind: int, shape: Shape, nested: int) -> Any:  # noqa: ANN401 - of any type
        if nested > _MAX_NESTED:
            raise MalformedError
        if kind in {_TRUE, _FALSE}:  # in a field, the type is the value
            return kind == _TRUE
        if kind in {_I16, _I32, _I64}:
            return self._integer()
        if kind == _STRUCT:
            return self.struct(shape, nested + 1)
        if kind in {_LIST, _SET}:
            head = self._byte()
            return self._elements(self._varint() if head >> 4 == 15 else head >> 4, head & 15, shape, nested)
        sizes: dict[int, Callable[[], int]] = {_BYTE: lambda: 1, _DOUBLE: lambda: 8, _BINARY: self._varint}
        if kind not in sizes:  # Parquet has no map
            raise MalformedError
        return self._bytes(sizes[kind]())

    def _elements(self, size: int, kind: int, shape: Shape, nested: int) -> list[Any]:
        kind = _BYTE if kind in {_TRUE, _FALSE} else kind
        return [self._value(kind, shape, nested + 1) for _ in range(size)]

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

    def _bytes(self, size: int) -> bytes:
        if self.place + size > len(self._content):
            raise IndexError
        self.place += size
        return self._content[self.place - size : self.place]
