"""Vectors of draws against single draws from the same bits: the filter may change no outcome."""

import math
import random
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gmpy2 import mpq

from app.dp.errors import DrawExhausted
from app.dp.mechanism import bulk_draw
from app.dp.mechanism.bulk_draw import draw_whole_numbers
from app.dp.mechanism.draw import draw, first_bits
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.numbers.random_bits import leading_bits, octets

VERY_PRECISE = Context(prec=320)  # more than 1,000 bits

PARAMETERS = {
    "ordinary": derive_parameters(mpq(1, 2), mpq(500)),
    "a grid of 8": derive_parameters(mpq("0.137"), mpq(10**6)),
    "fine": derive_parameters(mpq(1), mpq(50), mpq(1, 20), 10),
    "finest": derive_parameters(mpq(7, 10), mpq(50), mpq(1, 20), 30),
    "least epsilon": derive_parameters(mpq(1, 10**9), mpq(10**6)),
    "least epsilon, finest": derive_parameters(mpq(1, 10**9), mpq(10**6), mpq(1, 20), 30),
    "great epsilon": derive_parameters(mpq(1000), mpq(1000)),
    "great epsilon, finest": derive_parameters(mpq(1000), mpq(1), mpq(1, 20), 30),
    "the clamp binds often": derive_parameters(mpq(1, 2), mpq(3), mpq(1)),
    "the clamp binds often, fine": derive_parameters(mpq(3), mpq(2), mpq(1), 10),
    "tiny range": derive_parameters(mpq(1, 4), mpq(1, 10**9), mpq(1), 4),
    "huge range": derive_parameters(mpq(1, 8), mpq(2**59)),
    "the largest range in 64 bits": derive_parameters(
        mpq(1, 2), mpq(2**63) - 30
    ),  # a grid of 4, with B just below 2^63
    "more than 64 bits": derive_parameters(mpq(4), mpq(2**62)),
    "much more than 64 bits": derive_parameters(mpq(1000), mpq(2**40), mpq(1, 20), 30),
    "a grid of more than 62 bits": derive_parameters(mpq(1, 2**63), mpq(5)),
}


class Tape:
    """The bits of a vector, then seeded ones; remembers what was asked for."""

    def __init__(self, content: bytes = b"", seed: int = 0) -> None:
        self.content = content
        self.random = random.Random(seed)
        self.calls: list[tuple[int, int]] = []

    def many(self, count: int, elements: int) -> bytes:
        self.calls.append((count, elements))
        assert len(self.content) == octets(count) * elements
        return self.content

    def bits(self, count: int) -> int:
        self.calls.append((count, 1))
        return self.random.getrandbits(count)


def one_by_one(x: npt.NDArray[np.int64], parameters: Parameters, content: bytes) -> list[mpq]:
    count = 1 + first_bits(parameters)
    size = octets(count)

    class Element:
        def __init__(self, i: int) -> None:
            self.i = i

        def bits(self, asked: int) -> int:
            assert asked == count, "these bits decide at once"
            return leading_bits(content[self.i * size : (self.i + 1) * size], count)

    return [draw(mpq(number), parameters, Element(i)) for i, number in enumerate(x.tolist())]


def material(parameters: Parameters, elements: int, seed: int) -> tuple[npt.NDArray[np.int64], bytes]:
    """Numbers in the range, at its ends and beyond; bits of which many make a very large or a very small noise."""
    numbers = np.random.default_rng(seed)
    largest = min(int(parameters.b_prime), 2**63 - 1)
    x = numbers.integers(-largest, largest, elements, endpoint=True)
    x[::5] = largest
    x[1::5] = -largest
    beyond = min(int(parameters.bound) + 1, 2**63 - 1)
    x[2::25], x[3::25] = beyond, -beyond
    size = octets(1 + first_bits(parameters))
    content = numbers.integers(0, 256, (elements, size), np.uint8)
    heads = numbers.integers(0, 2**64, elements, np.uint64)
    shifts = numbers.integers(0, 60, elements).astype(np.uint64)
    ones, zeros = np.uint64(2**64 - 1) << shifts, np.uint64(2**64 - 1) >> shifts
    sign = np.uint64(2**63)
    kinds = numbers.integers(0, 8, elements)
    heads = np.where(kinds == 0, heads & (sign | zeros), heads)
    heads = np.where(kinds == 1, heads | (ones & ~sign), heads)
    content[:, :8] = heads.astype(">u8").view(np.uint8).reshape(-1, 8)
    return x, content.tobytes()


