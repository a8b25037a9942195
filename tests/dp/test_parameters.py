"""The parameters against the known answers, and against an evaluation in another arithmetic (decimal)."""

import math
from decimal import Context, Decimal

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.mechanism.accuracy import radius
from app.dp.mechanism.parameters import ceil_log2, derive_parameters, power_of_two_at_least

# ε, B', γ, α, λ', Λ', B, a(α)
KNOWN = [
    ("1", "50", "1/20", "1/20", "1.0", "2", "56.99146454710800061587425", "3.995732273553991"),
    (
        "1000000001/1000000000",
        "50",
        "1/20",
        "1/20",
        "0.999999999000000001",
        "1",
        "56.99146454011653607575771",
        "3.4957322705582587",
    ),
    ("1/2", "100", "1/20", "1/20", "2.0", "4", "113.9829290942160012317485", "7.991464547107982"),
    ("1/10", "172", "1/20", "1/20", "10.0", "16", "241.9146454710800061587425", "37.95732273553991"),
    ("3", "5", "1/20", "1/20", "0.3333333333333333333333333", "1/2", "7.330488182369333538624749", "1.248577424517997"),
    (
        "1/1000000000",
        "50",
        "1/20",
        "1/20",
        "1000000000.0",
        "1073741824",
        "6991464597.108000615874246",
        "3532603185.553991",
    ),
    (
        "1/4",
        "1000000000000",
        "1/20",
        "1/20",
        "4.000000000000000000000144",
        "8",
        "1000000000027.965858188432",
        "15.982929094215964",
    ),
    (
        "7/10",
        "50",
        "1/100",
        "1/100",
        "1.428571428571428571428571",
        "2",
        "64.58620053139458563126271",
        "7.5788145514115591",
    ),
    ("10", "1", "1/20", "1/20", "0.1", "1/8", "1.699146454710800061587425", "0.3620732273553991"),
    (
        "333333333/1000000000",
        "25",
        "1/20",
        "1/20",
        "3.000000003000000003",
        "4",
        "45.97439366229839550992113",
        "10.98719682964917",
    ),
]
EXACT = Context(prec=220)


def decimal(q: mpq) -> Decimal:
    return EXACT.divide(Decimal(int(q.numerator)), Decimal(int(q.denominator)))


def close(q: mpq, text: str) -> bool:
    return abs(q - mpq(text)) <= abs(mpq(text)) * mpq(1, 10**12)


@pytest.mark.parametrize(("epsilon", "b_prime", "gamma", "alpha", "scale", "grid", "bound", "accuracy"), KNOWN)
def test_known_answers(
    *, epsilon: str, b_prime: str, gamma: str, alpha: str, scale: str, grid: str, bound: str, accuracy: str
) -> None:
    parameters = derive_parameters(mpq(epsilon), mpq(b_prime), mpq(gamma))
    assert parameters.precision_bits == 118
    assert close(parameters.epsilon_prime, epsilon)
    assert close(parameters.scale, scale)
    assert parameters.coarse_grid == parameters.grid == mpq(grid)
    assert close(parameters.bound, bound)
    assert close(radius(parameters, mpq(alpha)), accuracy)


def test_at_epsilon_one_the_noise_is_just_above_one_and_the_grid_two() -> None:
    parameters = derive_parameters(mpq(1), mpq(50))
    assert parameters.epsilon_prime < 1 < parameters.scale < 1 + mpq(1, 2**100)
    assert parameters.grid == 2


@given(
    st.builds(mpq, st.integers(1, 10**16), st.just(10**9)),
    st.builds(lambda digits, e: mpq(digits, 1000) * 2**e, st.integers(1, 1000), st.integers(0, 100)),
    st.builds(mpq, st.integers(1, 10**6), st.just(10**6)),
    st.integers(0, 30),
)
def test_every_parameter_is_on_its_side_of_the_truth_and_next_to_it(
    epsilon: mpq, b_prime: mpq, gamma: mpq, refinement: int
) -> None:
    parameters = derive_parameters(epsilon, b_prime, gamma, refinement)
    c = EXACT
    half_k = (1 + mpq(12, 2**52)) / (epsilon - mpq(1, 2**117))
    bound = b_prime + half_k * (1 + 2 * mpq(c.ln(decimal(1 / gamma))))
    close_to_one = mpq(1, 2**200)
    assert bound * (1 - mpq(1, 2**600)) <= parameters.bound <= bound * (1 + close_to_one)

    m = 0
    while mpq(2) ** -m < epsilon:
        m -= 1
    while mpq(2) ** -(m + 1) >= epsilon:
        m += 1
    ceiling = next(e for e in range(-200, 200) if mpq(2) ** e >= parameters.bound)
    assert parameters.precision_bits == max(118, m + 2, 52 + ceiling)
    eta = mpq(1, 2**parameters.precision_bits)
    assert parameters.bound * eta <= mpq(1, 2**52)

    true_epsilon_prime = (epsilon - 2 * eta) / (1 + 12 * parameters.bound * eta)
    assert true_epsilon_prime * (1 - close_to_one) <= parameters.epsilon_prime <= true_epsilon_prime
    assert 1 / parameters.epsilon_prime <= parameters.scale <= (1 + close_to_one) / parameters.epsilon_prime
    assert parameters.coarse_grid / 2 < parameters.scale <= parameters.coarse_grid
    assert math.log2(parameters.coarse_grid).is_integer()
    assert parameters.grid * 2**refinement == parameters.coarse_grid
    # what the theorem needs: ε'(1 + 12Bη) + 2η within ε
    assert parameters.epsilon_prime * (1 + 12 * parameters.bound * eta) + 2 * eta <= epsilon


@pytest.mark.parametrize("exponent", [-1080, -3, -1, 0, 1, 64, 1030])
def test_powers_of_two_are_exact_also_beside_a_power(exponent: int) -> None:
    power = mpq(2) ** exponent
    tiny = power / 10**400
    assert power_of_two_at_least(power) == power
    assert power_of_two_at_least(power - tiny) == power
    assert power_of_two_at_least(power + tiny) == 2 * power
    assert ceil_log2(power) == exponent


@pytest.mark.parametrize(
    ("epsilon", "b_prime", "gamma", "refinement"),
    [
        (mpq(0), mpq(1), mpq(1, 20), 0),
        (mpq(-1), mpq(1), mpq(1, 20), 0),
        (mpq(1), mpq(0), mpq(1, 20), 0),
        (mpq(1), mpq(1), mpq(0), 0),
        (mpq(1), mpq(1), mpq(11, 10), 0),
        (mpq(1), mpq(1), mpq(1, 20), -1),
        (mpq(1), mpq(1), mpq(1, 20), 31),
    ],
)
def test_impossible_parameters_are_refused(epsilon: mpq, b_prime: mpq, gamma: mpq, refinement: int) -> None:
    with pytest.raises(ValueError, match="must"):
        derive_parameters(epsilon, b_prime, gamma, refinement)


def test_gamma_one_needs_no_logarithm() -> None:
    parameters = derive_parameters(mpq(1), mpq(10), mpq(1))
    assert close(parameters.bound, "11.00000000000000266453525910037569701671")
