"""Plans and answers derived statistics.

Only the components that no earlier release answers are charged: all of them, or none.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp import derived as derivations
from app.dp.derived import DerivedStatistic
from app.dp.derived.guesses import read_guesses
from app.dp.derived.some_sums import SomeSum
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import GridRefinement
from app.dp.numbers.exact import json_probability
from app.dp.statistics.treatment import Treatment
from app.errors import InvalidRequestError, NotReleasedError
from app.json_text import encode_json
from app.ledger import accounts
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers.releases import Rows
from app.ledger.chain import facts
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import columns, derived_accuracy, questions
from app.services.planning.derived_accuracy import PlannedWidth, Setting, Target
from app.services.planning.presentation import present_stored
from app.services.planning.questions import Plan, Question
from app.services.releasing import exact_sums, release_flow, reuse
from app.services.releasing.bulkhead import enter_long_plan
from app.services.releasing.charges import list_charges
from app.services.releasing.release_requests import PlannedRequest, ReleaseRequest
from app.services.releasing.replays import Answer, IdempotencyKey
from app.services.releasing.reuse import EarlierRelease
from app.services.releasing.sum_components import choose_components
from app.services.rendering import documents, estimates, summaries
from app.services.rendering.documents import Document
from app.services.rendering.release_answers import SettledRelease
from app.services.rendering.treatments import rules_as_sentence, treatment_document


@dataclass(frozen=True, slots=True)
class DerivedQuestion:
    """An analyst's question: a derived statistic, and the ε that its components may cost together, or an accuracy."""

    derived: Mapping[str, Any]
    target: Target
    alpha: mpq
    gamma: mpq
    grid_refinement: GridRefinement
    reuse: bool


@dataclass(frozen=True, slots=True)
class PlannedDerived:
    """What answers a question: the plan of each component, by role, and the ε that they share."""

    setting: Setting
    epsilon_nano: int
    plans: Mapping[str, Plan]
    chosen_width: PlannedWidth | None = None

    @property
    def width(self) -> PlannedWidth | None:
        """Return half the width of the planned interval, or None without the guesses that it needs."""
        return self.chosen_width or derived_accuracy.plan_width(self.setting, self.epsilon_nano)

    @property
    def derived(self) -> DerivedStatistic:
        """Return the derived statistic."""
        return self.setting.derived

    @property
    def treatments(self) -> tuple[Treatment, ...]:
        """Return what happens to missing values and to values outside the bounds."""
        return self.derived.treat(each for plan in self.plans.values() for each in plan.treatments)


