"""Reuse: answers a question at no cost with an earlier release of the same numbers that is accurate enough.

The release is chosen by public facts alone (its radius at the requested α, then its age), never by its value.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from weakref import WeakKeyDictionary

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.db.session import Session
from app.dp.mechanism.equal_mechanism import EqualMechanism
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import round_up
from app.dp.statistics import Statistic
from app.dp.statistics.equal_numbers import EqualStatistic, list_equal_statistics, list_interval_conditions
from app.dp.statistics.interval_counts import Interval
from app.errors import SealBrokenError
from app.ledger.answers import releases
from app.ledger.answers.releases import Release, ReuseCandidate, Rows
from app.ledger.chain.keyring import Keyring
from app.ledger.units import NANO_PER_EPSILON
from app.services.planning import columns, questions
from app.services.planning.questions import Plan
from app.services.releasing.families import HistogramFamilies, place_in_family
from app.services.rendering.equal_releases import prepare_equal_release
from app.services.rendering.release_answers import PreparedRelease, prepare_reused_release

NOT_DRAWN = ""
"""Stands for the id of a release of the same request that is not drawn yet."""


@dataclass(frozen=True, slots=True)
class EarlierRelease:
    """An earlier release that may answer a plan.

    Attributes:
        statistic: the identity of the release's own statistic.
        mechanism: how the release answers, in the units of the plan's statistic.
        radius: its radius at the plan's α.
        equal: the release's own statistic, if it is another one that has the same numbers.
    """

    release_id: str
    dataset_id: int
    statistic: str
    mechanism: Mechanism
    radius: mpq
    equal: EqualStatistic | None


_statistics_of_plans: WeakKeyDictionary[Plan, tuple[dict[str, EqualStatistic | None], list[Interval]]]
_statistics_of_plans = WeakKeyDictionary()


class _KnownReleases:
    """The releases that may answer the plans of a request: earlier ones, and those of the request itself."""

    def __init__(self, session: Session, dataset: Dataset) -> None:
        self._session, self._dataset = session, dataset
        self._by_statistic: dict[str, list[tuple[str, Mechanism]]] = {}
        self._answers: dict[tuple[str, mpq, str, int], EarlierRelease] = {}
        self._families = HistogramFamilies(session, dataset)

    def add(self, release_id: str, mechanism: Mechanism) -> None:
        """Add a release of the request."""
        self._by_statistic[mechanism.statistic.identity].append((release_id, mechanism))
        self._families.add(mechanism.statistic)

    def list_for(self, plan: Plan) -> list[EarlierRelease]:
        """Return the releases that may answer a plan at its α, oldest first."""
        asked, statistics = plan.statistic, self.list_statistics(plan)
        self._read({identity: equal.statistic if equal else asked for identity, equal in statistics.items()})
        found = [
            self._answer(plan, identity, equal, place)
            for identity, equal in statistics.items()
            for place in range(len(self._by_statistic[identity]))
        ]
        return sorted(found, key=lambda each: (each.release_id == NOT_DRAWN, each.release_id))

    def list_statistics(self, plan: Plan) -> dict[str, EqualStatistic | None]:
        """Return the statistics whose releases have the numbers of the plan's, by identity; None for its own."""
        if (known := _statistics_of_plans.get(plan)) is None:
            declared = columns.decode_columns(self._dataset.columns)
            statistics: dict[str, EqualStatistic | None] = {plan.statistic.identity: None}
            statistics |= {each.statistic.identity: each for each in list_equal_statistics(plan.statistic, declared)}
            known = _statistics_of_plans[plan] = statistics, list_interval_conditions(plan.statistic, declared)
        return known[0] | self._families.list_equal(known[1])

    def _read(self, statistics: Mapping[str, Statistic]) -> None:
        """Read the earlier releases of those statistics that were not asked for yet."""
        unread = [identity for identity in statistics if identity not in self._by_statistic]
        if not unread:
            return
        self._by_statistic |= {identity: [] for identity in unread}
        for candidate in releases.list_candidates(self._session, self._dataset.id, *unread):
            try:
                mechanism = _mechanism_of(candidate, statistics[candidate.statistic])
            except (ArithmeticError, TypeError, ValueError):  # no release was stored with such figures
                raise SealBrokenError from None
            self._by_statistic[candidate.statistic].append((candidate.id, mechanism))

    def _answer(self, plan: Plan, identity: str, equal: EqualStatistic | None, place: int) -> EarlierRelease:
        key = plan.statistic.identity, plan.alpha, identity, place
        if key not in self._answers:
            release_id, mechanism = self._by_statistic[identity][place]
            self._answers[key] = _answer(plan, release_id, self._dataset.id, mechanism, identity, equal)
        return self._answers[key]


def _mechanism_of(release: ReuseCandidate | Release, statistic: Statistic) -> Mechanism:
    epsilon = mpq(release.epsilon_nano, NANO_PER_EPSILON)
    return Mechanism.for_epsilon(statistic, epsilon, mpq(release.gamma), release.grid_refinement)


def _answer(  # noqa: PLR0913, PLR0917 - the plan, and the release with its statistic
    plan: Plan, release_id: str, dataset_id: int, mechanism: Mechanism, identity: str, equal: EqualStatistic | None
) -> EarlierRelease:
    if equal is not None:
        mechanism = EqualMechanism.of(mechanism, equal, plan.statistic)
    return EarlierRelease(release_id, dataset_id, identity, mechanism, mechanism.radius(plan.alpha), equal)


