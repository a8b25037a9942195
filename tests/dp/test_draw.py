"""Single draws for chosen bits, against the ideal mechanism evaluated with 1,000 bits in decimal arithmetic."""

import math
import os
import random
from collections.abc import Callable
from decimal import Context, Decimal

import pytest
from gmpy2 import mpq

from app.dp.errors import DrawExhausted
from app.dp.mechanism import draw as draw_module
from app.dp.mechanism.draw import draw, first_bits, resolve_draw, round_to_grid
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.numbers.random_bits import SystemBits

CONTEXT = Context(prec=320)  # more than 1,000 bits
VERY_PRECISE = Context(prec=1400)  # more than the 4,096 bits of the longest draw
FIRST = 118 + 128

ROUNDING = [
    ("-1/2", "1", "0"),
    ("1/2", "1", "1"),
    ("-3/2", "1", "-1"),
    ("3/2", "1", "2"),
    ("7/2", "1", "4"),
    ("-5/2", "1", "-2"),
    ("-7/10", "1", "-1"),
    ("-3001/100", "4", "-32"),
    ("251/100", "1", "3"),
    ("0", "8", "0"),
    ("-2", "4", "0"),
    ("-3", "4", "-4"),
    ("2", "4", "4"),
    ("-13/50", "1/4", "-1/4"),
]


@pytest.mark.parametrize(("t", "grid", "rounded"), ROUNDING)
def test_rounding_to_the_grid(t: str, grid: str, rounded: str) -> None:
    assert round_to_grid(mpq(t), mpq(grid)) == mpq(rounded)


def test_rounding_numbers_that_no_double_can_hold() -> None:
    assert round_to_grid(mpq(1, 2**1020), mpq(128)) == 0
    assert round_to_grid(mpq(3 * 2**1020), mpq(2**1021)) == 2**1022


def ideal(x: mpq, parameters: Parameters, sign: int, u: int, length: int) -> mpq:
    """The mechanism's definition at U = (u + 1/2)/2^length, in decimal arithmetic and fractions."""
    minus_log = -mpq(CONTEXT.ln(CONTEXT.divide(Decimal(2 * u + 1), Decimal(2 ** (length + 1)))))
    t = min(max(x, -parameters.bound), parameters.bound) + sign * parameters.scale * minus_log
    nearest = parameters.grid * math.floor(t / parameters.grid + mpq(1, 2))
    return min(max(nearest, -parameters.bound), parameters.bound)


CASES = [
    derive_parameters(mpq(1), mpq(50)),
    derive_parameters(mpq(1, 2), mpq(100)),
    derive_parameters(mpq(7, 10), mpq(3, 7), mpq(1, 20), 4),
    derive_parameters(mpq(37, 1000), mpq(172)),
    derive_parameters(mpq(10), mpq(1)),
    derive_parameters(mpq(1, 10**9), mpq(2**40)),
    derive_parameters(mpq(1, 4), mpq(10**25)),  # more bits than usual
    derive_parameters(mpq(12), mpq(5), mpq(1), 30),
]


@pytest.mark.parametrize("parameters", CASES, ids=lambda p: f"epsilon {p.epsilon}")
def test_a_draw_is_the_ideal_mechanism_for_any_bits(
    parameters: Parameters, scripted_bits: Callable[..., object]
) -> None:
    numbers = random.Random(20260826)
    length = parameters.precision_bits + 128
    for _ in range(60):
        x = parameters.b_prime * mpq(numbers.randint(-(10**9), 10**9), 10**9)
        content = numbers.getrandbits(1001)
        # often a U near 0 or near 1
        content &= (1 << 1000 - numbers.choice((0, 0, 5, 40))) - 1 | numbers.getrandbits(1) << 1000
        content |= (1 << numbers.choice((0, 0, 990))) - 1
        sign = -1 if content >> 1000 else 1
        bits = scripted_bits(content, 1001)
        assert draw(x, parameters, bits) == ideal(x, parameters, sign, content % 2**1000, 1000)
        assert bits.calls == [1 + length]


