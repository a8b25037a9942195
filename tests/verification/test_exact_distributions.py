"""The search for the ends of releases, on draws of few bits whose every outcome can be listed."""

from collections import Counter

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.mechanism.draw import round_to_grid
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.numbers.exact import down
from app.mechanism_audit import ideal
from app.mechanism_audit.agreement import is_carried, not_carried
from app.mechanism_audit.distribution import Distribution, ImpossibleRelease, bracket
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.tape import Tape, Undecided

LENGTH = 9


def coarse(x: mpq, parameters: Parameters, bits: Tape) -> mpq:
    """A draw of nine bits; of some, which are near the end of a release, it wants more than there are."""
    sign = 1 - 2 * bits.bits(1)
    u = bits.bits(LENGTH)
    low, high = (
        round_to_grid(x - sign * parameters.scale * mpq(down(200).log(mpq(max(end, mpq(1, 100)), 2**LENGTH))), 2)
        for end in (u, u + 1)
    )
    if low != high:
        bits.bits(1)
    return min(max(low, -parameters.bound), parameters.bound)


@pytest.mark.parametrize("x", [mpq(0), mpq(1), mpq(-1), mpq(7, 3)])
def test_probabilities_are_those_of_all_outcomes(x: mpq) -> None:
    parameters = derive_parameters(mpq(1), mpq(3))
    distribution = Distribution(x, parameters, coarse)
    listed: Counter[mpq | None] = Counter()
    for content in range(2 ** (1 + LENGTH)):
        try:
            listed[coarse(x, parameters, Tape(content, 1 + LENGTH))] += 1
        except Undecided:
            listed[None] += 1
    assert 0 < listed[None] < 40
    outermost = ideal.outermost_cell(parameters)
    found = {
        ideal.value_of(cell, parameters): distribution.probability(cell, LENGTH)
        for cell in range(-outermost, outermost + 1)
    }
    for value, probability in found.items():
        # What is open at a tie counts for no release for certain, and for every one perhaps.
        assert listed[value] - (abs(x) == 1) <= probability.lower * 2 ** (1 + LENGTH) <= listed[value]
        assert listed[value] <= probability.upper * 2 ** (1 + LENGTH) <= listed[value] + listed[None]
    for cell in range(-outermost, outermost + 1):
        above = [probability for value, probability in found.items() if value >= ideal.value_of(cell, parameters)]
        at_least = distribution.at_least(cell, LENGTH)
        assert (at_least.lower < at_least.upper) == (cell > -outermost)  # every end of a release is open
        assert sum(p.lower for p in above) <= at_least.upper
        assert at_least.lower <= sum(p.upper for p in above)


@given(st.integers(0, 200), st.integers(0, 300), st.integers(1, 200), st.sampled_from([1, 1, 4]))
def test_what_is_bracketed(first: int, guess: int, end: int, blur: int) -> None:
    asked = 0

    def holds(u: int) -> bool:
        nonlocal asked
        asked += 1
        assert 0 <= u < end
        return u >= first

    low, high = bracket(holds, guess, end, blur)
    assert low < min(first, end) <= high
    assert high - low <= blur or (low, high) == (-1, end)
    assert asked <= 24


def test_a_good_guess_needs_two_questions() -> None:
    asked: list[int] = []
    bracket(lambda u: asked.append(u) or u >= 10**70, 10**70, 2**300, 1)
    assert asked == [10**70, 10**70 - 1]


@pytest.mark.parametrize("wrong", [mpq(1, 3), mpq(9999), mpq(-10)])
def test_a_release_off_the_grid_or_beyond_the_bound_is_none(wrong: mpq) -> None:
    with pytest.raises(ImpossibleRelease):
        Distribution(mpq(0), derive_parameters(mpq(1), mpq(2)), lambda *_: wrong).release(1, 0, 246)


def test_a_tape_gives_its_bits_once() -> None:
    tape = Tape(0b1011001, 7)
    assert (tape.bits(3), tape.bits(2)) == (0b101, 0b10)
    with pytest.raises(Undecided):
        tape.bits(3)
    assert tape.bits(2) == 0b01
    assert Tape(0b1_0110_0111, 9).many(9, 1) == bytes([0b10110011, 0b10000000])


def test_ties_are_released_upwards() -> None:
    # x lies on the boundary below cell 1: with noise upwards nothing is below, with noise downwards U = 1 alone is not.
    parameters = derive_parameters(mpq(1), mpq(50))
    tie = Interval.point(mpq(1))
    assert [ideal.boundary(mpq(1), parameters, sign, 1, 300) for sign in (1, -1)] == [tie, tie]
    assert (is_carried(1, mpq(1), tie), is_carried(-1, mpq(1), tie)) == (True, False)
    assert (not_carried(1, mpq(1), tie), not_carried(-1, mpq(1), tie)) == (False, True)


def test_the_ideal_in_closed_form() -> None:
    parameters = derive_parameters(mpq(1), mpq(50))
    # From 0 up to the beginning of cell 2, at 3.
    boundary = ideal.boundary(mpq(0), parameters, 1, 2, 300)
    assert float(boundary.lower) == pytest.approx(2.718281828459045**-3, rel=1e-14)
    assert boundary.upper - boundary.lower < mpq(1, 2**290)
    assert ideal.boundary(mpq(10**6), parameters, 1, 29, 300) == ideal.boundary(
        parameters.bound, parameters, 1, 29, 300
    )
    assert ideal.value_of(29, parameters) == parameters.bound
    assert ideal.outermost_cell(parameters) == 29
    far = ideal.boundary(mpq(-(10**9)), derive_parameters(mpq(10), mpq(10**9)), 1, 0, 300)
    assert far.lower == 0 < far.upper < mpq(1, 2**300)
