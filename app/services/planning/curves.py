"""What each ε would buy: a plan's curve, with the cliffs at which the grid halves. No data is read here."""

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

_CONTEXT = gmpy2.context(precision=192)  # ε has 50 bits: every point is the nearest unit to the even one


@dataclass(frozen=True, slots=True)
class Curve:
    """Which ε are asked about, in ledger units: `points` of them, evenly spaced in their logarithm."""

    from_nano: int
    to_nano: int
    points: int


@dataclass(frozen=True, slots=True)
class SpendableBudget:
    """Who asks: what can be spent now (None: nothing, for want of an allowance), and what is known already.

    `is_known` tells whether an earlier release answers a plan.
    """

    spendable_nano: int | None
    is_known: Callable[[Plan], bool]


def compute_curve(plan: Plan, asked: Curve, most_nano: int, purse: SpendableBudget | None) -> list[dict[str, Any]]:
    """The points of a plan's curve, ascending: those asked for, and between them every cliff.

    Each is what a plan at its ε says; with a purse, also whether an earlier release answers, and whether it is
    affordable.

    Raises:
        EpsilonTooLargeError: it ends beyond what one release may cost.
    """
    if asked.to_nano > most_nano:
        raise EpsilonTooLargeError(most_nano)
    cliffs = _find_cliffs(plan, asked)
    points = []
    for epsilon_nano in sorted({*_spaced_epsilons(asked), *cliffs}):
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


def _spaced_epsilons(asked: Curve) -> list[int]:
    """The ε that are asked about: fewer than `points`, where units are too coarse for so many."""
    first, last, steps = asked.from_nano, asked.to_nano, asked.points - 1
    ratio = _CONTEXT.log(mpfr(mpq(last, first), 0, _CONTEXT))
    between = (_CONTEXT.exp(_CONTEXT.div(_CONTEXT.mul(ratio, i), steps)) for i in range(1, steps))
    return [first, *(int((mpq(grown) * first + mpq(1, 2)).__floor__()) for grown in between), last]


def _find_cliffs(plan: Plan, asked: Curve) -> set[int]:
    """Every ε of the curve's range at which the grid is finer than a unit before, so that the radius jumps."""
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
