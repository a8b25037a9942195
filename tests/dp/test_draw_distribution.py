"""Many draws against the exact probabilities of the ideal mechanism, and the same test against broken mechanisms.

A count is wrong when the binomial probability of one so small, or of one so large, is below 10⁻⁶/(2·cells·cases): the
false alarm of the whole file is below 10⁻⁶, and the seed is fixed besides.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from gmpy2 import mpq

from app.dp.mechanism.draw import draw
from app.dp.mechanism.parameters import Parameters, derive_parameters

DRAWS = 20_000
FALSE_ALARM = 1e-6

CASES = {
    "epsilon 1": (derive_parameters(mpq(1), mpq(4)), mpq(4, 3)),
    "at the bound": (derive_parameters(mpq(7, 10), mpq(2)), mpq(-2)),
    "fine grid": (derive_parameters(mpq(3), mpq(2), mpq(1, 20), 2), mpq(1, 10)),
}


def probabilities(parameters: Parameters, x: mpq) -> dict[mpq, float]:
    """The exact probability of each release of the ideal mechanism, cells with next to nothing joined at the clamp."""
    scale, grid = 1 / float(parameters.epsilon_prime), parameters.grid

    def below(t: mpq) -> float:
        distance = float(t - x) / scale
        return 0.5 * math.exp(distance) if distance < 0 else 1 - 0.5 * math.exp(-distance)

    outermost = math.ceil(parameters.bound / grid) - 1  # the last multiple strictly inside the clamp
    inside = {
        k * grid: below((k + mpq(1, 2)) * grid) - below((k - mpq(1, 2)) * grid)
        for k in range(-outermost, outermost + 1)
    }
    inside[-parameters.bound] = below(-(outermost + mpq(1, 2)) * grid)
    inside[parameters.bound] = 1 - below((outermost + mpq(1, 2)) * grid)
    return inside


def tails(count: int, probability: float) -> tuple[float, float]:
    """The probabilities that a binomial of all draws is at most, and at least, `count`."""

    def mass(k: int) -> float:
        ways = math.lgamma(DRAWS + 1) - math.lgamma(k + 1) - math.lgamma(DRAWS - k + 1)
        return math.exp(ways + k * math.log(probability) + (DRAWS - k) * math.log1p(-probability))

    return sum(map(mass, range(count + 1))), sum(map(mass, range(count, DRAWS + 1)))


def surprises(mechanism: Callable[..., mpq], case: str, bits: object) -> list[mpq]:
    """The releases whose number is too improbable, or that cannot be."""
    parameters, x = CASES[case]
    expected = probabilities(parameters, x)
    assert math.isclose(sum(expected.values()), 1)
    counts = Counter(mechanism(x, parameters, bits) for _ in range(DRAWS))
    limit = FALSE_ALARM / (2 * len(expected) * len(CASES))
    wrong = [z for z, probability in expected.items() if min(tails(counts[z], probability)) < limit]
    return wrong + [z for z in counts if z not in expected]


@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_probabilities_of_the_ideal_mechanism(case: str, seeded_bits: Callable[[int], object]) -> None:
    assert surprises(draw, case, seeded_bits(20121016)) == []


class WithoutSign:
    """Bits whose first is always 0."""

    def __init__(self, bits: object) -> None:
        self.source = bits

    def bits(self, count: int) -> int:
        return self.source.bits(count) >> 1


def coarser(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x, replace(parameters, grid=2 * parameters.grid), bits)


def finer(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x, replace(parameters, grid=parameters.grid / 2), bits)


def without_sign(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x, parameters, WithoutSign(bits))


def grid_from_epsilon(x: mpq, parameters: Parameters, bits: object) -> mpq:
    """λ' = 1/ε, a double, and its grid: at ε = 1 the grid is 1."""
    scale = 1 / parameters.epsilon
    return draw(x, replace(parameters, scale=scale, grid=scale), bits)


def without_outer_clamp(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x, replace(parameters, bound=parameters.bound * 10), bits)


def scale_of_two_epsilon(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x, replace(parameters, scale=parameters.scale / 2), bits)


def shifted_by_a_twentieth(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x + parameters.grid / 20, parameters, bits)


def rounded_down(x: mpq, parameters: Parameters, bits: object) -> mpq:
    return draw(x - parameters.grid / 2, parameters, bits)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant",
    [
        coarser,
        finer,
        without_sign,
        grid_from_epsilon,
        without_outer_clamp,
        scale_of_two_epsilon,
        shifted_by_a_twentieth,
        rounded_down,
    ],
)
def test_the_same_test_catches_a_broken_mechanism(
    mutant: Callable[..., mpq], seeded_bits: Callable[[int], object]
) -> None:
    assert surprises(mutant, "epsilon 1", seeded_bits(20121016))
