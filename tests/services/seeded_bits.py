"""Repeatable bits, many at a time."""

import random

from app.dp.numbers.random_bits import octets


class SeededBits:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def bits(self, count: int) -> int:
        return self.random.getrandbits(count)

    def many(self, count: int, elements: int) -> bytes:
        return self.random.randbytes(octets(count) * elements)
