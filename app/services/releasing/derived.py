"""What follows from releases: charged only for the components that are not known yet, all of them or none.

The order of events is that of `app.services.releasing.releases`. One transaction holds idempotency row, the debits
and entries of every missing component, and the answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.db.session import WriteSession
from app.dp import derived as derivations
from app.dp.derived import DerivedStatistic
from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import json_probability
from app.errors import InvalidRequestError, KeyRequiredError
from app.json_text import encode_json
from app.ledger import accounts
from app.ledger.chain import facts
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import columns, questions
from app.services.planning.questions import Plan, Question
from app.services.releasing import exact_sums, multiple_releases, releases, reuse
from app.services.releasing.releases import OK, Answer, Key, ReleaseAttempt, UnpaidDraw
from app.services.releasing.reuse import EarlierRelease
from app.services.releasing.storage_limits import require_storage
from app.services.rendering import documents, estimates
from app.services.rendering.documents import Document


@dataclass(frozen=True, slots=True)
class DerivedQuestion:
    """What an analyst asks: a derived statistic, and the ε (in ledger units) that its components may cost together."""

    derived: Mapping[str, Any]
    epsilon_nano: int
    alpha: mpq
    gamma: mpq
    grid_refinement: int
    reuse: bool


@dataclass(frozen=True, slots=True)
class _PlannedComponent:
    """A component: what it is to the whole, what it asks and what a release of it would be."""

    role: str
    question: Question
    plan: Plan


def plan_derived(services: Services, entered: Access, question: DerivedQuestion) -> bytes:
    """The JSON of what the derived statistic would cost now, and of which components; nothing is read of the data.

    Raises:
        DatasetClosedError: there is no data any more.
        InvalidRequestError and the rest of `questions.make`'s: the question is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    exact_sums.require_open(entered.dataset)
    derived, parts = _plan_components(services, entered.dataset, question)
    with services.database.read() as session:
        known = [
            reuse.find_earlier_release(session, entered.dataset, part.plan) if question.reuse else None
            for part in parts
        ]
        account = accounts.find_account(session, entered.dataset.id)
    cost_nano = sum(part.plan.epsilon_nano for part, earlier in zip(parts, known, strict=True) if earlier is None)
    allowance = entered.allowance
    spendable_nano = 0 if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    components = [
        {
            "role": part.role,
            "statistic": part.plan.statistic.describe(),
            "accuracy": documents.accuracy_document(part.plan.mechanism, part.plan.alpha),
            "release_id": None if earlier is None else earlier.release_id,
            "charged": epsilon_text(part.plan.epsilon_nano if earlier is None else 0),
            "reused": earlier is not None,
        }
        for part, earlier in zip(parts, known, strict=True)
    ]
    budget = documents.charge_document(cost_nano, account.remaining_nano, allowance) | {
        "affordable": allowance is not None and cost_nano <= spendable_nano,
    }
    return encode_json(_answer_head(entered.dataset, derived, question) | {"components": components, "budget": budget})


def release_derived(services: Services, access: Access, question: DerivedQuestion, key: Key | None) -> Answer:
    """Answer with a derived statistic, for which the components that are missing are released and debited.

    Raises:
        As `releases.release`.
    """
    access.require_allowance()
    if key is None and not question.reuse:
        raise KeyRequiredError
    facts.require_match(services.keyring, access.dataset, access.account)
    with services.database.read() as session:
        if key is not None and (stored := releases.find_replay(services, session, access, key)):
            releases.require_sound(services, access, stored)
            return stored
        exact_sums.require_open(access.dataset)
        derived, parts = _plan_components(services, access.dataset, question)
        whole = _DerivedAttempt(access, question, derived, parts, key, services)
        known = [attempt.earlier(session) for attempt in whole.attempts()]
        missing = [part.plan.epsilon_nano for part, earlier in zip(parts, known, strict=True) if earlier is None]
        if missing or key is not None:
            require_storage(services.settings, access.account, access.allowance)
        if missing:
            releases.require_affordable(access, sum(missing))
        elif key is None:
            found = [earlier for earlier in known if earlier is not None]
            return Answer(OK, whole.body(multiple_releases.reused(session, access, whole.attempts(), found)))
    drawn = multiple_releases.draw_releases(services, access, parts, known)
    committed = services.database.transact(lambda transaction: whole.committed(transaction, drawn))
    if committed is not None:
        answer, statuses = committed
        services.database.when_durable(lambda: multiple_releases.record_releases(access, parts, statuses))
        return answer
    return releases.answer_of_twin(services, access, key)


