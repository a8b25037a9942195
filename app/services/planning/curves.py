"""Computes a plan's curve: the radius for each ε, with the cliffs at which the grid halves. It never reads data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gmpy2
from gmpy2 import mpfr, mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import round_up
from app.errors import EpsilonTooLargeError
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services.planning import questions
from app.services.planning.questions import Plan

_CONTEXT = gmpy2.context(precision=192)  # ε has 50 bits, so every point is rounded to the nearest unit


@dataclass(frozen=True, slots=True)
class Curve:
    """The requested range of ε, in ledger units, with `points` values evenly spaced on a logarithmic scale."""

    from_nano: int
    to_nano: int
    points: int


@dataclass(frozen=True, slots=True)
class SpendableBudget:
    """The caller's budget.

    Attributes:
        spendable_nano: the amount that can be spent now, in ledger units; None without an allowance.
        is_known: returns whether an earlier release answers a plan.
    """

    spendable_nano: int | None
    is_known: Callable[[Plan], bool]


def compute_curve(plan: Plan, asked: Curve, most_nano: int, purse: SpendableBudget | None) -> list[dict[str, Any]]:
    """Return the points of a plan's curve, by ascending ε: the requested ones and all cliffs in their range.

    Args:
        plan: the plan whose mechanism the curve varies.
        asked: the requested range of ε.
        most_nano: the maximum cost of one release, in ledger units.
        purse: the caller's budget; with it, each point says if it is reused and affordable.

    Raises:
        EpsilonTooLargeError: the range ends above `most_nano`.
    """
    if asked.to_nano > most_nano:
        raise EpsilonTooLargeError(most_nano)
    cliffs = _find_cliffs(plan, asked)
    points = []
    for epsilon_nano in sorted({*_space_epsilons(asked), *cliffs}):
        point = questions.plan_mechanism(_mechanism_at(plan.mechanism, epsilon_nano), plan.alpha)
        document: dict[str, Any] = {
            "epsilon": epsilon_text(epsilon_nano),
            "radius": round_up(point.radius),
            "tight_radius": round_up(point.mechanism.tight_radius(plan.alpha)),
            "cliff": epsilon_nano in cliffs,
        }
        if purse is not None:
            reused = purse.is_known(point)
            spendable_nano = purse.spendable_nano
            document["reused"] = reused
            document["affordable"] = spendable_nano is not None and (reused or epsilon_nano <= spendable_nano)
        points.append(document)
    return points


def _space_epsilons(asked: Curve) -> list[int]:
    """Return the requested ε, in ledger units; some coincide if the range has fewer units than points."""
    first, last, steps = asked.from_nano, asked.to_nano, asked.points - 1
    ratio = _CONTEXT.log(mpfr(mpq(last, first), 0, _CONTEXT))
    between = (_CONTEXT.exp(_CONTEXT.div(_CONTEXT.mul(ratio, i), steps)) for i in range(1, steps))
    return [first, *(int((mpq(grown) * first + mpq(1, 2)).__floor__()) for grown in between), last]


def _find_cliffs(plan: Plan, asked: Curve) -> set[int]:
    """Return each cliff in the range: an ε at which the grid is finer than at one unit less, so the radius drops."""
    cliffs: set[int] = set()
    mechanism = _mechanism_at(plan.mechanism, max(asked.from_nano - 1, 1))
    while (epsilon_nano := int(mechanism.cliff() * NANO_PER_EPSILON)) <= asked.to_nano:
        mechanism = _mechanism_at(plan.mechanism, epsilon_nano)
        if questions.is_beyond_cliff(mechanism, plan.alpha):
            cliffs.add(epsilon_nano)
    return cliffs


def _mechanism_at(mechanism: Mechanism, epsilon_nano: int) -> Mechanism:
    epsilon = mpq(epsilon_nano, NANO_PER_EPSILON)
    return Mechanism.for_epsilon(mechanism.statistic, epsilon, mechanism.gamma, mechanism.grid_refinement)
