"""The bias of a guess: known figures, the expectation summed over all releases, and the largest over the range."""

import pytest
from gmpy2 import mpq
from hypothesis import given, settings
from hypothesis import strategies as st

from app.dp.mechanism.bias import bias, largest_bias
from app.dp.mechanism.draw import draw
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.mechanism_audit import ideal
from app.mechanism_audit.distribution import Distribution
from app.mechanism_audit.intervals import Interval

GAMMA = mpq(1, 20)

# ε, B', guess, bias
KNOWN = [
    ("1/2", "100", "100", "-0.00120511652254362"),
    ("1/2", "100", "993/10", "0.091272336741694073"),
    ("1/2", "100", "0", "0"),
    ("1", "50", "-99/2", "-0.056225087955238557"),
    ("3/10", "4", "27/10", "0.042655565664238626"),
]


@pytest.mark.parametrize(("epsilon", "b_prime", "guess", "expected"), KNOWN)
def test_known_figures(epsilon: str, b_prime: str, guess: str, expected: str) -> None:
    found = bias(derive_parameters(mpq(epsilon), mpq(b_prime), GAMMA, 0), mpq(guess))
    assert abs(found - mpq(expected)) <= abs(mpq(expected)) / 10**16


def ends_of_expectation(x: mpq, parameters: Parameters) -> Interval:
    """E[z] - x from the probability of every release, by summation: z's lowest, and each step up where it is taken."""
    precision = 400
    outermost = ideal.outermost_cell(parameters)
    lower = upper = ideal.value_of(-outermost, parameters) - x
    for cell in range(-outermost + 1, outermost + 1):
        step = ideal.value_of(cell, parameters) - ideal.value_of(cell - 1, parameters)
        above = ideal.boundary(x, parameters, 1, cell, precision)
        below = ideal.boundary(x, parameters, -1, cell, precision)
        one, zero = mpq(1), mpq(0)
        lower += step * (max(min(above.lower, one), zero) + 1 - max(min(below.upper, one), zero)) / 2
        upper += step * (max(min(above.upper, one), zero) + 1 - max(min(below.lower, one), zero)) / 2
    return Interval(lower, upper)


FORMS = st.builds(
    derive_parameters,
    st.builds(mpq, st.integers(50, 4000), st.just(1000)),
    st.builds(mpq, st.integers(1, 300), st.integers(1, 20)),
    st.builds(mpq, st.integers(1, 20), st.just(20)),
    st.integers(0, 3),
)
SHARES = st.builds(mpq, st.integers(-1000, 1000), st.just(1000))


@given(FORMS, SHARES)
@settings(max_examples=60)
def test_it_is_the_expectation_over_all_releases(parameters: Parameters, share: mpq) -> None:
    x = share * parameters.b_prime
    expected = ends_of_expectation(x, parameters)
    slack = parameters.grid / 2**100
    assert expected.upper - expected.lower < slack
    assert expected.lower - slack <= bias(parameters, x) <= expected.upper + slack


@pytest.mark.parametrize("x", [mpq(0), mpq(7, 3), mpq(5, 2), mpq(-3)])
def test_it_is_the_expectation_of_the_draw_itself(x: mpq) -> None:
    """The probabilities are those that the code that draws has, found by asking it."""
    parameters = derive_parameters(mpq(1), mpq(3), GAMMA, 1)
    distribution = Distribution(x, parameters, draw)
    outermost, total = distribution.outermost, mpq(0)
    for cell in range(-outermost, outermost + 1):
        likely = distribution.probability(cell, distribution.length_for(cell, 60))
        total += (likely.lower + likely.upper) / 2 * ideal.value_of(cell, parameters)
    assert abs(total - x - bias(parameters, x)) < mpq(1, 2**50)


@given(FORMS, SHARES)
@settings(max_examples=100)
def test_it_is_odd_and_nowhere_larger_than_the_largest(parameters: Parameters, share: mpq) -> None:
    x = share * parameters.b_prime
    slack = parameters.grid / 2**100
    assert abs(bias(parameters, -x) + bias(parameters, x)) <= slack
    assert abs(bias(parameters, x)) <= largest_bias(parameters)


def test_the_largest_has_all_its_bits() -> None:
    """Of a number that a double cannot hold: it was rounded to one, and then 4e-19 too small."""
    parameters = derive_parameters(mpq(1, 20), mpq(1), mpq(1, 20), 2)
    reached = abs(bias(parameters, parameters.b_prime))
    assert 0 <= largest_bias(parameters) - reached <= parameters.grid / 2**98


@given(FORMS)
@settings(max_examples=40)
def test_the_largest_is_reached(parameters: Parameters) -> None:
    """On a fine mesh of the two outermost cells something comes close to it."""
    begin = max(parameters.b_prime - 2 * parameters.grid, mpq(0))
    mesh = [begin + (parameters.b_prime - begin) * i / 400 for i in range(401)]
    reached = max(abs(bias(parameters, x)) for x in mesh)
    assert reached >= largest_bias(parameters) * mpq(99, 100) - parameters.grid / 2**100


def test_a_guess_beyond_the_range_is_cut_to_it() -> None:
    parameters = derive_parameters(mpq(1, 2), mpq(100), GAMMA, 0)
    assert bias(parameters, mpq(10**9)) == bias(parameters, mpq(100)) != 0


@pytest.mark.parametrize("refinement", [0, 30])
@pytest.mark.parametrize("epsilon", ["1e-9", "10", "1000000"])
@pytest.mark.parametrize("b_prime", ["1/2", "4611686018427387904"])
def test_extremes(epsilon: str, b_prime: str, refinement: int) -> None:
    """Never more than half a grid and what the clamp may cut; no exponential overflows."""
    parameters = derive_parameters(mpq(epsilon), mpq(b_prime), GAMMA, refinement)
    most = largest_bias(parameters)
    assert 0 < most <= parameters.grid / 2 + parameters.scale
    assert abs(bias(parameters, parameters.b_prime * mpq(997, 1000))) <= most