def agree(name: str, elements: int, seed: int) -> None:
    parameters = PARAMETERS[name]
    x, content = material(parameters, elements, seed)
    tape = Tape(content)
    together = draw_whole_numbers(x, parameters, tape)
    assert tape.calls == [(1 + first_bits(parameters), elements)]
    assert list(together) == one_by_one(x, parameters, content)
    assert len(set(together.distinct())) == len(together.multiples)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_vector_is_drawn_as_its_elements_would_be(name: str) -> None:
    agree(name, 2_500, 20261128)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMETERS)
def test_long_vectors_are_drawn_as_their_elements_would_be(name: str) -> None:
    agree(name, 65_536, 82616202)


def boundary_bits(cell: int, parameters: Parameters) -> tuple[int, int]:
    """The sign and the N bits that bring 0 to the boundary above `cell` grids."""
    c = VERY_PRECISE
    distance = (cell + mpq(1, 2)) * parameters.grid
    exponent = -abs(distance) / parameters.scale
    u = c.exp(c.divide(Decimal(int(exponent.numerator)), Decimal(int(exponent.denominator))))
    return (1 if distance > 0 else -1), int(c.multiply(u, Decimal(2 ** first_bits(parameters))))


def beside_boundaries(parameters: Parameters, cells: list[int]) -> tuple[npt.NDArray[np.int64], bytes]:
    """Draws from 0 in pairs, one just on this side of a boundary and one just on the other."""
    count = 1 + first_bits(parameters)
    size = octets(count)
    content = b""
    for cell in cells:
        sign, u = boundary_bits(cell, parameters)
        for one in (u - 2**20, u + 2**20):
            bits = (sign < 0) << count - 1 | one
            content += (bits << 8 * size - count).to_bytes(size, "big")
    return np.zeros(2 * len(cells), np.int64), content


