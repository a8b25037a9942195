"""Plans and answers derived statistics.

Only the components that no earlier release answers are charged: all of them, or none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp import derived as derivations
from app.dp.derived import DerivedStatistic
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.epsilon_sharing import by_weight
from app.dp.mechanism.mechanism import GridRefinement
from app.dp.numbers.exact import json_probability
from app.errors import InvalidRequestError
from app.json_text import encode_json
from app.ledger import accounts
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers.releases import Rows
from app.ledger.chain import facts
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import columns, questions
from app.services.planning.questions import Plan, Question
from app.services.releasing import exact_sums, release_flow, reuse
from app.services.releasing.release_requests import PlannedRequest, ReleaseRequest
from app.services.releasing.replays import Answer, Key
from app.services.releasing.reuse import EarlierRelease
from app.services.rendering import documents, estimates
from app.services.rendering.documents import Document
from app.services.rendering.release_answers import SettledRelease


@dataclass(frozen=True, slots=True)
class DerivedQuestion:
    """An analyst's question: a derived statistic and the ε (in ledger units) that its components may cost together."""

    derived: Mapping[str, Any]
    epsilon_nano: int
    alpha: mpq
    gamma: mpq
    grid_refinement: GridRefinement
    reuse: bool


def plan_derived(services: Services, entered: Access, question: DerivedQuestion) -> bytes:
    """Return the JSON of what the derived statistic and each component would cost now. It does not read the data.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is not the one that was registered.
        InvalidRequestError and the other errors of `questions.make_plan`: the question is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    exact_sums.require_open(entered.dataset)
    derived = _build_derived(entered.dataset, question)
    plans = _plan_components(services, entered.dataset, derived, question)
    earlier: list[EarlierRelease | None] = [None] * len(plans)
    with services.database.read() as session:
        if question.reuse:
            earlier = reuse.find_earlier_releases(session, entered.dataset, list(plans.values()))
        account = accounts.find_account(session, entered.dataset.id)
    charges = [plan.epsilon_nano if known is None else 0 for plan, known in zip(plans.values(), earlier, strict=True)]
    cost_nano, allowance = sum(charges), entered.allowance
    spendable_nano = 0 if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    components = [
        {
            "role": role,
            "statistic": plan.statistic.describe(),
            "accuracy": documents.accuracy_document(plan.mechanism, plan.alpha),
            "release_id": None if known is None else known.release_id,
            "charged": epsilon_text(charged_nano),
            **documents.reuse_members(None if known is None else reuse.plan_reuse(known, plan)),
        }
        for (role, plan), known, charged_nano in zip(plans.items(), earlier, charges, strict=True)
    ]
    budget = documents.charge_document(cost_nano, account.remaining_nano, allowance) | {
        "affordable": allowance is not None and cost_nano <= spendable_nano,
    }
    return encode_json(_answer_head(entered.dataset, derived, question) | {"components": components, "budget": budget})


def release_derived(services: Services, access: Access, question: DerivedQuestion, key: Key | None) -> Answer:
    """Answer with a derived statistic; release and debit the components that no earlier release answers.

    Raises:
        As `release_flow.answer_request`.
    """

    def plan() -> PlannedRequest:
        derived = _build_derived(access.dataset, question)
        plans = _plan_components(services, access.dataset, derived, question)
        return PlannedRequest(list(plans.values()), partial(_compose, access.dataset, derived, question))

    def list_kinds() -> list[str]:
        return [component["kind"] for component in _build_derived(access.dataset, question).components.values()]

    return release_flow.answer_request(
        services, access, ReleaseRequest(question.reuse, items=1, kinds=list_kinds, plan=plan), key
    )


def _compose(  # noqa: PLR0913, PLR0917 - the question, the releases and the remaining budget
    dataset: Dataset,
    derived: DerivedStatistic,
    question: DerivedQuestion,
    releases: Sequence[SettledRelease],
    account: Account,
    allowance: Allowance | None,
    rows: Rows,
) -> bytes:
    """Return the JSON of the derived statistic, computed from the releases of its components."""
    found = {role: each.read_facts(rows) for role, each in zip(derived.components, releases, strict=True)}
    known = {
        role: estimates.known_component(each.release.plan, component)
        for (role, component), each in zip(found.items(), releases, strict=True)
    }
    answer = _answer_head(dataset, derived, question)
    answer["estimates"] = estimates.estimates_document(derived.estimates(known))
    if derived.edges is not None:
        answer["edges"] = derived.edges
    if derived.bins is not None:
        answer["bins"] = derived.bins.describe()
    components = [
        {
            "role": role,
            "release_id": component.release_id,
            "statistic": component.outcome.statistic,
            "accuracy": component.accuracy,
            "charged": epsilon_text(component.charged_nano),
            "reused": component.reused,
        }
        for role, component in found.items()
    ]
    charged_nano = sum(component.charged_nano for component in found.values())
    budget = documents.charge_document(charged_nano, account.remaining_nano, allowance)
    return encode_json(answer | {"components": components, "budget": budget})


def _build_derived(dataset: Dataset, question: DerivedQuestion) -> DerivedStatistic:
    try:
        return derivations.derive(
            question.derived, columns.decode_columns(dataset.columns), dataset.n, dataset.rows_per_unit
        )
    except InvalidStatistic as error:
        raise questions.invalid_statistic_error("derived", error) from None


def _plan_components(
    services: Services, dataset: Dataset, derived: DerivedStatistic, question: DerivedQuestion
) -> dict[str, Plan]:
    """Return each component's plan by role. ε is shared by weight, and α is divided by the number of components."""
    roles = derived.components
    shares = by_weight(mpq(question.epsilon_nano, NANO_PER_EPSILON), [mpq(derived.weights[role]) for role in roles])
    epsilons_nano = [int(share * NANO_PER_EPSILON) for share in shares]
    if 0 in epsilons_nano:
        raise InvalidRequestError(("epsilon", "is too small: each component's share is below 1e-9"))
    return {
        role: questions.make_plan(
            dataset,
            Question(
                statistic=statistic,
                epsilon_nano=epsilon_nano,
                accuracy=None,
                alpha=question.alpha / len(roles),
                gamma=question.gamma,
                grid_refinement=question.grid_refinement,
                reuse=question.reuse,
            ),
            services.settings.max_epsilon_nano,
        )
        for (role, statistic), epsilon_nano in zip(roles.items(), epsilons_nano, strict=True)
    }


def _answer_head(dataset: Dataset, derived: DerivedStatistic, question: DerivedQuestion) -> Document:
    return {"dataset": dataset.name, "derived": derived.described, "alpha": json_probability(question.alpha)}
