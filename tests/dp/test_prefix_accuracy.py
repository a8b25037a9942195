"""The sums of the first k released numbers are all within their radii at once, as often as is said."""

import itertools

import numpy as np
import pytest
from exact_errors import error_distribution
from gmpy2 import mpq

from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.mechanism.prefix_accuracy import prefix_radii
from app.dp.mechanism.sum_accuracy import sum_radius

ALPHAS = [mpq(1, 2), mpq(1, 20), mpq(1, 1000)]


def exceeding(errors: np.ndarray, chances: np.ndarray, radii: list[float]) -> float:
    """Return the probability that one of the first sums of independent errors is beyond its radius, exactly."""
    total, probability, beyond = np.zeros(1), np.ones(1), 0.0
    for radius in radii:
        total = np.add.outer(total, errors).reshape(-1).round(9)
        probability = np.multiply.outer(probability, chances).reshape(-1)
        outside = np.abs(total) > radius + 1e-9
        beyond += float(probability[outside].sum())
        total, places = np.unique(total[~outside], return_inverse=True)
        probability = np.bincount(places, probability[~outside])
    return beyond


@pytest.mark.parametrize("epsilon", ["1/2", "3", "1/10"])
@pytest.mark.parametrize("gamma", ["1/20", "1"])
@pytest.mark.parametrize("refinement", [0, "whole", 3])
def test_all_sums_are_within_their_radii_at_once(epsilon: str, gamma: str, refinement: int | str) -> None:
    parameters = derive_parameters(mpq(epsilon), mpq(5), mpq(gamma), refinement)  # type: ignore[arg-type]
    on_grid = parameters.grid <= 1
    offsets = [mpq(5), mpq(0)] + ([] if on_grid else [min(mpq(5), parameters.grid / 2), mpq(1, 3)])
    for truth, most, alpha in itertools.product(offsets, (1, 2, 3, 5), ALPHAS):
        radii = prefix_radii(parameters, most, alpha, on_grid=on_grid)
        found = exceeding(*error_distribution(parameters, truth), [float(radii.radius(k + 1)) for k in range(most)])
        assert found <= float(alpha) + 1e-12


def whole_errors(parameters: Parameters) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of counts that are far from the clamps, and their probabilities."""
    rho = float(parameters.grid / parameters.scale)
    size = np.arange(1, int(60 / rho))
    beside = np.sinh(rho / 2) * np.exp(-rho * size)
    errors = np.concatenate([-size[::-1], [0], size]).astype(float)
    return errors, np.concatenate([beside[::-1], [-np.expm1(-rho / 2)], beside])


@pytest.mark.parametrize("alpha", ALPHAS[1:])
def test_many_sums_of_counts_are_within_their_radii_at_once(alpha: mpq) -> None:
    """Exactly, by the walk over whole numbers; and the radii waste no more than an order of magnitude of α."""
    parameters = derive_parameters(mpq(1), mpq(25_000), mpq(1, 20), "whole")
    errors, chances = whole_errors(parameters)
    radii = prefix_radii(parameters, 25, alpha, on_grid=True)
    found = exceeding(errors, chances, [float(radii.radius(k + 1)) for k in range(25)])
    assert float(alpha) / 20 < found <= float(alpha)


@pytest.mark.parametrize(("most", "part"), [(10, 0.86), (25, 0.82), (500, 0.72)])
def test_radii_of_all_sums_are_narrower_than_one_radius_for_each(most: int, part: float) -> None:
    """The largest ones by the given part, and none is wider."""
    parameters, alpha = derive_parameters(mpq(1, 4), mpq(25_000), mpq(1, 20), "whole"), mpq(1, 40)
    radii = prefix_radii(parameters, most, alpha, on_grid=True)
    for count in {1, 2, 3, most // 16 or 1, most // 8, most // 4, most // 2, most}:
        alone = sum_radius(parameters, count, alpha / most, on_grid=True)
        assert radii.radius(count) <= alone * (part if count == most else 1)
    assert radii.radius(0) == 0


def test_a_few_sums_have_one_radius_each() -> None:
    parameters = derive_parameters(mpq(1, 4), mpq(25_000), mpq(1, 20), "whole")
    assert prefix_radii(parameters, 1, mpq(1, 20), on_grid=True).radius(1) == sum_radius(
        parameters, 1, mpq(1, 20), on_grid=True
    )
    assert prefix_radii(parameters, 2, mpq(1, 20), on_grid=True).radius(2) == sum_radius(
        parameters, 2, mpq(1, 40), on_grid=True
    )