def at_a_boundary(x: mpq, parameters: Parameters, cell: int, length: int) -> tuple[int, int]:
    """The sign and the first `length` bits of the U that brings x exactly to the boundary above `cell` grids."""
    c = VERY_PRECISE
    distance = (cell + mpq(1, 2)) * parameters.grid - x
    exponent = -abs(distance) / parameters.scale
    u = c.exp(c.divide(Decimal(int(exponent.numerator)), Decimal(int(exponent.denominator))))
    return (1 if distance > 0 else -1), int(c.multiply(u, Decimal(2**length)))


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("cell", [-3, 2])
def test_an_undecided_draw_appends_bits_until_it_is_decided(
    cell: int, rounds: int, scripted_bits: Callable[..., object]
) -> None:
    parameters, x = derive_parameters(mpq(7, 10), mpq(50)), mpq(1, 3)
    known = FIRST + 64 * (rounds - 1)
    sign, u = at_a_boundary(x, parameters, cell, known)
    for last in (0, 2**64 - 1):  # U just below, or just above, the one at the boundary
        bits = scripted_bits(((sign < 0) << known | u) << 64 | last, 1 + known + 64)
        drawn = draw(x, parameters, bits)
        assert bits.calls == [1 + FIRST] + [64] * rounds
        assert drawn == ideal(x, parameters, sign, u << 64 | last, known + 64)
        # a smaller U is a larger noise
        larger = cell + 1 if sign > 0 else cell
        assert drawn == parameters.grid * (larger if last == 0 else larger - sign)


