"""Where random bits come from: the operating system in production, a script in tests."""

import os
from typing import Protocol


class BitSource(Protocol):
    """Fair, independent random bits."""

    def bits(self, count: int) -> int:
        """The next `count` bits as a number from 0 to 2^count - 1, the first bit being the highest."""
        ...


class VectorBitSource(BitSource, Protocol):
    """Random bits for one draw or for many at once."""

    def many(self, count: int, elements: int) -> bytes:
        """The next `count` bits for each of so many elements, each in octets of its own, the first bit the highest.

        An element takes as many whole octets as hold its bits (`octets`); in the last, the lowest bits left over mean
        nothing.
        """
        ...


class SystemBits:
    """Bits of the operating system's cryptographic generator, the only source in production.

    No setting, flag or request replaces it: a generator with a seed would tell the noise to whoever knows the seed.
    """

    def bits(self, count: int) -> int:
        """The next `count` bits as a number from 0 to 2^count - 1."""
        return leading_bits(self.many(count, 1), count)

    def many(self, count: int, elements: int) -> bytes:
        """The next `count` bits for each of so many elements, in one call of the system."""
        return os.urandom(octets(count) * elements)


def octets(count: int) -> int:
    """How many octets hold so many bits."""
    return (count + 7) // 8


def leading_bits(content: bytes, count: int) -> int:
    """The first `count` bits of octets that are just enough for them."""
    return int.from_bytes(content, "big") >> (8 * len(content) - count)
