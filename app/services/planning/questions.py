"""Turns a question into a plan: the statistic, the mechanism and the cost. Planning never reads data."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

from cachetools import LRUCache, cached
from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp.errors import AccuracyTrivial, InvalidStatistic
from app.dp.mechanism.mechanism import GridRefinement, Mechanism
from app.dp.numbers.exact import round_up
from app.dp.statistics import Statistic, build
from app.dp.statistics.treatment import Treatment, list_treatments
from app.dp.table.sums import Needs
from app.errors import AccuracyTrivialError, AccuracyUnattainableError, EpsilonTooLargeError, InvalidRequestError
from app.ledger.units import NANO_PER_EPSILON
from app.services.planning import columns
from app.services.planning.presentation import NOTHING_DECLARED, Presentation, present_stored
from app.spelling import suggest_name

MAX_NAMES = 20  # the maximum number of names that an error message lists
MAX_CACHE_BYTES = 2**26
"""The maximum total size of all cached plans."""

_BYTES_PER_PLAN, _BYTES_PER_CHARACTER = 6_000, 16

MIN_CLIFF = mpq(1, 100)
"""The smallest relative drop of the radius at an ε that is reported as a cliff."""


@dataclass(frozen=True)
class Question:
    """An analyst's question: a statistic, and either an ε (in ledger units) or a radius (in the statistic's units)."""

    statistic: Mapping[str, Any]
    epsilon_nano: int | None
    accuracy: mpq | None
    alpha: mpq
    gamma: mpq
    grid_refinement: GridRefinement
    reuse: bool

    @cached_property
    def digest(self) -> bytes:
        """A hash of the question, since it can be megabytes of text."""
        return hashlib.sha256(_encode(repr(self))).digest()


class Cliff(NamedTuple):
    """An ε, in ledger units, above which the radius drops, and the radius there, in the statistic's units."""

    epsilon_nano: int
    radius: float


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan of a release; plans are compared by identity, and a repeated question gets the cached object.

    Attributes:
        mechanism: the mechanism that would draw the release.
        alpha: the radius holds with probability at least 1 - α.
        epsilon_nano: the cost, in ledger units.
        radius: the guaranteed radius, in the statistic's units.
        wanted: the radius that is enough for the question, in the statistic's units.
        treatments: what happens to missing values and to values outside the bounds, by column.
        presentation: the declared unit of the statistic, and labels and units of its columns.
    """

    mechanism: Mechanism
    alpha: mpq
    epsilon_nano: int
    radius: mpq
    wanted: mpq
    treatments: tuple[Treatment, ...] = ()
    presentation: Presentation = NOTHING_DECLARED

    @property
    def statistic(self) -> Statistic:
        """The statistic, with all defaults filled in."""
        return self.mechanism.statistic

    @cached_property
    def needs(self) -> Needs:
        """The sums or counts that the engine must compute."""
        return self.statistic.needs

    @cached_property
    def reach(self) -> mpq:
        """The half-width of the interval around the reported value, radius + resolution, in the statistic's units."""
        return self.radius + self.mechanism.resolution

    @cached_property
    def cliff(self) -> Cliff | None:
        """The next cliff; None if it costs over three times as much or gains too little."""
        mechanism = self.mechanism
        epsilon = mechanism.cliff()
        if epsilon > 3 * mechanism.epsilon:
            return None
        beyond = Mechanism.for_epsilon(mechanism.statistic, epsilon, mechanism.gamma, mechanism.grid_refinement)
        if not is_beyond_cliff(beyond, self.alpha):
            return None
        return Cliff(int(epsilon * NANO_PER_EPSILON), round_up(beyond.radius(self.alpha)))


def is_beyond_cliff(mechanism: Mechanism, alpha: mpq) -> bool:
    """Return whether the radius of a mechanism whose grid has just halved is at least 1 % smaller than just before."""
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
    """Return a digest as the key, since the columns can be megabytes of text too."""
    facts = f"{dataset.n} {dataset.rows_per_unit} {most_nano} {dataset.columns}"
    return hashlib.sha256(question.digest + _encode(facts)).digest()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _plan_bytes(plan: Plan) -> int:
    """Return an estimate of a plan's memory: a constant, plus the size of its edges, values, categories and labels.

    An object takes at most 16 times as many bytes in memory as characters in its `repr`.
    """
    return _BYTES_PER_PLAN + _BYTES_PER_CHARACTER * (len(repr(plan.statistic)) + len(repr(plan.presentation)))


@cached(LRUCache(MAX_CACHE_BYTES, getsizeof=_plan_bytes), key=_cache_key, lock=Lock())
def make_plan(dataset: Dataset, question: Question, most_nano: int) -> Plan:
    """Plan a question on a dataset; one release may cost at most `most_nano` ledger units.

    Raises:
        InvalidRequestError: the statistic does not fit the table.
        EpsilonTooLargeError: the requested ε exceeds `most_nano`.
        AccuracyTrivialError: the statistic's public range already guarantees the accuracy.
        AccuracyUnattainableError: the accuracy costs more than `most_nano`.
    """
    statistic = build_statistic(dataset, question.statistic)
    declared = columns.decode_columns(dataset.columns)
    treatments = list_treatments(statistic, declared)
    return plan_statistic(
        statistic, question, most_nano, treatments, present_stored(statistic.describe(), dataset.columns)
    )


def build_statistic(dataset: Dataset, asked: Mapping[str, Any]) -> Statistic:
    """Return the requested statistic of a dataset; raise InvalidRequestError if it does not fit the table."""
    try:
        return build(asked, columns.decode_columns(dataset.columns), dataset.n, dataset.rows_per_unit)
    except InvalidStatistic as error:
        raise invalid_statistic_error("statistic", error) from None


def invalid_statistic_error(member: str, error: InvalidStatistic) -> InvalidRequestError:
    """Return the error for an invalid member of a request; its message lists the allowed declared names.

    It also names the column of a condition in a filter, which is declared.
    """
    what = error.what
    if error.declared:
        named = ", ".join(f"'{name}'" for name in error.declared[:MAX_NAMES])
        more = len(error.declared) - MAX_NAMES
        what = f"{what}: {named}{f' and {more:,} more' if more > 0 else ''}{suggest_name(error.sent, error.declared)}"
    if error.column is not None:
        what = f"(column '{error.column}') {what}"
    return InvalidRequestError((f"{member}.{error.where}", what))


def plan_statistic(
    statistic: Statistic,
    question: Question,
    most_nano: int,
    treatments: tuple[Treatment, ...] = (),
    presentation: Presentation = NOTHING_DECLARED,
) -> Plan:
    """Plan a statistic that is already built.

    Raises:
        EpsilonTooLargeError, AccuracyTrivialError, AccuracyUnattainableError: as in `make_plan`.
    """
    mechanism = _choose_mechanism(statistic, question, most_nano)
    return plan_mechanism(mechanism, question.alpha, question.accuracy, treatments, presentation)


def plan_mechanism(
    mechanism: Mechanism,
    alpha: mpq,
    accuracy: mpq | None = None,
    treatments: tuple[Treatment, ...] = (),
    presentation: Presentation = NOTHING_DECLARED,
) -> Plan:
    """Return the plan of a release by this mechanism; the wanted radius is `accuracy`, or the guaranteed one."""
    radius = mechanism.radius(alpha)
    epsilon_nano = int(mechanism.epsilon * NANO_PER_EPSILON)
    wanted = radius if accuracy is None else accuracy
    return Plan(mechanism, alpha, epsilon_nano, radius, wanted, treatments, presentation)
