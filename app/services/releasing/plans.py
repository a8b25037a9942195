"""Plans releases: what a release would cost and promise. A plan is free."""

from dataclasses import dataclass

from gmpy2 import mpq

from app.db.repositories.principals import Principal
from app.json_text import join_object
from app.ledger.chain import facts
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import curves, questions
from app.services.planning.curves import Curve, SpendableBudget
from app.services.planning.hypothetical_datasets import HypotheticalStatistic
from app.services.planning.questions import Plan, Question
from app.services.releasing import exact_sums, reuse
from app.services.releasing.bulkhead import enter_if_large
from app.services.releasing.reuse import EarlierRelease
from app.services.rendering import documents, summaries
from app.services.rendering.documents import Document


@dataclass(frozen=True, slots=True)
class PlanExtras:
    """Optional parts of a plan: a curve, and the bias at a guess."""

    curve: Curve | None = None
    guess: mpq | None = None


def plan_release(services: Services, entered: Access, question: Question, extras: PlanExtras) -> bytes:
    """Return the JSON of what a release would cost and promise. It does not read the data or debit anything.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is not the one that was registered.
        InvalidRequestError and the other errors of `questions.make_plan`: the question is refused.
        OverloadedError: too many large answers are in progress.
        EpsilonTooLargeError: the curve ends beyond what one release may cost.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    exact_sums.require_open(entered.dataset)
    most_nano = services.settings.max_epsilon_nano
    planned = questions.make_plan(entered.dataset, question, most_nano)
    if extras.curve is not None or extras.guess is not None:
        services.database.pause()
    known = _find_earlier_releases(services, entered, planned) if question.reuse else []
    earlier = reuse.choose_earlier_release(known, planned)
    answering = None if earlier is None else reuse.plan_reuse(earlier, planned)
    reused = answering is not None
    cost_nano, account, allowance = planned.epsilon_nano, entered.account, entered.allowance
    # An owner or admin may plan before it grants itself an allowance, but it cannot pay for a release without one.
    spendable_nano = None if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    affordable = spendable_nano is not None and (reused or cost_nano <= spendable_nano)
    budget = documents.charge_document(0 if reused else cost_nano, account.remaining_nano, allowance) | {
        "affordable": affordable,
        "repeatable": (spendable_nano or 0) // cost_nano,
    }
    summary = summaries.summarise_plan(answering or planned, reused=reused, affordable=affordable)
    told = {"summary": summary, "budget": budget, **documents.reuse_members(answering)}
    purse = SpendableBudget(spendable_nano, lambda plan: reuse.choose_earlier_release(known, plan) is not None)
    more = _extra_members(planned, most_nano, extras, purse)
    with enter_if_large(services.database, planned.statistic.components, entered.principal.id):
        return documents.encode_plan(entered.dataset, planned, **told, **more)


def _find_earlier_releases(services: Services, entered: Access, planned: Plan) -> list[EarlierRelease]:
    with services.database.read_without_transaction() as session:
        return reuse.list_earlier_releases(session, entered.dataset, planned)


def plan_without_data(
    services: Services, principal: Principal, asked: HypotheticalStatistic, question: Question, extras: PlanExtras
) -> bytes:
    """Return the JSON of what a release of a statistic would cost and promise, without a dataset.

    Raises:
        EpsilonTooLargeError, AccuracyTrivialError, AccuracyUnattainableError: as their names say.
        OverloadedError: too many large answers are in progress.
    """
    most_nano = services.settings.max_epsilon_nano
    planned = questions.plan_statistic(asked.statistic, question, most_nano, asked.treatments, asked.presentation)
    more = {"summary": summaries.summarise_plan(planned), **_extra_members(planned, most_nano, extras, None)}
    with enter_if_large(services.database, asked.statistic.components, principal.id):
        return join_object(documents.encode_facts(planned), more)


def _extra_members(planned: Plan, most_nano: int, extras: PlanExtras, purse: SpendableBudget | None) -> Document:
    more: Document = {"cliff": _cliff_document(planned, most_nano)}
    if extras.guess is not None:
        more["bias"] = documents.bias_document(planned.mechanism, extras.guess)
    if extras.curve is not None:
        more["curve"] = curves.compute_curve(planned, extras.curve, most_nano, purse)
    return more


def _cliff_document(planned: Plan, most_nano: int) -> Document | None:
    """Return the next cliff above the plan's ε and the radius there.

    None if it hardly changes the radius, costs more than three times the plan's ε or more than a release may cost.
    """
    cliff = planned.cliff
    if cliff is None or cliff.epsilon_nano > most_nano:
        return None
    return {"epsilon": epsilon_text(cliff.epsilon_nano), "accuracy": cliff.radius}
