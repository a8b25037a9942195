"""A source of fixed bits for the audited draw, which detects that the draw needs more bits than it has."""

from app.dp.numbers.random_bits import octets


class Undecided(Exception):  # noqa: N818  a state of the draw, not a failure
    """The tape has ended before the draw was decided."""


class Tape:
    """The `length` bits of the number `content`, the highest first; it raises `Undecided` at the end."""

    def __init__(self, content: int, length: int) -> None:
        self._content = content
        self._left = length

    def bits(self, count: int) -> int:
        """Return the next `count` bits of the tape as a number."""
        if count > self._left:
            raise Undecided
        self._left -= count
        return self._content >> self._left & ((1 << count) - 1)

    def many(self, count: int, elements: int) -> bytes:
        """Return the next `count` bits for each of `elements` elements, each in octets of its own."""
        size = octets(count)
        return b"".join((self.bits(count) << 8 * size - count).to_bytes(size) for _ in range(elements))
