"""A source of bits that decides which random bits the audited function is given, and that tells when it wants more."""

from app.dp.numbers.random_bits import octets


class Undecided(Exception):  # noqa: N818  a state of the draw, not a failure
    """The tape is over, and the draw has not been decided."""


class Tape:
    """The `length` bits of the number `content`, the highest first; `Undecided` when more are asked for."""

    def __init__(self, content: int, length: int) -> None:
        self._content = content
        self._left = length

    def bits(self, count: int) -> int:
        """The next `count` bits of the tape."""
        if count > self._left:
            raise Undecided
        self._left -= count
        return self._content >> self._left & ((1 << count) - 1)

    def many(self, count: int, elements: int) -> bytes:
        """The next `count` bits for each of so many elements, each in octets of its own."""
        size = octets(count)
        return b"".join((self.bits(count) << 8 * size - count).to_bytes(size) for _ in range(elements))