def find_as_answer(session: Session, dataset: Dataset, plan: Plan, release: Release) -> EarlierRelease | None:
    """Return a release as the answer to a plan, however accurate it is; None if it does not have the plan's numbers."""
    statistics = _KnownReleases(session, dataset).list_statistics(plan)
    if release.statistic not in statistics:
        return None
    equal = statistics[release.statistic]
    mechanism = _mechanism_of(release, plan.statistic if equal is None else equal.statistic)
    return _answer(plan, release.id, dataset.id, mechanism, release.statistic, equal)


def find_earlier_releases(
    session: Session, dataset: Dataset, plans: Sequence[Plan], draws: Mapping[int, str] = MappingProxyType({})
) -> list[EarlierRelease | None]:
    """Return for each plan the release that answers it: an earlier one, that of another plan, or None.

    `draws` maps the positions of plans to the ids of the releases that were drawn for them.
    """
    known = _KnownReleases(session, dataset)
    found: list[EarlierRelease | None] = [None] * len(plans)
    for place in _order_by_need(plans):
        plan = plans[place]
        found[place] = choose_earlier_release(known.list_for(plan), plan)
        if found[place] is None:
            known.add(draws.get(place, NOT_DRAWN), plan.mechanism)
    return found


def _order_by_need(plans: Sequence[Plan]) -> Sequence[int]:
    """Return the positions of plans so that those which need the smallest radii come first.

    Equal statistics of one request are then paid once, at the strongest ε that is needed, in whatever order they are
    asked: a release that answers another plan has no larger radius than that plan needs.
    """
    return sorted(range(len(plans)), key=lambda place: (_need(plans[place]), place)) if len(plans) > 1 else (0,)


def _need(plan: Plan) -> tuple[mpq, int, mpq]:
    """Return which radii answer a plan: per number as a share of the public range, and of ties all at once.

    Of ties a histogram comes before a count, which it answers.
    """
    statistic, mechanism = plan.statistic, plan.mechanism
    of_one = plan.wanted if statistic.components == 1 else plan.radius
    share = of_one / (statistic.upper - statistic.lower)
    return share, -statistic.components, mechanism.simultaneous_radius(plan.alpha)


def list_earlier_releases(session: Session, dataset: Dataset, plan: Plan) -> list[EarlierRelease]:
    """Return the earlier releases that may answer a plan, or others of its statistic at its α, oldest first."""
    return _KnownReleases(session, dataset).list_for(plan)


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
    if known.parameters == planned.parameters and known.sensitivity == planned.sensitivity:
        return True
    return round_up(earlier.radius) <= round_up(plan.radius) and all(
        round_up(radius(known, alpha)) <= round_up(radius(planned, alpha))
        for radius in (Mechanism.simultaneous_radius, Mechanism.tight_radius)
    )


_answering_plans: WeakKeyDictionary[Plan, Plan] = WeakKeyDictionary()


def plan_reuse(earlier: EarlierRelease, plan: Plan) -> Plan:
    """Return what the earlier release promises at the plan's α: the same object as long as such a release answers."""
    answering = _answering_plans.get(plan)
    if answering is None or answering.mechanism != earlier.mechanism:
        answering = _answering_plans[plan] = questions.plan_mechanism(
            earlier.mechanism, plan.alpha, treatments=plan.treatments, presentation=plan.presentation
        )
    return answering


def open_earlier_release(rows: Rows, keyring: Keyring, earlier: EarlierRelease, plan: Plan) -> PreparedRelease:
    """Return an earlier release as the answer to this plan, with the accuracy at the plan's α.

    All else is unchanged, unless the release is of another statistic that has the same numbers.

    Raises:
        DamagedAnswerError: the stored answer is not what was written.
        SealBrokenError: the release is not what was sealed, or belongs to another dataset or statistic.
    """
    release, stored = releases.find_sealed(rows, keyring, earlier.release_id)
    if (release.dataset_id, release.statistic) != (earlier.dataset_id, earlier.statistic):
        raise SealBrokenError
    answering = plan_reuse(earlier, plan)
    if earlier.equal is not None:
        return prepare_equal_release(release, stored, answering, earlier.equal)
    return prepare_reused_release(release, stored, answering)


def list_candidacies(mechanism: Mechanism) -> list[tuple[str, int, float]]:
    """Return the slots in which a release competes as a candidate for reuse, each with its score; the smallest wins.

    At any α the radius is min(ln(1/α)/ε' + grid/2, 2B). Among releases with the same grid, the one with the smallest
    scale λ' = 1/ε' is best; among all releases, the one with the smallest bound B. So the ledger only needs the best
    release of each grid and the release with the smallest bound. A histogram of numbers has a slot in its family too.
    """
    parameters, identity = mechanism.parameters, mechanism.statistic.identity
    exponent, score = round(math.log2(parameters.grid)), round_up(parameters.scale)  # a power of two, exactly
    slots = (identity, exponent, score), (identity, releases.SMALLEST_BOUND, round_up(parameters.bound))
    place = place_in_family(mechanism.statistic)
    return [*slots, *([] if place is None else [(*place, score)])]
