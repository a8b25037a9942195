"""Where random bits come from: the operating system in production, a script in tests."""

import os
from typing import Protocol


class BitSource(Protocol):
    """Fair, independent random bits."""

    def bits(self, count: int) -> int:
        """The next `count` bits as a number from 0 to 2^count - 1, the first bit being the highest."""
        ...


class SystemBits:
    """Bits of the operating system's cryptographic generator, the only source in production.

    No setting, flag or request replaces it: a generator with a seed would tell the noise to whoever knows the seed.
    """

    def bits(self, count: int) -> int:
        """The next `count` bits as a number from 0 to 2^count - 1."""
        octets = (count + 7) // 8
        return int.from_bytes(os.urandom(octets), "big") >> (8 * octets - count)
