"""The smallest ε for an accuracy: known answers, and that one unit less does not do."""

import statistics

import pytest
from gmpy2 import mpq
from hypothesis import given, settings
from hypothesis import strategies as st

from app.dp.errors import AccuracyTrivial
from app.dp.mechanism import planning
from app.dp.mechanism.accuracy import radius
from app.dp.mechanism.mechanism import DEFAULT_REFINEMENT
from app.dp.mechanism.parameters import WHOLE, Refinement, derive_parameters
from app.dp.mechanism.planning import UNIT, minimal_epsilon, next_cliff

GAMMA = mpq(1, 20)

# accuracy, α, B', ε
KNOWN = [
    ("1", "1/20", "50", "3.994309699"),
    ("2", "1/20", "50", "1.997154850"),
    ("7/2", "1/20", "50", "1.000000001"),
    ("5", "1/20", "50", "0.748933069"),
    ("7", "1/20", "50", "0.500000001"),
    ("7/5", "1/2", "50", "1.000000001"),
    ("1/100", "1/20", "50", "372.285175743"),
    ("250", "1/20", "500", "0.015625001"),
    ("10", "1/100", "50", "0.511685577"),
]


@pytest.mark.parametrize(("accuracy", "alpha", "b_prime", "epsilon"), KNOWN)
def test_known_answers(accuracy: str, alpha: str, b_prime: str, epsilon: str) -> None:
    assert minimal_epsilon(mpq(accuracy), mpq(alpha), mpq(b_prime), GAMMA, 0) == mpq(epsilon)


def assert_minimal(
    epsilon: mpq, accuracy: mpq, alpha: mpq, b_prime: mpq, gamma: mpq, refinement: int, mechanisms: int
) -> None:
    assert (epsilon / UNIT).denominator == 1
    assert epsilon >= UNIT
    assert radius(derive_parameters(epsilon / mechanisms, b_prime, gamma, refinement), alpha) <= accuracy
    if epsilon > UNIT:
        less = (epsilon - UNIT) / mechanisms
        assert radius(derive_parameters(less, b_prime, gamma, refinement), alpha) > accuracy


@given(
    n=st.integers(2, 2**62),
    share=st.builds(lambda digits, e: mpq(digits, 1000) / 10**e, st.integers(1, 999), st.integers(0, 30)),
    alpha=st.builds(mpq, st.integers(1, 99_999), st.just(100_000)),
    gamma=st.builds(mpq, st.integers(1, 100), st.just(100)),
    refinement=st.integers(0, 30),
    mechanisms=st.sampled_from([1, 1, 2, 6, 2000]),
)
@settings(max_examples=100)
def test_the_minimal_epsilon_attains_and_a_unit_less_does_not(
    *, n: int, share: mpq, alpha: mpq, gamma: mpq, refinement: int, mechanisms: int
) -> None:
    b_prime = mpq(n, 2)
    accuracy = share * 2 * b_prime
    epsilon = minimal_epsilon(accuracy, alpha, b_prime, gamma, refinement, mechanisms)
    assert_minimal(epsilon, accuracy, alpha, b_prime, gamma, refinement, mechanisms)


@pytest.mark.parametrize("alpha", [mpq(1, 20), mpq(1, 10**999), 1 - mpq(1, 10**40)])
@pytest.mark.parametrize("exponent", [-40, -20, -3, 6])
@pytest.mark.parametrize("refinement", [0, 30])
def test_extreme_accuracies(alpha: mpq, exponent: int, refinement: int) -> None:
    accuracy, b_prime = mpq(10) ** exponent, mpq(10**7)
    epsilon = minimal_epsilon(accuracy, alpha, b_prime, GAMMA, refinement)
    assert_minimal(epsilon, accuracy, alpha, b_prime, GAMMA, refinement, 1)


def test_an_easy_accuracy_costs_one_unit() -> None:
    assert minimal_epsilon(mpq(10**12), mpq(1, 20), mpq(10**13), GAMMA, 0) == UNIT


