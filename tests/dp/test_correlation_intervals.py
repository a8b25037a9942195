"""The interval of a correlation: it holds as often as it says, and is not wider than by interval arithmetic."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from exact_errors import error_distribution
from gmpy2 import mpq

from app.dp.derived import derive
from app.dp.derived.base import reach_of
from app.dp.derived.correlation_interval import Release, _Error, _Piece, bound_correlation, divide_ranges
from app.dp.derived.interval_arithmetic import Range, ends, square_root_up
from app.dp.mechanism.mechanism import AUTO, GridRefinement, Mechanism
from app.dp.mechanism.noise_sums import sum_quantile
from app.dp.mechanism.ratio_accuracy import pair_quantile
from app.dp.mechanism.sum_accuracy import clamp_probability
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind

ALPHA = mpq(1, 20)
COLUMNS = {name: Column(name, Kind.INTEGER, (mpq(0), mpq(100)), nullable=False) for name in "xy"}
Releases = tuple[Release, Release, Release]


def mechanisms(n: int, epsilons: tuple[Any, ...], refinement: GridRefinement = AUTO) -> list[Mechanism]:
    components = derive({"kind": "correlation", "columns": ("x", "y")}, COLUMNS, n, 1).components.values()
    statistics = [build(asked, COLUMNS, n, 1) for asked in components]
    return [
        Mechanism.for_epsilon(statistic, mpq(epsilon), mpq(1, 20), refinement)
        for statistic, epsilon in zip(statistics, epsilons, strict=True)
    ]


def released(mechanism: Mechanism, value: mpq, alpha: mpq) -> Release:
    statistic, reach = mechanism.statistic, reach_of(mechanism, alpha / 3)
    within = min(max(value, statistic.lower), statistic.upper)
    return Release(value, Range(within - reach, within + reach).cut(statistic.lower, statistic.upper), mechanism)


@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1e-30"])
def test_the_quantile_of_a_sum_of_noises(alpha: str) -> None:
    """Of equal scales P = (1 + 5v/8 + v²/8)·e^-v; of two, as of a ratio; and the order does not matter."""
    wanted = float(mpq(alpha))
    equal = float(sum_quantile([mpq(2)] * 3, mpq(alpha))) / 2
    tail = (1 + 5 * equal / 8 + equal**2 / 8) * math.exp(-equal)
    assert wanted * 0.9 <= tail <= wanted * (1 + 1e-9)
    for s, t in ((mpq(3), mpq(1)), (mpq(1, 100), mpq(5)), (mpq(1), mpq(1, 10**30))):
        pair = pair_quantile(s, t, mpq(alpha))
        for scales in ([s, t, mpq(0)], [t, mpq(0), s]):
            assert float(sum_quantile(scales, mpq(alpha))) == pytest.approx(float(pair), rel=1e-6)
    assert sum_quantile([mpq(7)], mpq(alpha)) == pytest.approx(-7 * math.log(wanted), rel=1e-6)


def test_it_is_not_wider_than_by_ranges() -> None:
    """Whatever is released, unless the ranges contradict each other; and mostly by a third narrower."""
    rng, n, ratios = random.Random(1), 50_000, []
    for _ in range(60):
        three = mechanisms(n, tuple(mpq(rng.choice((1, 2, 4, 8)), 100) for _ in range(3)))
        x, y = (
            min(mpq(rng.choice((rng.uniform(3, 7), rng.uniform(2, 60)))) * reach_of(each, ALPHA / 3), mpq(2400))
            for each in three[1:]
        )
        covariance = mpq(rng.uniform(-1.2, 1.2)) * square_root_up(x * y)
        releases = [released(each, value, ALPHA) for each, value in zip(three, (covariance, x, y), strict=True)]
        least, most = ends(divide_ranges(*(each.range for each in releases)))
        low, high = ends(bound_correlation(releases[0], releases[1], releases[2], ALPHA))
        if least < most:
            assert least - mpq(1, 10**6) <= low <= high <= most + mpq(1, 10**6)
            ratios.append((high - low) / (most - least))
    assert sorted(ratios)[len(ratios) // 2] < 0.8


@pytest.mark.parametrize("alpha", ["1/2", "1/5", "1/20"])
@pytest.mark.parametrize("refinement", [0, 3])
@pytest.mark.parametrize(
    ("truth", "epsilons"), [(("2500", "2500", "2500"), (8, 4, 4)), (("-1000", "5000", "1250"), (8, 2, 16))]
)
def test_the_three_errors_together_are_within_their_reach(
    truth: tuple[str, str, str], epsilons: tuple[int, int, int], refinement: int, alpha: str
) -> None:
    """By their exact distributions, and not much more often than is said: without one of them, they would not be."""
    three, exact = mechanisms(3, epsilons, refinement), [mpq(each) for each in truth]
    offsets = [mpq(49, 100), mpq(51, 100), mpq(51, 100)]  # of the grid: near a tie
    errors, chances = [], []
    for mechanism, value, offset in zip(three, exact, offsets, strict=True):
        unit, grid = mechanism.sensitivity, mechanism.parameters.grid
        x = (value - mechanism.statistic.centre) / unit // grid * grid + offset * grid
        found = error_distribution(mechanism.parameters, x)
        errors.append(found[0] * float(unit))
        chances.append(found[1])
    rho = math.copysign(0.5, exact[0]) if abs(exact[0]) < 2000 else 1.0
    root = mpq(math.sqrt(exact[2] / exact[1]))
    covariance, x, y = (released(each, value, mpq(alpha)) for each, value in zip(three, exact, strict=True))
    beyond = math.prod(1 + clamp_probability(each.parameters, 256) for each in three)
    piece = _Piece.between(root, root, x, y)
    bound = _Error(covariance.value, covariance.scale, covariance.slack, (piece,), mpq(alpha) / beyond)
    reach = float(bound.reach(mpq(rho), piece))
    other = -rho / 2 * np.add.outer(float(root) * errors[1], errors[2] / float(root)).reshape(-1)
    total = np.abs(np.add.outer(errors[0], other))
    probability = np.multiply.outer(chances[0], np.multiply.outer(chances[1], chances[2]).reshape(-1))
    missed = probability[total > reach + 1e-9].sum()
    assert missed <= float(mpq(alpha)) + 1e-12
    if refinement:
        assert missed >= float(mpq(alpha)) / 2


# n, the covariance and both variances, the ε, and α: n = 2 with ρ = 1 and -1, a variance near 0, ρ = 0 and 1/2.
SMALL: list[tuple[int, tuple[str, str, str], tuple[int, int, int], str]] = [
    (2, ("5000", "5000", "5000"), (60, 90, 90), "1/5"),
    (2, ("-5000", "5000", "5000"), (60, 90, 90), "1/5"),
    (2, ("50", "1/2", "5000"), (20, 20, 20), "1/2"),
    (4, ("1250", "2500", "2500"), (80, 120, 120), "1/5"),
    (4, ("0", "2500", "2500"), (80, 120, 120), "1/5"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "truth", "epsilons", "alpha"), SMALL)
def test_it_holds_as_often_as_it_says(
    n: int, truth: tuple[str, str, str], epsilons: tuple[int, int, int], alpha: str
) -> None:
    """The exact probability, over all that can be released; what is less probable than 1e-6 counts as a miss."""
    three, exact = mechanisms(n, epsilons, 0), [mpq(each) for each in truth]
    outcomes = []
    for mechanism, value in zip(three, exact, strict=True):
        statistic, unit = mechanism.statistic, float(mechanism.sensitivity)
        offset = (value - statistic.centre) / mechanism.sensitivity
        errors, chances = error_distribution(mechanism.parameters, offset)
        likely = np.nonzero(chances > 1e-4)[0]
        outcomes.append(
            [(released(mechanism, value + mpq(float(errors[i]) * unit), mpq(alpha)), chances[i]) for i in likely]
        )
    rho, held, narrower = float(exact[0]) / math.sqrt(float(exact[1] * exact[2])), 0.0, 0
    for (covariance, p), (x, q), (y, r) in itertools.product(*outcomes):
        if p * q * r > 1e-6:
            low, high = ends(bound_correlation(covariance, x, y, mpq(alpha)))
            held += p * q * r * (low - mpq(1, 10**9) <= rho <= high + mpq(1, 10**9))
            narrower += ends(divide_ranges(covariance.range, x.range, y.range)) != (low, high)
    assert held >= 1 - float(mpq(alpha))
    assert narrower > 0 or n == 2
