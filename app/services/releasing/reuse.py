"""Reuse: answers a question at no cost with an earlier release of the same statistic that is accurate enough.

The release is chosen by public facts alone (its radius at the requested α, then its age), never by its value.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.db.session import Session
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import round_up
from app.dp.statistics import Statistic
from app.errors import SealBrokenError
from app.ledger.answers import releases
from app.ledger.answers.releases import Rows
from app.ledger.chain.keyring import Keyring
from app.ledger.units import NANO_PER_EPSILON
from app.services.planning import questions
from app.services.planning.questions import Plan
from app.services.rendering.release_answers import PreparedRelease, prepare_reused_release

NOT_DRAWN = ""
"""Stands for the id of a release of the same request that is not drawn yet."""


@dataclass(frozen=True, slots=True)
class EarlierRelease:
    """An earlier release that may answer a plan, with its mechanism and its radius at the plan's α."""

    release_id: str
    dataset_id: int
    mechanism: Mechanism
    radius: mpq


def find_earlier_releases(
    session: Session, dataset: Dataset, plans: Sequence[Plan], draws: Mapping[int, str] = MappingProxyType({})
) -> list[EarlierRelease | None]:
    """Return for each plan the release that answers it: an earlier one, that of another plan, or None.

    `draws` maps the positions of plans to the ids of the releases that were drawn for them.
    """
    known: dict[tuple[str, mpq], list[EarlierRelease]] = {}
    found: list[EarlierRelease | None] = [None] * len(plans)
    for place in _order_by_need(plans):
        plan = plans[place]
        asked = plan.statistic.identity, plan.alpha
        if asked not in known:
            known[asked] = list_earlier_releases(session, dataset, plan.statistic, plan.alpha)
        earlier = choose_earlier_release(known[asked], plan)
        if earlier is None:
            of_request = EarlierRelease(draws.get(place, NOT_DRAWN), dataset.id, plan.mechanism, plan.radius)
            known[asked].append(of_request)
        found[place] = earlier
    return found


def _order_by_need(plans: Sequence[Plan]) -> Sequence[int]:
    """Return the positions of plans so that those which need the smallest radii come first.

    Equal statistics of one request are then paid once, at the strongest ε that is needed, in whatever order they are
    asked: a release that answers another plan has no larger radius than that plan needs.
    """
    return sorted(range(len(plans)), key=lambda place: (_need(plans[place]), place)) if len(plans) > 1 else (0,)


def _need(plan: Plan) -> tuple[mpq, ...]:
    """Return which radii answer a plan: per number as a share of the public range, and of ties all at once."""
    statistic, mechanism = plan.statistic, plan.mechanism
    of_one = plan.wanted if statistic.components == 1 else plan.radius
    return of_one / (statistic.upper - statistic.lower), mechanism.simultaneous_radius(plan.alpha)


def list_earlier_releases(session: Session, dataset: Dataset, statistic: Statistic, alpha: mpq) -> list[EarlierRelease]:
    """Return the releases of a statistic that may answer questions at this α, oldest first."""
    found = []
    for candidate in releases.list_candidates(session, dataset.id, statistic.identity):
        try:
            epsilon = mpq(candidate.epsilon_nano, NANO_PER_EPSILON)
            mechanism = Mechanism.for_epsilon(statistic, epsilon, mpq(candidate.gamma), candidate.grid_refinement)
        except (ArithmeticError, TypeError, ValueError):  # no release was stored with such figures
            raise SealBrokenError from None
        found.append(EarlierRelease(candidate.id, dataset.id, mechanism, mechanism.radius(alpha)))
    return found


def choose_earlier_release(earlier: Sequence[EarlierRelease], plan: Plan) -> EarlierRelease | None:
    """Return the release that answers the plan, or None; `earlier` has radii at the plan's α, oldest first."""
    best: EarlierRelease | None = None
    for each in earlier:
        if _is_enough(each, plan) and (best is None or round_up(each.radius) < round_up(best.radius)):
            best = each
    return best


def _is_enough(earlier: EarlierRelease, plan: Plan) -> bool:
    """Whether the earlier release is accurate enough: where an accuracy is wanted, a number within it is.

    Otherwise none of its radii may be larger than the plan's. They are compared as reported, after rounding to
    doubles: γ can make radii differ beyond a double's digits, which no reader sees.
    """
    if plan.statistic.components == 1 and plan.wanted != plan.radius:
        return bool(earlier.radius <= plan.wanted)
    known, planned, alpha = earlier.mechanism, plan.mechanism, plan.alpha
    if known.parameters == planned.parameters:
        return True
    return round_up(earlier.radius) <= round_up(plan.radius) and all(
        round_up(radius(known, alpha)) <= round_up(radius(planned, alpha))
        for radius in (Mechanism.simultaneous_radius, Mechanism.tight_radius)
    )


def plan_reuse(earlier: EarlierRelease, plan: Plan) -> Plan:
    """Return what the earlier release promises at the plan's α."""
    return questions.plan_mechanism(earlier.mechanism, plan.alpha)


def open_earlier_release(rows: Rows, keyring: Keyring, earlier: EarlierRelease, plan: Plan) -> PreparedRelease:
    """Return an earlier release as the answer to this plan: unchanged but for the accuracy, which is at the plan's α.

    Raises:
        DamagedAnswerError: the stored answer is not what was written.
        SealBrokenError: the release is not what was sealed, or belongs to another dataset or statistic.
    """
    release, stored = releases.find_sealed(rows, keyring, earlier.release_id)
    if (release.dataset_id, release.statistic) != (earlier.dataset_id, plan.statistic.identity):
        raise SealBrokenError
    return prepare_reused_release(release, stored, plan_reuse(earlier, plan))


def reuse_slots(mechanism: Mechanism) -> list[tuple[int, float]]:
    """Return the slots in which a release competes as a candidate for reuse, each with its score; the smallest wins.

    At any α the radius is min(ln(1/α)/ε' + grid/2, 2B). Among releases with the same grid, the one with the smallest
    scale λ' = 1/ε' is best; among all releases, the one with the smallest bound B. So the ledger only needs the best
    release of each grid and the release with the smallest bound.
    """
    parameters = mechanism.parameters
    exponent = round(math.log2(parameters.grid))  # a power of two, exactly
    return [(exponent, round_up(parameters.scale)), (releases.SMALLEST_BOUND, round_up(parameters.bound))]