def plan_derived(services: Services, entered: Access, question: DerivedQuestion) -> bytes:
    """Return the JSON of what the derived statistic and each component would cost now. It does not read the data.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is not the one that was registered.
        InvalidRequestError and the other errors of `questions.make_plan`: the question is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    exact_sums.require_open(entered.dataset)
    planned = _plan_derived(services, entered, question)
    derived, plans = planned.derived, planned.plans
    earlier: list[EarlierRelease | None] = [None] * len(plans)
    with services.database.read() as session:
        if question.reuse:
            earlier = reuse.find_earlier_releases(session, entered.dataset, list(plans.values()))
        account = accounts.find_account(session, entered.dataset.id)
    charges = list_charges(list(plans.values()), earlier)
    cost_nano, allowance = sum(charges), entered.allowance
    spendable_nano = 0 if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    components = [
        {
            "role": role,
            "statistic": plan.statistic.describe(),
            "epsilon": epsilon_text(plan.epsilon_nano),
            "accuracy": documents.accuracy_document(plan),
            "release_id": None if known is None else known.release_id,
            "charged": epsilon_text(charged_nano),
            **documents.reuse_members(None if known is None else reuse.plan_reuse(known, plan)),
        }
        for (role, plan), known, charged_nano in zip(plans.items(), earlier, charges, strict=True)
    ]
    budget = documents.charge_document(cost_nano, account.remaining_nano, allowance) | {
        "affordable": allowance is not None and cost_nano <= spendable_nano,
    }
    width = planned.width
    unit = present_stored(derived.described, entered.dataset.columns).unit
    expected = {
        "expected": None if width is None else estimates.render_expected_width(width),
        "summary": summaries.summarise_derived_plan(derived, width, cost_nano, question.alpha, unit)
        + rules_as_sentence(planned.treatments),
    }
    head = _answer_head(entered.dataset, planned, question)
    return encode_json(head | expected | {"components": components, "budget": budget})


def release_derived(
    services: Services, access: Access, question: DerivedQuestion, key: IdempotencyKey | None, *, rehearse: bool
) -> Answer:
    """Answer with a derived statistic; release and debit the components that no earlier release answers.

    With `rehearse`, the answer is a rehearsal: its components are those that cost least without any earlier release.

    Raises:
        As `release_flow.answer_request`.
    """

    def plan() -> PlannedRequest:
        asked = replace(question, reuse=question.reuse and not rehearse)
        planned = _plan_derived(services, access, asked)
        composed = partial(_compose, access.dataset, planned, question, rehearse=rehearse)
        return PlannedRequest(list(planned.plans.values()), composed)

    def list_kinds() -> list[str]:
        return [component["kind"] for component in _build_derived(access.dataset, question).components.values()]

    return release_flow.answer_request(
        services, access, ReleaseRequest(question.reuse, items=1, kinds=list_kinds, plan=plan, rehearse=rehearse), key
    )


@dataclass(frozen=True, slots=True)
class ReleasedDerived:
    """A derived statistic that follows from earlier releases alone.

    Attributes:
        answer: its JSON.
        epsilon_nano: what those releases cost together.
        released_at: when the latest of them was made.
    """

    answer: bytes
    epsilon_nano: int
    released_at: str


def read_derived(services: Services, access: Access, question: DerivedQuestion) -> ReleasedDerived:
    """Return a derived statistic from earlier releases, at no cost. It does not read the data or debit anything.

    Raises:
        NotReleasedError: a component was not released, or less accurately.
        InvalidRequestError and the other errors of `questions.make_plan`: the question is refused.
        SealBrokenError: the stored facts of the dataset or a release are not what was sealed.
    """
    facts.require_match(services.keyring, access.dataset, access.account)
    planned = _plan_derived(services, access, question)
    plans = list(planned.plans.values())
    with services.database.read_without_transaction() as session:
        earlier = reuse.find_earlier_releases(session, access.dataset, plans)
        known = [each for each in earlier if each is not None]
        if len(known) < len(earlier):
            raise NotReleasedError
        prepared = [
            reuse.open_earlier_release(session, services.keyring, each, plan)
            for each, plan in zip(known, plans, strict=True)
        ]
    account, allowance, rows = access.account, access.allowance, services.database
    releases = [each.settle(0, account, allowance) for each in prepared]
    answer = _compose(access.dataset, planned, question, releases, account, allowance, rows)
    costs = {each.release_id: each.plan.epsilon_nano for each in prepared}
    return ReleasedDerived(answer, sum(costs.values()), max(each.released_at or "" for each in prepared))


def _compose(  # noqa: PLR0913, PLR0917 - the question, the releases and the remaining budget
    dataset: Dataset,
    planned: PlannedDerived,
    question: DerivedQuestion,
    releases: Sequence[SettledRelease],
    account: Account,
    allowance: Allowance | None,
    rows: Rows,
    *,
    rehearse: bool = False,
) -> bytes:
    """Return the JSON of the derived statistic, computed from the releases of its components."""
    derived = planned.derived
    found = {role: each.read_facts(rows) for role, each in zip(derived.components, releases, strict=True)}
    shares = {role: epsilon_text(plan.epsilon_nano) for role, plan in planned.plans.items()}
    known = {
        role: estimates.to_component(each.release.plan, component)
        for (role, component), each in zip(found.items(), releases, strict=True)
    }
    marks: Document = {"rehearsed": True} if rehearse else {}
    answer = marks | _answer_head(dataset, planned, question)
    answer["estimates"] = estimates.estimates_document(derived.estimates(known), derived.date_kind)
    if derived.edges is not None:
        answer["edges"] = derived.edges
    if derived.bins is not None:
        answer["bins"] = derived.bins.describe()
    components = [
        {
            "role": role,
            "release_id": component.release_id,
            "statistic": component.outcome.statistic,
            "epsilon": shares[role],
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


def _read_target(dataset: Dataset, question: DerivedQuestion) -> Target:
    """Return what is wanted, with guesses of dates as numbers."""
    declared, target = columns.decode_columns(dataset.columns), question.target
    try:
        return replace(target, guesses=read_guesses(question.derived, target.guesses, declared))
    except InvalidStatistic as error:
        raise InvalidRequestError((error.where, error.what)) from None


def _plan_derived(services: Services, access: Access, question: DerivedQuestion) -> PlannedDerived:
    """Plan each component. ε is shared by weight, and α is divided by the number of components."""
    dataset = access.dataset
    derived, most_nano = _build_derived(dataset, question), services.settings.max_epsilon_nano
    statistics = {role: questions.build_statistic(dataset, each) for role, each in derived.components.items()}
    target = _read_target(dataset, question)
    setting = Setting(derived, statistics, question.alpha, question.gamma, question.grid_refinement, target.guesses)
    is_searched = target.epsilon_nano is None or target.guesses
    with enter_long_plan(services.database, access.principal.id) if is_searched else nullcontext():
        epsilon_nano = derived_accuracy.choose_epsilon(setting, target, most_nano)
        shares = setting.share(epsilon_nano)
    if 0 in shares.values():
        raise InvalidRequestError(("epsilon", "is too small: each component's share is below 1e-9"))
    plans = {
        role: questions.make_plan(
            dataset,
            Question(
                statistic=statistic,
                epsilon_nano=shares[role],
                accuracy=None,
                alpha=question.alpha / len(shares),
                gamma=question.gamma,
                grid_refinement=question.grid_refinement,
                reuse=question.reuse,
            ),
            most_nano,
        )
        for role, statistic in derived.components.items()
    }
    planned = PlannedDerived(setting, epsilon_nano, plans)
    return _choose_components(services, dataset, planned, question) if isinstance(derived, SomeSum) else planned


def _choose_components(
    services: Services, dataset: Dataset, planned: PlannedDerived, question: DerivedQuestion
) -> PlannedDerived:
    """Return the same sum of some rows, from a centred sum and a count if that costs less now."""
    derived, ((_, plain),) = cast("SomeSum", planned.derived), planned.plans.items()
    asked = Question({}, None, None, question.alpha, question.gamma, question.grid_refinement, question.reuse)
    chosen = choose_components(services.database, dataset, derived, plain, asked)
    if chosen is None:
        return planned
    centred = replace(derived.centred, described=derived.described)
    width = PlannedWidth(chosen.half_width, derived.basis(planned.setting.guesses))
    return PlannedDerived(replace(planned.setting, derived=centred), planned.epsilon_nano, chosen.plans, width)


def _answer_head(dataset: Dataset, planned: PlannedDerived, question: DerivedQuestion) -> Document:
    presentation = present_stored(planned.derived.described, dataset.columns)
    shown = {"units": presentation.units, "columns": presentation.columns}
    return {
        "dataset": dataset.name,
        "derived": planned.derived.described,
        "epsilon": epsilon_text(planned.epsilon_nano),
        "alpha": json_probability(question.alpha),
        **({"treatment": treatment_document(planned.treatments)} if planned.treatments else {}),
        **{name: member for name, member in shown.items() if member},
    }
