"""Sources of random bits: the operating system in production, fixed bits in tests."""

import os
from typing import Protocol


class BitSource(Protocol):
    """A source of fair, independent random bits."""

    def bits(self, count: int) -> int:
        """Return the next `count` bits as a number from 0 to 2^count - 1; the first bit is the highest."""
        ...


class VectorBitSource(BitSource, Protocol):
    """A source of random bits for one draw or for many at once."""

    def many(self, count: int, elements: int) -> bytes:
        """Return the next `count` bits for each of `elements` elements; the first bit of each is the highest.

        Each element has its own `octets(count)` octets. The lowest bits of its last octet are padding to ignore.
        """
        ...


class SystemBits:
    """Bits of the operating system's cryptographic generator, the only source in production.

    No setting, flag or request replaces it: anyone who knew the seed of another generator could compute the noise.
    """

    def bits(self, count: int) -> int:
        """The next `count` bits as a number from 0 to 2^count - 1."""
        return leading_bits(self.many(count, 1), count)

    def many(self, count: int, elements: int) -> bytes:
        """Return the next `count` bits for each of `elements` elements, in one system call."""
        return os.urandom(octets(count) * elements)


def octets(count: int) -> int:
    """Return how many octets hold `count` bits."""
    return (count + 7) // 8


def leading_bits(content: bytes, count: int) -> int:
    """Return the first `count` bits of `octets(count)` octets."""
    return int.from_bytes(content, "big") >> (8 * len(content) - count)
