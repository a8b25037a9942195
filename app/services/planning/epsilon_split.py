"""Splits the ε of a derived statistic among its components so that the planned interval is as narrow as possible."""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from gmpy2 import mpq

Weights = Mapping[str, int]
"""The relative share of ε of each component, by its role."""

TOTAL = 60
"""The sum of all weights."""

_STEPS = (15, 6, 2)


def find_narrowest(start: Weights, roles: Sequence[str], width: Callable[[Weights], mpq | None]) -> Weights:
    """Return the weights with the smallest width, moving parts of `TOTAL` from one role to another.

    Args:
        start: the weights to begin with.
        roles: the roles that give to each other; all others keep their share.
        width: returns half the width of the planned interval, or None if it has no ends.

    Returns:
        Weights that no move of a step narrows; `start` unless others are narrower.
    """
    scale = sum(start.values())
    weights = {role: weight * TOTAL // scale for role, weight in start.items()}
    best = width(weights)
    for step in _STEPS:
        improved = True
        while improved:
            improved = False
            for giver, taker in permutations(roles, 2):
                if weights[giver] <= step:
                    continue
                moved = {**weights, giver: weights[giver] - step, taker: weights[taker] + step}
                found = width(moved)
                if found is not None and (best is None or found < best):
                    weights, best, improved = moved, found, True
    return weights
