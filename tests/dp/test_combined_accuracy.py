"""Sums and ratios of released numbers: their intervals against exact distributions on small ranges."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from exact_errors import error_distribution
from gmpy2 import mpq

from app.dp.mechanism import ratio_accuracy
from app.dp.mechanism.accuracy import tight_radius
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.mechanism.ratio_accuracy import RatioError, pair_quantile
from app.dp.mechanism.sum_accuracy import clamp_probability, sum_radius
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind

ALPHAS = [mpq(1, 2), mpq(1, 20), mpq(1, 1000)]


@pytest.mark.parametrize("epsilon", ["1/2", "3", "1/10"])
@pytest.mark.parametrize("gamma", ["1/20", "1"])
@pytest.mark.parametrize("refinement", [0, "whole", 3])
def test_a_sum_is_within_its_radius_as_often_as_is_said(epsilon: str, gamma: str, refinement: int | str) -> None:
    parameters = derive_parameters(mpq(epsilon), mpq(5), mpq(gamma), refinement)  # type: ignore[arg-type]
    offsets = [mpq(5), mpq(-5), mpq(0), mpq(3)]
    on_grid = parameters.grid <= 1
    if not on_grid:
        offsets += [min(mpq(5), parameters.grid * part) for part in (mpq(1, 2), mpq(1, 3), mpq(1, 4))]
    for truth, count in itertools.product(offsets, (1, 2, 3)):
        errors, chances = error_distribution(parameters, truth)
        total = errors.reshape(-1)
        probability = chances
        for _ in range(count - 1):
            total = np.add.outer(total, errors).reshape(-1)
            probability = np.multiply.outer(probability, chances).reshape(-1)
            total, places = np.unique(total.round(9), return_inverse=True)
            probability = np.bincount(places, probability)
        for alpha in ALPHAS:
            radius = sum_radius(parameters, count, alpha, on_grid=on_grid)
            assert probability[np.abs(total) > float(radius) + 1e-9].sum() <= float(alpha) + 1e-12


def test_many_numbers_add_up_like_their_root() -> None:
    parameters = derive_parameters(mpq(1, 2), mpq(25_000), mpq(1, 20), "whole")
    for count, numbers in ((20, 11), (25, 50), (1000, 2000)):
        alpha = mpq(1, 20)
        together = sum_radius(parameters, count, alpha / numbers, on_grid=True)
        each = count * tight_radius(parameters, alpha / (2 * count))
        assert together < each / 4
        assert sum_radius(parameters, count, alpha, on_grid=True) <= sum_radius(parameters, count, alpha, on_grid=False)


def least_bound(parameters: Parameters, count: int, alpha: mpq) -> float:
    """Return the smallest (ln(2/α) + k·ln(m(θ) + p))/θ of whole counts, evaluated with doubles for many θ."""
    scale, grid = float(parameters.scale), float(parameters.grid)
    at, rho = np.linspace(0.001, 0.99, 500) / scale, grid / scale
    beyond = math.exp(-(float(parameters.bound - parameters.b_prime) - grid / 2) / scale) / 2
    sizes = grid * np.arange(1, int(3000 / rho))[:, None]
    both = np.exp((at - 1 / scale) * sizes) + np.exp((-at - 1 / scale) * sizes)
    moment = -math.expm1(-rho / 2) + math.sinh(rho / 2) * both.sum(axis=0)
    return float(((math.log(2 / alpha) + count * np.log(moment + beyond)) / at).min())


@pytest.mark.parametrize("gamma", ["1/20", "1"])
@pytest.mark.parametrize("count", [5, 40])
def test_the_outer_clamp_is_allowed_for(gamma: str, count: int) -> None:
    """A sum's radius is the documented bound, with p; without it it would be smaller. A ratio's α is divided by it."""
    parameters = derive_parameters(mpq(1), mpq(50), mpq(gamma), "whole")
    p = math.exp(-float((parameters.bound - parameters.b_prime - parameters.grid / 2) / parameters.scale)) / 2
    assert float(clamp_probability(parameters, 256)) == pytest.approx(p, rel=1e-12)
    expected, found = (
        least_bound(parameters, count, mpq(1, 20)),
        sum_radius(parameters, count, mpq(1, 20), on_grid=True),
    )
    assert float(found) == pytest.approx(expected, rel=1e-4)
    statistic = build(
        {"kind": "count", "where": {"yes": {"one_of": (True,)}}}, {"yes": Column("yes", Kind.BOOLEAN)}, 99, 1
    )
    mechanism = Mechanism.for_epsilon(statistic, mpq(1), mpq(gamma), "auto")
    alpha = RatioError.of(mechanism, mechanism, mpq(1, 20)).alpha
    assert alpha == mpq(1, 20) / (1 + 2 * clamp_probability(mechanism.parameters, 256))


def test_the_sum_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        sum_radius(derive_parameters(mpq(1), mpq(5)), 0, mpq(1, 20), on_grid=True)


@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1/10000", "1e-200"])
@pytest.mark.parametrize(("s", "t"), [("1", "0"), ("1", "1"), ("1", "0.9999999"), ("3", "0.5"), ("0.001", "7")])
def test_the_quantile_of_two_noises_is_the_smallest(s: str, t: str, alpha: str) -> None:
    scales, wanted = (float(mpq(s)), float(mpq(t))), float(mpq(alpha))
    large, small = max(scales), min(scales)

    def tail(v: float) -> float:
        if large - small < 1e-5 * large:
            return (1 + v / (2 * large)) * math.exp(-v / large)
        second = small**2 * math.exp(-v / small) if small else 0.0
        return (large**2 * math.exp(-v / large) - second) / (large**2 - small**2)

    quantile = float(pair_quantile(mpq(s), mpq(t), mpq(alpha)))
    assert tail(quantile) <= wanted * (1 + 1e-6)
    assert tail(quantile * (1 - 1e-5)) > wanted


def ratio_error(x: Parameters, y: Parameters, alpha: mpq) -> RatioError:
    """As `RatioError.of`, for mechanisms of sensitivity 1 whose values have no rounding of their own."""
    beyond = clamp_probability(x, 256) + clamp_probability(y, 256)
    return RatioError((x.scale, y.scale), (x.grid / 2, y.grid / 2), alpha / (1 + beyond))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("epsilons", "gamma", "refinement"), [(("1", "2"), "1/20", 0), (("1/2", "1/2"), "1", 3)])
@pytest.mark.parametrize(("x", "y"), [("6", "6"), ("-6", "6"), ("0", "6"), ("5/3", "1"), ("6", "1/7"), ("-1", "3")])
def test_the_true_ratio_is_in_the_set_as_often_as_is_said(
    x: str, y: str, epsilons: tuple[str, str], gamma: str, refinement: int, alpha: mpq
) -> None:
    above, below = (derive_parameters(mpq(epsilon), mpq(6), mpq(gamma), refinement) for epsilon in epsilons)
    (errors_x, chances_x), (errors_y, chances_y) = (
        error_distribution(parameters, mpq(truth)) for parameters, truth in ((above, x), (below, y))
    )
    ratio = mpq(x) / mpq(y)
    reach = float(ratio_error(above, below, alpha).reach(ratio))
    error = np.abs(np.subtract.outer(errors_x, float(ratio) * errors_y))
    assert np.multiply.outer(chances_x, chances_y)[error > reach + 1e-9].sum() <= float(alpha) + 1e-12


@pytest.mark.parametrize("x", ["40", "3", "0", pytest.param("-3", marks=pytest.mark.slow), "-40"])
@pytest.mark.parametrize("y", ["30", "8", pytest.param("5", marks=pytest.mark.slow), "0", "-4"])
def test_the_ends_are_those_of_the_set(x: str, y: str) -> None:
    error = ratio_error(*(derive_parameters(mpq(1), mpq(60), mpq(1, 20), r) for r in (0, 2)), mpq(1, 20))  # type: ignore[call-arg]
    low, high = error.ratios(mpq(x), mpq(y))
    inside = [
        theta for theta in (mpq(i, 20) for i in range(-600, 601)) if abs(mpq(x) - theta * mpq(y)) <= error.reach(theta)
    ]
    assert all((low is None or low <= theta) and (high is None or theta <= high) for theta in inside)
    for end, furthest in ((low, min(inside)), (high, max(inside))):
        if end is not None and abs(furthest) < 30 and mpq(y) >= 8:
            assert abs(end - furthest) <= mpq(1, 20) + abs(furthest) / 1000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "y", "alpha"),
    [
        ("-3/2", "1/8", mpq(1, 2)),
        ("3", "1/4", mpq(1, 20)),
        ("1", "3", mpq(1, 2)),
        ("0", "1", mpq(1, 20)),
        ("-3/2", "1/8", mpq(1, 20)),
        ("3", "1/4", mpq(1, 2)),
        ("1", "3", mpq(1, 20)),
        ("0", "1", mpq(1, 2)),
    ],
)
def test_the_ends_hold_the_true_ratio_as_often_as_is_said(x: str, y: str, alpha: mpq) -> None:
    """Where y is about 0, a ratio may be far on the other side of 0 than the releases are."""
    above, below = (derive_parameters(mpq(epsilon), mpq(3), mpq(1, 20)) for epsilon in (2, 3))
    error, truth = ratio_error(above, below, alpha), mpq(x) / mpq(y)
    missed = 0.0
    for (error_x, chance_x), (error_y, chance_y) in itertools.product(
        *(zip(*error_distribution(each, mpq(at)), strict=True) for each, at in ((above, x), (below, y)))
    ):
        low, high = error.ratios(mpq(x) + mpq(float(error_x)), mpq(y) + mpq(float(error_y)))
        if not ((low is None or low <= truth) and (high is None or truth <= high)):
            missed += chance_x * chance_y
    assert missed <= float(alpha) + 1e-12


@pytest.mark.parametrize("alpha", ["0.9999999999", "0.5", "1e-30"])
def test_a_quantile_takes_a_few_steps_at_any_confidence(alpha: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    is_within = ratio_accuracy._is_within

    def count(*given: mpq) -> bool:
        nonlocal seen
        seen += 1
        return is_within(*given)

    monkeypatch.setattr(ratio_accuracy, "_is_within", count)
    for t in (mpq(0), mpq(1, 2), 1 - mpq(1, 10**5), 1 - mpq(1, 10**7), mpq(1)):
        seen = 0
        pair_quantile(mpq(1), t, mpq(alpha))
        assert seen < 40


@pytest.mark.parametrize("small", ["1e-3", "1e-5", "1e-7"])
def test_a_small_second_noise_makes_no_large_numbers(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of a group may be near the midpoint of its bounds, and e to the power of -v/t is very small then."""
    sizes = []

    def exact(*of: Any) -> mpq:
        sizes.append(mpq(*of).denominator.bit_length())
        return mpq(*of)

    monkeypatch.setattr(ratio_accuracy, "mpq", exact)
    assert pair_quantile(mpq(1), mpq(small), mpq(1, 20)) == pytest.approx(math.log(20), rel=1e-5)
    assert 0 < max(sizes) < 10_000
