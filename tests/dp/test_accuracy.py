"""Radii: known answers, rigour, and the tail that they promise, each against an evaluation in another arithmetic."""

import math
import random
from decimal import Context, Decimal

import pytest
from gmpy2 import mpq
from hypothesis import assume, given
from hypothesis import strategies as st

from app.dp.mechanism import accuracy
from app.dp.mechanism.accuracy import radius, tight_radius
from app.dp.mechanism.parameters import Parameters, derive_parameters

# ε, B', α, radius, tight radius at γ = 1/20
KNOWN = [
    ("1", "50", "1/20", "3.995732273553991", "3.9075467570862424"),
    ("7/10", "60", "1/100", "7.5788145514115591", "7.0"),
    ("3/10", "200", "1/10", "9.6752836433134856", "8.5046819921347524"),
    ("5/2", "9", "1/20", "1.4482929094215964", "1.2922056038179591"),
    ("37/1000", "172", "1/100", "140.46405908075923", "129.87161844933102"),
]
CONTEXT = Context(prec=150)
NEAR = mpq(1, 10**30)

EPSILONS = st.builds(mpq, st.integers(1, 10**13), st.just(10**9))
ALPHAS = st.one_of(
    st.builds(mpq, st.integers(1, 999), st.just(1000)),
    st.builds(lambda e: mpq(1, 10**e), st.integers(1, 60)),
    st.builds(lambda e: 1 - mpq(1, 10**e), st.integers(1, 40)),
)


def decimal(q: mpq) -> Decimal:
    return CONTEXT.divide(Decimal(int(q.numerator)), Decimal(int(q.denominator)))


def tail(parameters: Parameters, a: mpq) -> Decimal:
    """T of the documented mathematics: the largest probability, over all offsets, of an error above `a`."""
    c = CONTEXT
    grids = a / parameters.grid
    rho = parameters.grid / parameters.scale
    first = c.exp(decimal(-rho * (grids - mpq(1, 2))))
    second = c.exp(decimal(-rho * ((2 * grids).__floor__() - grids + mpq(1, 2))))
    return c.divide(c.add(first, second), 2)


@pytest.mark.parametrize(("epsilon", "b_prime", "alpha", "expected", "expected_tight"), KNOWN)
def test_known_answers(epsilon: str, b_prime: str, alpha: str, expected: str, expected_tight: str) -> None:
    parameters = derive_parameters(mpq(epsilon), mpq(b_prime))
    assert abs(radius(parameters, mpq(alpha)) / mpq(expected) - 1) < mpq(1, 10**12)
    assert abs(tight_radius(parameters, mpq(alpha)) / mpq(expected_tight) - 1) < mpq(1, 10**12)


@given(EPSILONS, st.integers(1, 10**7), ALPHAS, st.integers(0, 30))
def test_the_radius_is_an_upper_bound_and_next_to_the_truth(
    epsilon: mpq, b_prime: int, alpha: mpq, refinement: int
) -> None:
    parameters = derive_parameters(epsilon, mpq(b_prime), mpq(1, 20), refinement)
    logarithm = CONTEXT.ln(decimal(1 / alpha))
    truth = mpq(CONTEXT.multiply(logarithm, decimal(1 / parameters.epsilon_prime))) + parameters.grid / 2
    truth = min(truth, 2 * parameters.bound)
    slack = mpq(1, 10**60)  # the decimal evaluation has a rounding of its own
    assert truth * (1 - slack) <= radius(parameters, alpha) <= truth * (1 + NEAR)


@given(EPSILONS, st.integers(1, 10**7), ALPHAS, st.integers(0, 30))
def test_the_tight_radius_is_the_smallest_that_holds(epsilon: mpq, b_prime: int, alpha: mpq, refinement: int) -> None:
    parameters = derive_parameters(epsilon, mpq(b_prime), mpq(1, 20), refinement)
    tight = tight_radius(parameters, alpha)
    assert tight <= radius(parameters, alpha)
    assert tight <= parameters.bound + parameters.b_prime
    assume(tight < min(radius(parameters, alpha), parameters.bound + parameters.b_prime))
    assert tail(parameters, tight) <= decimal(alpha)
    slightly_less = tight * (1 - NEAR)
    assert slightly_less < parameters.grid / 2 or tail(parameters, slightly_less) > decimal(alpha)


