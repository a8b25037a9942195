"""Bits that anybody can compute again from a public seed. They protect nothing: they are for made-up data only."""

from hashlib import shake_256

from app.dp.numbers.random_bits import leading_bits, octets


class SeededBits:
    """The bits of SHAKE256 over a public seed and the number of the call, for rehearsals (`VectorBitSource`).

    Whoever knows the request and the dataset's public metadata can compute them, so no release may be drawn with them.
    A contract in `pyproject.toml` lets only `app.services.releasing.rehearsals` import this module.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed, self._calls = seed, 0

    def bits(self, count: int) -> int:
        """Return the next `count` bits as a number from 0 to 2^count - 1."""
        return leading_bits(self.many(count, 1), count)

    def many(self, count: int, elements: int) -> bytes:
        """Return the next `count` bits for each of `elements` elements, each in octets of its own."""
        self._calls += 1
        return shake_256(self._seed + self._calls.to_bytes(8, "big")).digest(octets(count) * elements)
