"""The exact distributions of the errors of releases and of counts."""

import math

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.parameters import Parameters


def error_distribution(parameters: Parameters, truth: mpq) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The errors that one release of `truth` can have, ascending, and the probability of each."""
    grid, scale, bound = float(parameters.grid), float(parameters.scale), float(parameters.bound)
    last = math.floor(parameters.bound / parameters.grid)
    points = [float(j) * grid for j in range(-last, last + 1)]

    def below(t: float) -> float:  # P(λ'Y < t)
        return math.exp(t / scale) / 2 if t < 0 else 1 - math.exp(-t / scale) / 2

    x = float(truth)
    chances = [below(point + grid / 2 - x) - below(point - grid / 2 - x) for point in points]
    low, high = below(points[0] - grid / 2 - x), 1 - below(points[-1] + grid / 2 - x)
    outer = [(-bound, low), *zip(points, chances, strict=True), (bound, high)]
    values, probabilities = zip(*outer, strict=True)
    return np.array(values) - x, np.array(probabilities)


def lattice_errors(mechanism: Mechanism, tail: float) -> list[tuple[int, float]]:
    """The errors of a count that is no nearer to a clamp than they reach, each with its probability."""
    rho = float(mechanism.parameters.grid / mechanism.parameters.scale)
    assert mechanism.parameters.grid == 1
    atoms, j = [(0, -math.expm1(-rho / 2))], 1
    while (mass := math.sinh(rho / 2) * math.exp(-rho * j)) > tail:
        atoms += [(j, mass), (-j, mass)]
        j += 1
    return atoms
