"""Chooses from which releases a sum of some rows is derived: a plain sum, or a centred sum and a count.

The interval that is planned is that of the plain sum. The other way is taken only if it costs less now, because one of
its components is known, or because a centred sum by group needs less ε. Only the request and the ledger decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from gmpy2 import mpq

from app.db.database import Database
from app.db.repositories.datasets import Dataset
from app.db.session import Session
from app.dp.derived.some_sums import CentredSomeSum, SomeSum
from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import Statistic
from app.errors import AccuracyTrivialError
from app.ledger.units import MAX_EPSILON_NANO, NANO_PER_EPSILON
from app.services.planning import questions
from app.services.planning.questions import Plan, Question
from app.services.releasing import reuse

_PARTS = 12
"""The number of parts in which ε is divided between two components that are both new."""


@dataclass(frozen=True, slots=True)
class SumComponents:
    """The components of a sum.

    Attributes:
        plans: the plan of each component, by role.
        half_width: half the width of the interval.
        cost_nano: the ε of the components that are not known yet, in ledger units.
    """

    plans: Mapping[str, Plan]
    half_width: mpq
    cost_nano: int


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A component that an earlier release answers, with the mechanism of that release."""

    plan: Plan
    mechanism: Mechanism


def choose_components(
    database: Database, dataset: Dataset, derived: SomeSum, plain: Plan, question: Question
) -> SumComponents | None:
    """Return the components that cost less now than the plain sum, or None.

    Args:
        database: reads the earlier releases.
        dataset: the dataset.
        derived: the sum.
        plain: the plan of the plain sum.
        question: the α of the whole, γ, the grid refinement, and whether earlier releases may answer.
    """
    reach = derived.reach(plain.mechanism, question.alpha)
    choice = ComponentChoice(dataset, derived.centred, question, reach, plain.epsilon_nano)
    if not question.reuse:
        return choice.find_cheaper(dict.fromkeys(derived.centred.components))
    with database.read_without_transaction() as session:
        if reuse.find_earlier_releases(session, dataset, [plain])[0] is not None:
            return None
        known = choice.find_known(session)
    return choice.find_cheaper(known)


@dataclass(frozen=True)
class ComponentChoice:
    """The choice for one request.

    Attributes:
        dataset: the dataset.
        centred: the sum from a centred sum and a count.
        question: the α of the whole, γ, the grid refinement, and whether earlier releases may answer.
        reach: the bound of the error that is enough: that of the plain sum.
        cost_nano: what the plain sum would cost, in ledger units.
    """

    dataset: Dataset
    centred: CentredSomeSum
    question: Question
    reach: mpq
    cost_nano: int

    def find_known(self, session: Session) -> dict[str, _Known | None]:
        """Return the most accurate earlier release of each component, by role."""
        return {role: self._find_known(session, role) for role in self.centred.components}

    def find_cheaper(self, known: Mapping[str, _Known | None]) -> SumComponents | None:
        """Return the cheapest components that cost less than the plain sum, or None.

        Args:
            known: the earlier releases that may be used, by role.
        """
        options = [{each, None} for each in known.values()]
        choices = (dict(zip(known, each, strict=True)) for each in product(*options))
        found = [priced for choice in choices if (priced := self._price(choice)) is not None]
        return min(found, key=lambda each: each.cost_nano, default=None)

    @cached_property
    def _statistics(self) -> dict[str, Statistic]:
        components = self.centred.components
        return {role: questions.build_statistic(self.dataset, asked) for role, asked in components.items()}

    def _plan(self, role: str, *, epsilon_nano: int | None = None, accuracy: mpq | None = None) -> Plan:
        asked = replace(
            self.question,
            statistic=self.centred.components[role],
            epsilon_nano=epsilon_nano,
            accuracy=accuracy,
            alpha=self.question.alpha / len(self.centred.components),
        )
        return questions.make_plan(self.dataset, asked, MAX_EPSILON_NANO)

    def _find_known(self, session: Session, role: str) -> _Known | None:
        """Return the most accurate earlier release of a component, with a plan that it answers."""
        probe = self._plan(role, epsilon_nano=self.cost_nano)
        earlier = reuse.list_earlier_releases(session, self.dataset, probe)
        best = min(earlier, key=lambda each: each.radius, default=None)
        if best is None:
            return None
        if probe.statistic.components == 1:
            try:
                plan = self._plan(role, accuracy=best.radius)
            except AccuracyTrivialError:
                return None
        else:
            known = best.mechanism
            own = replace(self.question, gamma=known.gamma, grid_refinement=known.grid_refinement)
            plan = replace(self, question=own)._plan(role, epsilon_nano=int(known.epsilon * NANO_PER_EPSILON))  # noqa: SLF001
        chosen = reuse.choose_earlier_release(earlier, plan)
        return None if chosen is None else _Known(plan, chosen.mechanism)

    def _price(self, choice: Mapping[str, _Known | None]) -> SumComponents | None:
        """Return the components with the least ε for those that are new; None if that is no less than the plain sum."""
        known = {role: each.mechanism for role, each in choice.items() if each is not None}
        new = [role for role, each in choice.items() if each is None]
        if len(new) == len(choice) and self.centred.bins is None:
            return None  # of one number, one of both noises would be larger than that of the plain sum
        splits = [{new[0]: part, new[1]: _PARTS - part} for part in range(1, _PARTS)] if len(new) == 2 else []
        splits = splits or [dict.fromkeys(new, _PARTS)]

        def bound(cost_nano: int, split: Mapping[str, int]) -> mpq:
            shares = {role: self._draw(role, cost_nano * part // _PARTS) for role, part in split.items()}
            return self.centred.reach(known | shares, self.question.alpha)

        low, high = _PARTS, self.cost_nano - 1
        if new and high <= low:
            return None
        split = min(splits, key=lambda each: bound(high, each))
        if bound(high, split) > self.reach:
            return None
        while new and high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if bound(middle, split) <= self.reach else (middle, high)
        shares = {role: high * part // _PARTS for role, part in split.items()}
        plans = {
            role: self._plan(role, epsilon_nano=shares[role]) if each is None else each.plan
            for role, each in choice.items()
        }
        mechanisms = known | {role: plans[role].mechanism for role in new}
        half_width = self.centred.half_width({}, mechanisms, self.question.alpha)
        return SumComponents(plans, half_width, sum(shares.values()))

    def _draw(self, role: str, epsilon_nano: int) -> Mechanism:
        """Return the mechanism of a component that is new."""
        epsilon = mpq(epsilon_nano, NANO_PER_EPSILON)
        return Mechanism.for_epsilon(
            self._statistics[role], epsilon, self.question.gamma, self.question.grid_refinement
        )