def deep_cells(parameters: Parameters, least: float, most: float) -> list[int]:
    """Cells whose boundary needs a U from `least` to `most`, some of them, spread evenly."""
    first, last = (math.floor(-math.log(u) * parameters.scale / parameters.grid) for u in (most, least))
    step = max((last - first) // 120, 1)
    return [sign * cell for cell in range(max(first, 1), last, step) for sign in (1, -1)]


NEAR = {
    "large U": (derive_parameters(mpq(7, 10), mpq(5000), mpq(1, 20), 5), 2.0**-8, 0.99),
    "small U": (derive_parameters(mpq(7, 10), mpq(5000), mpq(1, 20), 10), 2.0**-40, 2.0**-20),
    "tiny U": (derive_parameters(mpq(7, 10), mpq(5000), mpq(1, 20), 10), 2.0**-62, 2.0**-40),
    "finest": (derive_parameters(mpq(7, 10), mpq(5000), mpq(1, 20), 30), 2.0**-30, 0.99),
}


@pytest.mark.slow
@pytest.mark.parametrize("where", NEAR)
def test_the_filter_decides_nothing_beside_a_boundary(where: str) -> None:
    parameters, least, most = NEAR[where]
    cells = deep_cells(parameters, least, most)
    assert len(cells) > 100
    x, content = beside_boundaries(parameters, cells)
    together = list(draw_whole_numbers(x, parameters, Tape(content)))
    assert together == one_by_one(x, parameters, content)
    assert all(together[i] != together[i + 1] for i in range(0, len(x), 2))


def differing(parameters: Parameters, cells: list[int]) -> int:
    x, content = beside_boundaries(parameters, cells)
    together, single = draw_whole_numbers(x, parameters, Tape(content)), one_by_one(x, parameters, content)
    return sum(a != b for a, b in zip(together, single, strict=True))


@pytest.mark.parametrize("where", NEAR)
def test_without_the_margin_the_filter_would_be_wrong(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_draw, "_certainty_margin", lambda t, _: np.zeros_like(t))
    parameters, least, most = NEAR[where]
    # Both of a pair have the same first 63 bits: where neither is handed on, one of them is wrong.
    assert differing(parameters, deep_cells(parameters, least, most)) > 20


def test_a_margin_without_the_bits_that_were_not_looked_at_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, least, most = NEAR["tiny U"]
    monkeypatch.setattr(bulk_draw, "_certainty_margin", lambda t, steepness: 0 * t + steepness * 2.0**-43 + 2.0**-49)
    assert differing(parameters, deep_cells(parameters, least, most)) > 20


def test_half_of_what_those_bits_leave_open_would_be_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, least, most = NEAR["tiny U"]
    monkeypatch.setattr(
        bulk_draw, "_certainty_margin", lambda t, steepness: steepness * (0.5 / t + 2.0**-43) + 2.0**-49
    )
    assert differing(parameters, deep_cells(parameters, least, most)) > 10


@pytest.mark.slow
def test_a_logarithm_4_ulp_off_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    logarithm = np.log
    for steps in (-4, 4):
        monkeypatch.setattr(
            bulk_draw.np, "log", lambda t, by=steps: logarithm(t) + by * np.spacing(np.abs(logarithm(t)))
        )
        for parameters, least, most in NEAR.values():
            assert differing(parameters, deep_cells(parameters, least, most)) == 0


def test_a_logarithm_far_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    logarithm = np.log
    monkeypatch.setattr(bulk_draw.np, "log", lambda t: logarithm(t) * (1 + 2.0**-40))
    parameters, least, most = NEAR["large U"]
    assert differing(parameters, deep_cells(parameters, least, most)) > 10


@pytest.fixture
def handed_on(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many elements took the exact path, as the length of a list."""
    resolved: list[int] = []
    exact = bulk_draw.resolve_draw

    def counting(*arguments: Any) -> mpq:
        resolved.append(1)
        return exact(*arguments)

    monkeypatch.setattr(bulk_draw, "resolve_draw", counting)
    return resolved


SHARES = {  # beyond the first four the margin is 2⁻¹² or so
    "ordinary": 0,
    "a grid of 8": 0,
    "fine": 0,
    "least epsilon": 0,
    "finest": 0.0005,
    "great epsilon, finest": 0.0005,
}


@pytest.mark.parametrize("name", SHARES)
def test_few_elements_take_the_exact_path(name: str, handed_on: list[int]) -> None:
    parameters, elements = PARAMETERS[name], 100_000
    largest = int(parameters.b_prime)
    numbers = np.random.default_rng(5)
    x = numbers.integers(-largest, largest, elements, endpoint=True)
    content = numbers.bytes(elements * octets(1 + first_bits(parameters)))
    draw_whole_numbers(x, parameters, Tape(content))
    assert len(handed_on) <= SHARES[name] * elements


@pytest.mark.parametrize("name", ["more than 64 bits", "much more than 64 bits", "a grid of more than 62 bits"])
def test_what_64_bits_cannot_count_takes_the_exact_path(name: str, handed_on: list[int]) -> None:
    x, content = material(PARAMETERS[name], 50, 1)
    draw_whole_numbers(x, PARAMETERS[name], Tape(content))
    assert len(handed_on) == 50


def test_the_smallest_u_is_handed_on_and_appends_bits(handed_on: list[int]) -> None:
    parameters = derive_parameters(mpq(1), mpq(5000))
    count = 1 + first_bits(parameters)
    tape = Tape(bytes(3 * octets(count)))
    drawn = draw_whole_numbers(np.array([0, 1, 2]), parameters, tape)
    assert tape.calls == [(count, 3)] + [(64, 1)] * 3
    assert all(170 < z < 260 for z in drawn)  # -ln(2^-247) is 171, and 64 more bits of 0 would be 215
    assert len(handed_on) == 3


def test_a_broken_source_of_bits_is_given_up() -> None:
    class Broken(Tape):
        def bits(self, _: int) -> int:
            return 0

    parameters = derive_parameters(mpq(1), mpq(5000))
    with pytest.raises(DrawExhausted):
        draw_whole_numbers(np.zeros(1, np.int64), parameters, Broken(bytes(octets(1 + first_bits(parameters)))))


def test_the_bits_left_over_mean_nothing() -> None:
    parameters = PARAMETERS["finest"]
    x, content = material(parameters, 500, 3)
    size = octets(1 + first_bits(parameters))
    assert 8 * size == 1 + first_bits(parameters) + 1
    flipped = bytes(octet ^ (i % size == size - 1) for i, octet in enumerate(content))
    assert list(draw_whole_numbers(x, parameters, Tape(content))) == list(
        draw_whole_numbers(x, parameters, Tape(flipped))
    )


def test_an_empty_vector(seeded_bits: Callable[[int], Any]) -> None:
    assert list(draw_whole_numbers(np.zeros(0, np.int64), PARAMETERS["ordinary"], seeded_bits(0))) == []
