"""Shares one ε among several releases."""

from collections import Counter
from collections.abc import Sequence

from gmpy2 import mpq

from app.dp.mechanism.mechanism import GridRefinement, refinement_for
from app.dp.mechanism.planning import UNIT, minimal_epsilon
from app.dp.numbers.exact import Rational
from app.dp.statistics import Statistic

_BITS = 40
_FINEST = mpq(1, 2**400)  # so small that no ε within a ledger's limit reaches it


def by_weight(epsilon: Rational, weights: Sequence[Rational]) -> list[Rational]:
    """Return each weight's proportional share of ε, rounded down to whole ledger units, so the sum is at most ε."""
    per_weight = epsilon / UNIT / sum(weights)
    return [UNIT * (per_weight * weight).__floor__() for weight in weights]


def equal_radius(
    statistics: Sequence[Statistic],
    epsilon: Rational,
    alpha: Rational,
    gamma: Rational,
    grid_refinement: GridRefinement,
) -> Rational | None:
    """Return the smallest relative radius that all statistics can reach together for a total of ε.

    A relative radius is a fraction of the statistic's public range. Each statistic is then released at the smallest ε
    that reaches it. The result is found by bisection to 40 bits and rounded up, so the costs never exceed ε in total.

    Args:
        statistics: the statistics to release.
        epsilon: ε, their total cost.
        alpha: each radius holds with probability at least 1 - α.
        gamma: γ, the largest probability with which the outer clamp may bind.
        grid_refinement: by how many halvings the grid is finer than the notes', or "auto".

    Returns:
        The fraction, or None if ε does not even buy radii just below the ranges.
    """
    # Statistics with the same normalised mechanism cost the same: all means over n rows, for example.
    kinds = Counter(
        (
            *((each.upper - each.lower) / each.sensitivity, each.b_prime, each.mechanisms),
            refinement_for(each, grid_refinement),
        )
        for each in statistics
    )

    def affordable(part: Rational) -> bool:
        spent = sum(
            many * minimal_epsilon(part * span, alpha, b_prime, gamma, refinement, mechanisms)
            for (span, b_prime, mechanisms, refinement), many in kinds.items()
        )
        return bool(spent <= epsilon)

    high = 1 - mpq(1, 2**_BITS)
    if not affordable(high):
        return None
    low = high / 2
    while low > _FINEST and affordable(low):
        high, low = low, low / 2
    for _ in range(_BITS):
        middle = (low + high) / 2
        low, high = (low, middle) if affordable(middle) else (middle, high)
    return high
