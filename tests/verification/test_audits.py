"""The audit of what serves releases, over parameters at random, and of the numbers that it reports."""

import functools

import pytest
from gmpy2 import mpq
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lengths import LONGER

from app.dp.mechanism.parameters import derive_parameters
from app.mechanism_audit import neighbours
from app.mechanism_audit.audit import audit
from app.mechanism_audit.privacy import loss
from app.mechanism_audit.report import EPSILONS
from app.mechanism_audit.subject import COUNTS, SINGLE, Implementation, Subject
from app.mechanism_audit.tails import clamp_probability, miss_probability

# Without shrinking, which would take minutes before the first case that fails is told.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
FAST = settings(max_examples=2, suppress_health_check=list(HealthCheck), phases=PHASES)
LONG = settings(FAST, max_examples=8 * LONGER)


def decimals(least: int, most: int) -> st.SearchStrategy[mpq]:
    """Numbers from 10^least to 10^most, of all magnitudes alike, with up to ten digits."""
    digits = st.integers(1, 10).flatmap(lambda n: st.integers(10 ** (n - 1), 10**n - 1).map(lambda d: mpq(d, 10**n)))
    return st.builds(lambda d, e: d * mpq(10) ** e, digits, st.integers(least + 1, most))


epsilons = decimals(-9, 3)
ranges = decimals(-1, 12).map(lambda b: max(b, mpq(1, 2)))
gammas = st.sampled_from([mpq(1, 20), mpq(1), mpq(1, 10**6)])
refinements = st.integers(0, 30)


E = 2.718281828459045
near = functools.partial(pytest.approx, rel=1e-12, abs=0)


def failures(findings: object) -> list[object]:
    return [finding for finding in findings if not finding.holds]


def check(
    epsilon: mpq, b_prime: mpq, gamma: mpq, refinement: int, implementation: Implementation, most_releases: int = 6
) -> None:
    if implementation.whole:
        b_prime = mpq(b_prime.__ceil__())
    assert failures(audit(epsilon, b_prime, gamma, refinement, implementation, most_releases)) == []


@pytest.mark.parametrize(
    ("epsilon", "b_prime", "refinement", "implementation"),
    [
        ("1/1000000000", "1/2", 0, SINGLE),
        ("1/1000000000", "1000000000000", 30, COUNTS),
        ("1", "50", 0, SINGLE),
        ("1000", "1", 30, COUNTS),
    ],
)
def test_nothing_exceeds_what_is_claimed_at_the_ends_of_what_can_be_asked(
    epsilon: str, b_prime: str, refinement: int, implementation: Implementation
) -> None:
    check(mpq(epsilon), mpq(b_prime), mpq(1, 20), refinement, implementation)


@FAST
@given(epsilons, ranges, gammas, refinements, st.sampled_from([SINGLE, COUNTS]))
def test_nothing_exceeds_what_is_claimed(
    epsilon: mpq, b_prime: mpq, gamma: mpq, refinement: int, implementation: Implementation
) -> None:
    check(epsilon, b_prime, gamma, refinement, implementation)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@LONG
@given(epsilons, ranges, gammas, refinements, st.sampled_from([SINGLE, COUNTS]))
def test_nothing_exceeds_what_is_claimed_in_many_cases(
    epsilon: mpq, b_prime: mpq, gamma: mpq, refinement: int, implementation: Implementation
) -> None:
    check(epsilon, b_prime, gamma, refinement, implementation)


def test_the_loss_of_releases_that_have_next_to_no_probability() -> None:
    # From one input 1,000 λ' away, a release has at most the probability e^-1000; further ones have e^-2000.
    parameters = derive_parameters(mpq(1000), mpq(10**12), mpq(1, 20), 30)
    subject = Subject(parameters, most_releases=4)
    assert subject.probability(parameters.b_prime, subject.selection(parameters.b_prime).cells[0]).upper < mpq(
        1, 10**800
    )
    found = loss(subject, parameters.b_prime, parameters.b_prime - 1)
    assert 1 / parameters.scale in found
    assert found.upper <= parameters.epsilon_prime


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("refinement", [0, 30])
def test_nothing_exceeds_what_is_claimed_where_releases_have_next_to_no_probability(refinement: int) -> None:
    check(mpq(1000), mpq(10**12), mpq(1, 20), refinement, SINGLE)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("epsilon", ["1/1000", "1", "1000000001/1000000000", "3"])
