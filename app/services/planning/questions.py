"""From a question to a plan: the statistic, the mechanism and what it costs. No data is read here."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp.errors import AccuracyTrivial, InvalidStatistic
from app.dp.mechanism.mechanism import GridRefinement, Mechanism
from app.dp.statistics import Statistic, build
from app.dp.table.sums import Needs
from app.errors import AccuracyTrivialError, AccuracyUnattainableError, EpsilonTooLargeError, InvalidRequestError
from app.ledger.units import NANO_PER_EPSILON
from app.services.planning import columns
from app.spelling import suggest_name

MOST_NAMES = 20  # that a refusal lists
MAX_CACHE_BYTES = 2**26
"""Of all plans that are cached."""

_BYTES_PER_PLAN, _BYTES_PER_CHARACTER = 6_000, 16

MIN_CLIFF = mpq(1, 100)
"""By which part of a radius it must fall at an ε for that to be told as a cliff."""


@dataclass(frozen=True, slots=True)
class Question:
    """What an analyst asks: a statistic, and either an ε (in ledger units) or a radius in the statistic's units."""

    statistic: Mapping[str, Any]
    epsilon_nano: int | None
    accuracy: mpq | None
    alpha: mpq
    gamma: mpq
    grid_refinement: GridRefinement
    reuse: bool


@dataclass(frozen=True, eq=False)
class Plan:
    """What a release of the question would be; one that is asked for again is the same object.

    `radius` is what it promises at `alpha`, and `wanted` the radius that is enough, in the statistic's units.
    """

    mechanism: Mechanism
    alpha: mpq
    epsilon_nano: int
    radius: mpq
    wanted: mpq

    @property
    def statistic(self) -> Statistic:
        """The statistic with every default filled in."""
        return self.mechanism.statistic

    @cached_property
    def needs(self) -> Needs:
        """What the engine is asked for."""
        return self.statistic.needs

    @cached_property
    def reach(self) -> mpq:
        """How far from what is reported the statistic may be, with the doubles' rounding, in the statistic's units."""
        return self.radius + self.mechanism.resolution

    @cached_property
    def beyond_cliff(self) -> Mechanism | None:
        """The mechanism at the next ε above at which the radius jumps; None where it would cost thrice as much."""
        mechanism = self.mechanism
        epsilon = mechanism.cliff()
        if epsilon > 3 * mechanism.epsilon:
            return None
        beyond = Mechanism.for_epsilon(mechanism.statistic, epsilon, mechanism.gamma, mechanism.grid_refinement)
        return beyond if is_beyond_cliff(beyond, self.alpha) else None


def is_beyond_cliff(mechanism: Mechanism, alpha: mpq) -> bool:
    """Whether the radius at the ε at which the grid halves is smaller by a hundredth than a unit before."""
    gained = mechanism.statistic.sensitivity * mechanism.parameters.grid / 2
    return bool(gained >= mechanism.radius(alpha) * MIN_CLIFF)


def _choose_mechanism(statistic: Statistic, question: Question, most_nano: int) -> Mechanism:
    gamma, refinement = question.gamma, question.grid_refinement
    if question.epsilon_nano is not None:
        if question.epsilon_nano > most_nano:
            raise EpsilonTooLargeError(most_nano)
        epsilon = mpq(question.epsilon_nano, NANO_PER_EPSILON)
        return Mechanism.for_epsilon(statistic, epsilon, gamma, refinement)
    try:
        mechanism = Mechanism.for_accuracy(statistic, question.accuracy, question.alpha, gamma, refinement)
    except AccuracyTrivial:
        raise AccuracyTrivialError from None
    epsilon_nano = int(mechanism.epsilon * NANO_PER_EPSILON)
    if epsilon_nano > most_nano:
        raise AccuracyUnattainableError(epsilon_nano, most_nano)
    return mechanism


def _cache_key(dataset: Dataset, question: Question, most_nano: int) -> bytes:
    """A digest, since the columns and the question may be megabytes of text."""
    asked = repr((dataset.columns, dataset.n, dataset.rows_per_unit, question, most_nano))
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()


def _plan_bytes(plan: Plan) -> int:
    """About how much memory a plan takes: its edges, values and categories, and what is always there.

    Written down, each of these has a sixteenth of the bytes that it has in memory, or more.
    """
    return _BYTES_PER_PLAN + _BYTES_PER_CHARACTER * len(repr(plan.statistic))


@cached(LRUCache(MAX_CACHE_BYTES, getsizeof=_plan_bytes), key=_cache_key, lock=Lock())
def make_plan(dataset: Dataset, question: Question, most_nano: int) -> Plan:
    """Plan a question on a dataset, where one release may cost `most_nano` at most.

    Raises:
        InvalidRequestError: the statistic does not fit the table.
        EpsilonTooLargeError, AccuracyTrivialError, AccuracyUnattainableError: as their names say.
    """
    return plan_statistic(build_statistic(dataset, question.statistic), question, most_nano)


def build_statistic(dataset: Dataset, asked: Mapping[str, Any]) -> Statistic:
    """The statistic of a dataset that is asked for; InvalidRequestError where it does not fit the table."""
    try:
        return build(asked, columns.decode_columns(dataset.columns), dataset.n, dataset.rows_per_unit)
    except InvalidStatistic as error:
        raise invalid_statistic_error("statistic", error) from None


def invalid_statistic_error(member: str, error: InvalidStatistic) -> InvalidRequestError:
    """What is wrong with a member of a request, and which of a dataset's declared names are allowed there."""
    what = error.what
    if error.declared:
        named = ", ".join(f"'{name}'" for name in error.declared[:MOST_NAMES])
        more = len(error.declared) - MOST_NAMES
        what = f"{what}: {named}{f' and {more:,} more' if more > 0 else ''}{suggest_name(error.sent, error.declared)}"
    return InvalidRequestError((f"{member}.{error.where}", what))


def plan_statistic(statistic: Statistic, question: Question, most_nano: int) -> Plan:
    """Plan a statistic that is built already.

    Raises:
        EpsilonTooLargeError, AccuracyTrivialError, AccuracyUnattainableError: as their names say.
    """
    return plan_mechanism(_choose_mechanism(statistic, question, most_nano), question.alpha, question.accuracy)


def plan_mechanism(mechanism: Mechanism, alpha: mpq, accuracy: mpq | None = None) -> Plan:
    """The plan of a release by this mechanism, of which `accuracy` is wanted, or what it promises."""
    radius = mechanism.radius(alpha)
    epsilon_nano = int(mechanism.epsilon * NANO_PER_EPSILON)
    return Plan(mechanism, alpha, epsilon_nano, radius, radius if accuracy is None else accuracy)