@pytest.mark.parametrize("refinement", [0, 1, 3])
@pytest.mark.parametrize("alpha", [mpq(1, 5), mpq(1, 20), mpq(1, 1000)])
@pytest.mark.parametrize("epsilon", [mpq(1), mpq(7, 10), mpq(513, 1000)])
def test_no_offset_has_a_larger_tail_than_promised_and_some_offset_almost_has_it(
    epsilon: mpq, alpha: mpq, refinement: int
) -> None:
    parameters = derive_parameters(epsilon, mpq(10**6), mpq(1, 20), refinement)
    scale, grid = float(parameters.scale), float(parameters.grid)
    tight = float(tight_radius(parameters, alpha))

    def exceeds(offset: float) -> float:
        """How likely the nearest multiple of the grid to offset + noise is further than `tight` from the offset."""
        above = math.floor((offset + tight * (1 + 1e-12)) / grid) + 1  # the first multiple that is too far
        below = math.ceil((offset - tight * (1 + 1e-12)) / grid) - 1
        up, down = (above - 0.5) * grid - offset, offset - (below + 0.5) * grid
        return 0.5 * math.exp(-up / scale) + 0.5 * math.exp(-down / scale)

    tails = [exceeds(grid * i / 20_000) for i in range(20_000)]
    assert max(tails) <= float(alpha) * (1 + 1e-9)
    just_below = [exceeds_less for exceeds_less in tails if exceeds_less > 0.9 * float(alpha)]
    assert just_below or tight == pytest.approx(grid * round(2 * tight / grid) / 2)


def test_radii_hold_whatever_the_working_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    # With few bits every rounding counts, and one in the wrong direction shows.
    numbers = random.Random(1)
    for _ in range(2000):
        epsilon, alpha = mpq(numbers.randint(1, 10**10), 10**9), mpq(numbers.randint(1, 999), 1000)
        parameters = derive_parameters(epsilon, mpq(10**15), mpq(1, 20), numbers.choice((0, 1, 5)))
        truth = radius(parameters, alpha) * (1 - NEAR)
        precision = numbers.randint(3, 12)
        with monkeypatch.context() as patch:
            patch.setattr(accuracy, "_precision", lambda *_, bits=precision: bits)
            assert radius(parameters, alpha) >= truth
            assert tail(parameters, tight_radius(parameters, alpha)) <= decimal(alpha)


@pytest.mark.parametrize("digits", range(60, 90, 3))
@pytest.mark.parametrize("refinement", [0, 30])
def test_where_arcosh_loses_half_of_its_digits(refinement: int, digits: int) -> None:
    # An α next to e^(-ρm/2), where the tight radius is next to the notes'.
    parameters = derive_parameters(mpq(7, 10), mpq(10**6), mpq(1, 20), refinement)
    exactly = mpq(CONTEXT.exp(decimal(-parameters.grid / parameters.scale / 2)))
    alpha = mpq((exactly * 10**digits).__ceil__(), 10**digits)
    tight = tight_radius(parameters, alpha)
    assert tight <= radius(parameters, alpha)
    assert tail(parameters, tight) <= decimal(alpha) < tail(parameters, tight * (1 - NEAR))


@pytest.mark.parametrize("alpha", [mpq(0), mpq(1), mpq(-1, 2)])
def test_alpha_is_a_probability(alpha: mpq) -> None:
    parameters = derive_parameters(mpq(1), mpq(10))
    with pytest.raises(ValueError, match="alpha"):
        radius(parameters, alpha)
    with pytest.raises(ValueError, match="alpha"):
        tight_radius(parameters, alpha)


def test_no_radius_exceeds_what_the_clamps_allow() -> None:
    parameters = derive_parameters(mpq(1, 10**9), mpq(3))
    alpha = mpq(1, 10**30)
    assert radius(parameters, alpha) == 2 * parameters.bound
    assert tight_radius(parameters, alpha) == parameters.bound + parameters.b_prime