def test_the_mechanisms_share_epsilon_before_it_is_rounded() -> None:
    shared = minimal_epsilon(mpq(10), mpq(1, 20), mpq(500), GAMMA, 0, mechanisms=6)
    alone = minimal_epsilon(mpq(10), mpq(1, 20), mpq(500), GAMMA, 0)
    assert 6 * (alone - UNIT) < shared < 6 * alone


@pytest.mark.parametrize("start", [1, 4, 5, 6, 40])
@pytest.mark.parametrize("least", [1, 5])
def test_the_search_ends_at_the_smallest_from_either_side(start: int, least: int) -> None:
    assert planning._smallest(lambda epsilon: epsilon >= least * UNIT, start * UNIT) == least * UNIT


def test_what_the_range_answers_is_refused() -> None:
    with pytest.raises(AccuracyTrivial):
        minimal_epsilon(mpq(100), mpq(1, 20), mpq(50), GAMMA, 0)
    with pytest.raises(ValueError, match="positive"):
        minimal_epsilon(mpq(0), mpq(1, 20), mpq(50), GAMMA, 0)


@pytest.mark.parametrize(
    ("epsilon", "cliff"),
    [
        ("1", "1.000000001"),
        ("1.000000001", "2.000000001"),
        ("0.7", "1.000000001"),
        ("1e-9", "2e-9"),
        ("10", "16.000000001"),
    ],
)
def test_known_cliffs(epsilon: str, cliff: str) -> None:
    assert next_cliff(mpq(epsilon), mpq(50), GAMMA, 0) == mpq(cliff)


@given(
    st.builds(mpq, st.integers(1, 10**15), st.just(10**9)),
    st.integers(1, 2**62),
    st.integers(0, 30),
    st.sampled_from([1, 2, 10]),
)
def test_the_grid_is_finer_at_the_cliff_and_not_a_unit_before(
    epsilon: mpq, b_prime: int, refinement: int, mechanisms: int
) -> None:
    cliff = next_cliff(epsilon, mpq(b_prime), GAMMA, refinement, mechanisms)

    def grid(total: mpq) -> mpq:
        return derive_parameters(total / mechanisms, mpq(b_prime), GAMMA, refinement).grid

    assert cliff > epsilon
    assert grid(cliff) < grid(epsilon)
    assert grid(cliff - UNIT) == grid(epsilon)


@pytest.mark.parametrize("accuracy", ["1e-60", "1e-100", "1e-999"])
def test_an_accuracy_out_of_reach_is_told_at_once(accuracy: str) -> None:
    """The search by units did not end where a unit is less than the parameters resolve."""
    epsilon = minimal_epsilon(mpq(accuracy), mpq(1, 20), mpq(50), mpq(1, 20), 0)
    assert epsilon * mpq(accuracy) > 3  # ln 20, and half a grid
    assert epsilon * mpq(accuracy) < 5


def savings(refinement: Refinement) -> list[float]:
    """By which part ε is smaller than on the notes' grid, for radii from 5 to 320 sensitivities at α = 0.05."""

    def epsilon(accuracy: mpq, grid: Refinement) -> mpq:
        return minimal_epsilon(accuracy, mpq(1, 20), mpq(1000), GAMMA, grid)

    radii = [mpq(round(5 * 2 ** (step / 16) * 1000), 1000) for step in range(6 * 16)]
    return [float(1 - epsilon(each, refinement) / epsilon(each, 0)) for each in radii]


def test_the_default_grid_of_a_mean_takes_14_to_25_percent_less() -> None:
    """Between 1/(1 + 2L) and 1/(1 + L) with L = ln 20, less what is left of the grid."""
    saved = savings(DEFAULT_REFINEMENT)
    assert 0.1428 < min(saved) < 0.15
    assert 0.24 < max(saved) < 0.2503


def test_the_default_grid_of_a_count_takes_at_least_15_percent_less() -> None:
    """In the median: as much as of a mean, less what a grid of 1 takes."""
    saved = savings(WHOLE)
    assert statistics.median(saved) > 0.15
    assert min(saved) > 0.07
    assert min(saved[16:]) > 0.11  # from a radius of 10 on