def test_a_draw_that_stays_undecided_is_given_up(scripted_bits: Callable[..., object]) -> None:
    parameters, x = derive_parameters(mpq(7, 10), mpq(50)), mpq(1, 3)
    sign, u = at_a_boundary(x, parameters, 2, 4200)
    bits = scripted_bits((sign < 0) << 4200 | u, 4201)
    with pytest.raises(DrawExhausted):
        draw(x, parameters, bits)
    assert bits.calls == [1 + FIRST] + [64] * ((4096 - FIRST) // 64)


@pytest.mark.parametrize("sign_bit", [0, 1])
def test_u_zero_is_the_outer_clamp(sign_bit: int, scripted_bits: Callable[..., object]) -> None:
    # B is 57, the noise at u = 1 is 170: both ends are beyond the clamp.
    parameters = derive_parameters(mpq(1), mpq(50))
    bits = scripted_bits(sign_bit << FIRST, 1 + FIRST)
    assert draw(mpq(12), parameters, bits) == (-parameters.bound if sign_bit else parameters.bound)
    assert bits.calls == [1 + FIRST]


def test_u_zero_far_from_the_clamp_needs_more_bits(scripted_bits: Callable[..., object]) -> None:
    parameters = derive_parameters(mpq(1), mpq(5000))
    bits = scripted_bits(1 << 63, 1 + FIRST + 64)
    drawn = draw(mpq(0), parameters, bits)
    assert bits.calls == [1 + FIRST, 64]
    assert drawn == ideal(mpq(0), parameters, 1, 1 << 63, FIRST + 64)


@pytest.mark.parametrize("sign_bit", [0, 1])
def test_the_largest_u_adds_next_to_no_noise(sign_bit: int, scripted_bits: Callable[..., object]) -> None:
    parameters = derive_parameters(mpq(1), mpq(50))
    for x in (mpq(0), mpq(12), mpq(-7, 3), mpq(49999, 1000)):
        bits = scripted_bits(sign_bit << FIRST | 2**FIRST - 1, 1 + FIRST)
        assert draw(x, parameters, bits) == round_to_grid(x, parameters.grid)


@pytest.mark.parametrize("tie", [-3, -1, 1, 5])
def test_ties_of_the_statistic_itself(tie: int, scripted_bits: Callable[..., object]) -> None:
    # Continuous noise ends on a tie at U = 1 alone, so that no number of draws would show ties away from zero: the
    # upper end of this interval is x itself, and must be in the cell of what is just above it.
    parameters = derive_parameters(mpq(1), mpq(50))
    x = mpq(tie) * parameters.grid / 2
    upwards = scripted_bits(2**FIRST - 1, 1 + FIRST)
    assert draw(x, parameters, upwards) == x + parameters.grid / 2
    assert upwards.calls == [1 + FIRST]
    downwards = scripted_bits((2 ** (1 + FIRST) - 1) << 64, 1 + FIRST + 64)
    assert draw(x, parameters, downwards) == x - parameters.grid / 2


def test_a_statistic_outside_its_range_is_clamped_before_the_noise(scripted_bits: Callable[..., object]) -> None:
    parameters = derive_parameters(mpq(1), mpq(50))
    bits = scripted_bits(1 << FIRST | 1 << FIRST - 1, 1 + FIRST)
    assert draw(mpq(10**6), parameters, bits) == round_to_grid(parameters.bound - mpq("0.6931"), parameters.grid)


def test_every_draw_takes_the_same_bits(seeded_bits: Callable[..., object]) -> None:
    for parameters in CASES:
        bits = seeded_bits(7)
        for i in range(300):
            draw(parameters.b_prime * (i - 150) / 150, parameters, bits)
        assert bits.calls == [1 + parameters.precision_bits + 128] * 300


def test_a_draw_can_be_resolved_from_bits_already_drawn(seeded_bits: Callable[..., object]) -> None:
    parameters = derive_parameters(mpq(1), mpq(50))
    content = seeded_bits(3).bits(1 + FIRST)
    sign, u = (-1 if content >> FIRST else 1), content % 2**FIRST
    no_bits = seeded_bits(0)
    assert resolve_draw(mpq(1), parameters, sign, u, FIRST, no_bits) == draw(mpq(1), parameters, seeded_bits(3))
    assert no_bits.calls == []


def test_the_ends_of_an_interval_enclose_every_number_in_it() -> None:
    parameters = derive_parameters(mpq(7, 10), mpq(50), mpq(1, 20), 30)
    numbers = random.Random(5)
    for _ in range(50):
        x, length, sign = mpq(numbers.randint(-50, 50)), numbers.randint(246, 260), numbers.choice((1, -1))
        u = numbers.getrandbits(8)  # so few that the ends are far apart
        lowest, highest = draw_module._interval_ends(x, parameters, sign, u, length)
        for tail in (0, 2**63, 2**64 - 1):
            assert lowest <= ideal(x, parameters, sign, u << 64 | tail, length + 64) <= highest


def test_both_ends_are_rounded_outwards_in_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before they become releases: by then a step that is rounded inwards is hardly ever seen."""
    monkeypatch.setattr(draw_module, "_round_and_clamp", lambda t, *_: mpq(t))
    numbers = random.Random(9)
    for parameters in CASES[:4]:
        for length in (first_bits(parameters), first_bits(parameters) + 64):
            for _ in range(50):
                x, sign = parameters.b_prime * mpq(numbers.randint(-99, 99), 100), numbers.choice((1, -1))
                u = numbers.randint(1, 2 ** (length - numbers.choice((0, 0, 9, 200))) - 2)
                lowest, highest = draw_module._interval_ends(x, parameters, sign, u, length)
                exact = [
                    x / parameters.grid
                    + mpq(1, 2)
                    - sign * parameters.scale / parameters.grid * precise_log(each, length)
                    for each in (u, u + 1)
                ]
                assert lowest <= min(exact)
                assert max(exact) <= highest


def precise_log(u: int, length: int) -> mpq:
    """The logarithm of u/2^length, to more than 1,000 bits."""
    return mpq(CONTEXT.ln(CONTEXT.divide(Decimal(u), Decimal(2**length))))


def test_the_system_is_asked_for_bits_and_surplus_bits_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def urandom(octets: int) -> bytes:
        asked.append(octets)
        return bytes([0b10110011] * octets)

    monkeypatch.setattr(os, "urandom", urandom)
    assert SystemBits().bits(3) == 0b101
    assert SystemBits().bits(64) == int.from_bytes([0b10110011] * 8, "big")
    assert SystemBits().bits(247) < 2**247
    assert asked == [1, 8, 31]


def test_system_bits_are_not_all_the_same() -> None:
    assert len({SystemBits().bits(247) for _ in range(100)}) == 100
