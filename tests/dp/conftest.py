"""Sources of bits that tests can predict."""

import random

import pytest

from app.dp.numbers.random_bits import octets


class OneByOne:
    """The bits of a vector are those of as many single draws, one after another."""

    def bits(self, count: int) -> int:
        raise NotImplementedError

    def many(self, count: int, elements: int) -> bytes:
        size = octets(count)
        return b"".join((self.bits(count) << 8 * size - count).to_bytes(size, "big") for _ in range(elements))


class ScriptedBits(OneByOne):
    """A fixed sequence of bits, served from the first; remembers how many were asked for in each call."""

    def __init__(self, content: int, length: int) -> None:
        self.content = content
        self.left = length
        self.calls: list[int] = []

    def bits(self, count: int) -> int:
        self.calls.append(count)
        self.left -= count
        assert self.left >= 0, "the script is over"
        return (self.content >> self.left) & ((1 << count) - 1)


class SeededBits(OneByOne):
    """Repeatable bits; remembers how many were asked for in each call."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.calls: list[int] = []

    def bits(self, count: int) -> int:
        self.calls.append(count)
        return self.random.getrandbits(count)


@pytest.fixture
def scripted_bits() -> type[ScriptedBits]:
    return ScriptedBits


@pytest.fixture
def seeded_bits() -> type[SeededBits]:
    return SeededBits