@dataclass(frozen=True, slots=True)
class _DerivedAttempt:
    """One request on its way from the plans of its components to its answer."""

    access: Access
    question: DerivedQuestion
    derived: DerivedStatistic
    parts: list[_PlannedComponent]
    key: Key | None
    services: Services

    def attempts(self) -> list[ReleaseAttempt]:
        """One for each component; the key is the whole's."""
        keyring, settings = self.services.keyring, self.services.settings
        return [ReleaseAttempt(self.access, part.question, part.plan, None, keyring, settings) for part in self.parts]

    def committed(
        self, transaction: WriteSession, found: list[UnpaidDraw | EarlierRelease]
    ) -> tuple[Answer, Sequence[int]] | None:
        """As `together.committed`."""
        return multiple_releases.commit_releases(
            *(transaction, self.services.keyring.seal, self.access, self.key, self.attempts(), found),
            locked=lambda: accounts.lock_open_account(transaction, self.access.dataset.id),
            body_of=lambda bodies, _: self.body(bodies),
        )

    def body(self, bodies: Sequence[bytes]) -> bytes:
        """The answer that the components' answers make."""
        components, known = [], {}
        charged = mpq(0)
        for part, body in zip(self.parts, bodies, strict=True):
            component = json.loads(body)
            known[part.role] = estimates.read_known_component(part.plan.statistic, component)
            charged += mpq(component["budget"]["charged"])
            components.append(
                {
                    "role": part.role,
                    "release_id": component["id"],
                    "statistic": component["statistic"],
                    "accuracy": {name: value for name, value in component["accuracy"].items() if name != "interval"},
                    "charged": component["budget"]["charged"],
                    "reused": component["reused"],
                }
            )
        budget = {**component["budget"], "charged": epsilon_text(int(charged * 10**9))}  # as the last one left it
        answer = _answer_head(self.access.dataset, self.derived, self.question)
        answer["estimates"] = estimates.estimates_document(self.derived.estimates(known))
        if self.derived.edges is not None:
            answer["edges"] = self.derived.edges
        if self.derived.bins is not None:
            answer["bins"] = self.derived.bins.describe()
        return encode_json(answer | {"components": components, "budget": budget})


def _plan_components(
    services: Services, dataset: Dataset, question: DerivedQuestion
) -> tuple[DerivedStatistic, list[_PlannedComponent]]:
    """The derived statistic and the plans of its components: ε in equal shares, each at α divided by their number."""
    try:
        derived = derivations.derive(
            question.derived, columns.decode_columns(dataset.columns), dataset.n, dataset.rows_per_unit
        )
    except InvalidStatistic as error:
        raise questions.invalid_statistic_error("derived", error) from None
    shares = len(derived.components)
    if question.epsilon_nano < shares:
        raise InvalidRequestError(("epsilon", "is too small: each component's share is below 1e-9"))
    parts = []
    for role, statistic in derived.components.items():
        asked = Question(
            statistic=statistic,
            epsilon_nano=question.epsilon_nano // shares,
            accuracy=None,
            alpha=question.alpha / shares,
            gamma=question.gamma,
            grid_refinement=question.grid_refinement,
            reuse=question.reuse,
        )
        parts.append(
            _PlannedComponent(role, asked, questions.make_plan(dataset, asked, services.settings.max_epsilon_nano))
        )
    return derived, parts


def _answer_head(dataset: Dataset, derived: DerivedStatistic, question: DerivedQuestion) -> Document:
    return {"dataset": dataset.name, "derived": derived.described, "alpha": json_probability(question.alpha)}
