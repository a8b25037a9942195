"""What follows from releases: charged only for the components that are not known yet, all of them or none.

The order of events is that of `app.services.releases`. One transaction holds idempotency row, the debits and entries of
every missing component, and the answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from app.db.datasets import Dataset
from app.db.session import WriteSession
from app.dp import derived as derivations
from app.dp.derived import Derived
from app.dp.errors import InvalidStatistic
from app.dp.numbers import json_probability
from app.errors import InvalidRequestError, KeyRequiredError
from app.json_text import encode
from app.ledger import accounts, facts
from app.ledger.units import epsilon_text
from app.services import columns, documents, estimates, questions, releases, reuse, scans, together
from app.services.access import Access
from app.services.context import Services
from app.services.documents import Document
from app.services.questions import Plan, Question
from app.services.releases import OK, Answer, Attempt, Drawn, Key
from app.services.reuse import Earlier
from app.services.storage_limits import require_storage


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
class _Part:
    """A component: what it is to the whole, what it asks and what a release of it would be."""

    role: str
    question: Question
    plan: Plan


def plan(services: Services, entered: Access, question: DerivedQuestion) -> bytes:
    """The JSON of what the derived statistic would cost now, and of which components; nothing is read of the data.

    Raises:
        DatasetClosedError: there is no data any more.
        InvalidRequestError and the rest of `questions.make`'s: the question is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    scans.require_open(entered.dataset)
    derived, parts = _parts(services, entered.dataset, question)
    with services.database.read() as session:
        known = [reuse.find(session, entered.dataset, part.plan) if question.reuse else None for part in parts]
        account = accounts.find(session, entered.dataset.id)
    cost_nano = sum(part.plan.epsilon_nano for part, earlier in zip(parts, known, strict=True) if earlier is None)
    allowance = entered.allowance
    spendable_nano = 0 if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    components = [
        {
            "role": part.role,
            "statistic": part.plan.statistic.describe(),
            "accuracy": documents.accuracy(part.plan.mechanism, part.plan.alpha),
            "release_id": None if earlier is None else earlier.release_id,
            "charged": epsilon_text(part.plan.epsilon_nano if earlier is None else 0),
            "reused": earlier is not None,
        }
        for part, earlier in zip(parts, known, strict=True)
    ]
    budget = documents.budget(cost_nano, account.remaining_nano, allowance) | {
        "affordable": allowance is not None and cost_nano <= spendable_nano,
    }
    return encode(_head(entered.dataset, derived, question) | {"components": components, "budget": budget})


def release(services: Services, access: Access, question: DerivedQuestion, key: Key | None) -> Answer:
    """Answer with a derived statistic, for which the components that are missing are released and debited.

    Raises:
        As `releases.release`.
    """
    access.require_allowance()
    if key is None and not question.reuse:
        raise KeyRequiredError
    facts.require_match(services.keyring, access.dataset, access.account)
    with services.database.read() as session:
        if key is not None and (stored := releases.replay(services, session, access, key)):
            releases.require_sound(services, access, stored)
            return stored
        scans.require_open(access.dataset)
        derived, parts = _parts(services, access.dataset, question)
        whole = _Whole(access, question, derived, parts, key, services)
        known = [attempt.earlier(session) for attempt in whole.attempts()]
        missing = [part.plan.epsilon_nano for part, earlier in zip(parts, known, strict=True) if earlier is None]
        if missing or key is not None:
            require_storage(services.settings, access.account, access.allowance)
        if missing:
            releases.require_affordable(access, sum(missing))
        elif key is None:
            found = [earlier for earlier in known if earlier is not None]
            return Answer(OK, whole.body(together.reused(session, access, whole.attempts(), found)))
    drawn = together.drawn(services, access, parts, known)
    committed = services.database.transact(lambda transaction: whole.committed(transaction, drawn))
    if committed is not None:
        answer, statuses = committed
        services.database.when_durable(lambda: together.recorded(access, parts, statuses))
        return answer
    return releases.of_twin(services, access, key)


@dataclass(frozen=True, slots=True)
class _Whole:
    """One request on its way from the plans of its components to its answer."""

    access: Access
    question: DerivedQuestion
    derived: Derived
    parts: list[_Part]
    key: Key | None
    services: Services

    def attempts(self) -> list[Attempt]:
        """One for each component; the key is the whole's."""
        keyring, settings = self.services.keyring, self.services.settings
        return [Attempt(self.access, part.question, part.plan, None, keyring, settings) for part in self.parts]

    def committed(self, transaction: WriteSession, found: list[Drawn | Earlier]) -> tuple[Answer, Sequence[int]] | None:
        """As `together.committed`."""
        return together.committed(
            *(transaction, self.services.keyring.seal, self.access, self.key, self.attempts(), found),
            locked=lambda: accounts.lock_open(transaction, self.access.dataset.id),
            body_of=lambda bodies, _: self.body(bodies),
        )

    def body(self, bodies: Sequence[bytes]) -> bytes:
        """The answer that the components' answers make."""
        components, known = [], {}
        charged = mpq(0)
        for part, body in zip(self.parts, bodies, strict=True):
            component = json.loads(body)
            known[part.role] = estimates.known(part.plan.statistic, component)
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
        answer = _head(self.access.dataset, self.derived, self.question)
        answer["estimates"] = estimates.shown(self.derived.estimates(known))
        if self.derived.edges is not None:
            answer["edges"] = self.derived.edges
        if self.derived.bins is not None:
            answer["bins"] = self.derived.bins.describe()
        return encode(answer | {"components": components, "budget": budget})


def _parts(services: Services, dataset: Dataset, question: DerivedQuestion) -> tuple[Derived, list[_Part]]:
    """The derived statistic and the plans of its components: ε in equal shares, each at α divided by their number."""
    try:
        derived = derivations.derive(question.derived, columns.of(dataset.columns), dataset.n, dataset.rows_per_unit)
    except InvalidStatistic as error:
        raise questions.refusal("derived", error) from None
    shares = len(derived.components)
    if question.epsilon_nano < shares:
        raise InvalidRequestError(("epsilon", "is less than one unit of 1e-9 for each component"))
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
        parts.append(_Part(role, asked, questions.make(dataset, asked, services.settings.max_epsilon_nano)))
    return derived, parts


def _head(dataset: Dataset, derived: Derived, question: DerivedQuestion) -> Document:
    return {"dataset": dataset.name, "derived": derived.described, "alpha": json_probability(question.alpha)}