def test_every_release_is_examined_where_there_are_thousands(epsilon: str) -> None:
    assert failures(audit(mpq(epsilon), mpq(20), grid_refinement=4, most_releases=10**4)) == []


@settings(FAST, max_examples=1)
@given(epsilons, st.integers(2, 10**4), st.integers(1, 3))
def test_statistics_of_neighbours_lose_no_more_than_epsilon(epsilon: mpq, rows: int, rows_per_unit: int) -> None:
    assert failures(neighbours.findings(epsilon, rows, rows_per_unit)) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@LONG
@given(epsilons, st.integers(2, 10**9), st.integers(1, 20))
def test_statistics_of_neighbours_lose_no_more_than_epsilon_in_many_cases(
    epsilon: mpq, rows: int, rows_per_unit: int
) -> None:
    assert failures(neighbours.findings(epsilon, rows, rows_per_unit)) == []


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_loss_at_distance_one_is_exactly_that_of_the_noise(epsilon: mpq) -> None:
    parameters = derive_parameters(epsilon, mpq(10))
    found = loss(Subject(parameters), mpq(3), mpq(4))
    assert found.upper - found.lower < mpq(1, 2**300)
    assert 1 / parameters.scale in found
    assert found.upper <= parameters.epsilon_prime < epsilon


def test_the_loss_within_a_cell_is_less() -> None:
    # With ε = 1/100 the grid is 128: both inputs are rounded to 0, unless the noise is large.
    found = loss(Subject(derive_parameters(mpq(1, 100), mpq(50)), most_releases=0), mpq(0), mpq(1))
    assert found.upper < mpq(1, 100)


def test_clamps_and_tails_against_figures_worked_out_by_hand() -> None:
    # ε = 1, B' = 50: the grid is 2, B is 56.99, so that ±56.99 is released of what the noise carries beyond ±57.
    subject = Subject(derive_parameters(mpq(1), mpq(50)))
    assert float(clamp_probability(subject, mpq(50))) == near(0.5 * E**-7)
    assert float(clamp_probability(subject, mpq(0))) == near(E**-57)
    # Farther than 3 from 0 is what is rounded to 4 or -4 and beyond, from 3 on.
    assert float(miss_probability(subject, mpq(0), mpq(3)).upper) == near(E**-3)
    # Farther than 56 from 0 are ±56.99 alone, and nothing is farther than 57.
    assert float(miss_probability(subject, mpq(0), mpq(56)).upper) == near(E**-57)
    assert miss_probability(subject, mpq(0), mpq(57)).upper == 0


def test_every_kind_of_input_is_audited() -> None:
    subject = Subject(derive_parameters(mpq(1), mpq(50)))
    on_grid, between = ([x for x in subject.inputs() if (x / 2).denominator == denominator] for denominator in (1, 2))
    assert {mpq(0), mpq(2), mpq(50), mpq(-50)} <= set(on_grid)
    assert {mpq(1), mpq(-1), mpq(-49)} <= set(between)
    assert any(50 - mpq(1, 10**9) < x < 50 for x in subject.inputs())
    assert all(x.denominator == 1 for x in Subject(derive_parameters(mpq(1), mpq(50)), COUNTS).inputs())
    assert subject.pairs(mpq(1))
    assert all(abs(x - other) == 1 and abs(other) <= 50 for x, other in subject.pairs(mpq(1)))


def test_what_is_examined_of_many_releases_is_near_the_inputs_and_the_ends() -> None:
    subject = Subject(derive_parameters(mpq(10), mpq(10**6)))
    selection = subject.selection(mpq(10**6), mpq(10**6) - 1)
    outermost = selection.cells[-1]
    assert {outermost - 1, 8 * 10**6, 8 * 10**6 - 8} <= set(selection.cells)
    assert selection.total > 10**3 > len(selection.cells)
    assert outermost - selection.cells[0] > 1000  # as far as the noise can carry within 4,096 bits of U


def test_more_releases_than_are_all_examined_are_told() -> None:
    found = {finding.quantity: finding.examined for finding in audit(mpq(10), mpq(50), most_releases=10)}
    examined, total = found["ends of releases decided wrongly"].split(", ", 1)[1].removesuffix(" releases").split("/")
    assert int(examined.replace(",", "")) < int(total.replace(",", "")) == 8130
