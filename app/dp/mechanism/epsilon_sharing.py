"""How one ε is shared among several releases."""

from collections import Counter
from collections.abc import Sequence

from gmpy2 import mpq

from app.dp.mechanism.mechanism import GridRefinement, refinement_for
from app.dp.mechanism.planning import UNIT, minimal_epsilon
from app.dp.numbers.exact import Rational
from app.dp.statistics import Statistic

_BITS = 40
_FINEST = mpq(1, 2**400)  # a radius that no ε of a ledger buys


def by_weight(epsilon: Rational, weights: Sequence[Rational]) -> list[Rational]:
    """The part of ε that each weight has of their sum, in whole units rounded down: together never more than ε."""
    per_weight = epsilon / UNIT / sum(weights)
    return [UNIT * (per_weight * weight).__floor__() for weight in weights]


def equal_radius(
    statistics: Sequence[Statistic],
    epsilon: Rational,
    alpha: Rational,
    gamma: Rational,
    grid_refinement: GridRefinement,
) -> Rational | None:
    """The smallest radius, as a part of each statistic's public range, that all can have at `alpha` for ε together.

    Each is then released at the smallest ε at which its radius is at most that. It is found to 40 bits, from above, so
    that the sum is never more than ε; None where not even a radius just below the ranges can be had.
    """
    # Many statistics are one normalised mechanism: all means over n rows are.
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
