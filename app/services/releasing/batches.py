"""Plans and answers batches: all new releases of a batch are debited, or none is."""

from collections.abc import Mapping, Sequence

from app.json_text import encode_json, join_object
from app.ledger import accounts
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers.releases import Rows
from app.ledger.chain import facts
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import epsilon_allocation
from app.services.planning.epsilon_allocation import Batch
from app.services.planning.questions import Plan
from app.services.releasing import exact_sums, release_flow, reuse
from app.services.releasing.bulkhead import enter_if_many
from app.services.releasing.charges import list_charges
from app.services.releasing.release_requests import OnSettled, PlannedRequest, ReleaseRequest
from app.services.releasing.replays import Answer, IdempotencyKey
from app.services.releasing.reuse import EarlierRelease
from app.services.rendering import documents, summaries
from app.services.rendering.documents import Document
from app.services.rendering.release_answers import SettledRelease


def plan_batch(services: Services, entered: Access, batch: Batch) -> bytes:
    """Return the JSON of what each item of the batch would cost now. It does not read the data or debit anything.

    Raises:
        DatasetClosedError: the dataset is deleted.
        DatasetStaleError: the live table is not the one that was registered.
        InvalidRequestError: the batch or one of its items is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    exact_sums.require_open(entered.dataset)
    with enter_if_many(services.database, len(batch.items), entered.principal.id):
        return _plan(services, entered, batch)


def _plan(services: Services, entered: Access, batch: Batch) -> bytes:
    plans = epsilon_allocation.plan_items(entered.dataset, batch, services.settings.max_epsilon_nano)
    earlier: list[EarlierRelease | None] = [None] * len(plans)
    with services.database.read() as session:
        if batch.reuse:
            earlier = reuse.find_earlier_releases(session, entered.dataset, plans)
        account = accounts.find_account(session, entered.dataset.id)
    allowance = entered.allowance
    charges = list_charges(plans, earlier)
    cost_nano, fresh = sum(charges), earlier.count(None)
    items = [encode_item(*each) for each in zip(plans, earlier, charges, strict=True)]
    spendable_nano = None if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    budget = documents.charge_document(cost_nano, account.remaining_nano, allowance)
    budget["affordable"] = spendable_nano is not None and cost_nano <= spendable_nano
    summary = summaries.summarise_batch_plan(len(items), fresh, cost_nano, affordable=budget["affordable"])
    return _encode_batch(entered, items, summary, budget, {})


def encode_item(plan: Plan, known: EarlierRelease | None, charged_nano: int) -> bytes:
    """Return the JSON of what one item would promise and be charged."""
    answering = None if known is None else reuse.plan_reuse(known, plan)
    told = {
        "summary": summaries.summarise_plan(answering or plan, reused=answering is not None),
        "charged": epsilon_text(charged_nano),
        **documents.reuse_members(answering),
    }
    return join_object(documents.encode_facts(plan), told)


def release_batch(  # noqa: PLR0913 - who asks what, and how
    services: Services,
    access: Access,
    batch: Batch,
    key: IdempotencyKey | None,
    *,
    rehearse: bool = False,
    on_settled: OnSettled | None = None,
) -> Answer:
    """Answer every item of a batch with an earlier release or a fresh one. All fresh ones are debited, or none is.

    With `rehearse`, the answer is a rehearsal of every item. `on_settled` is called in the transaction that debits.

    Raises:
        As `release_flow.answer_request`. If the shared ε does not fit an item, the InvalidRequestError names it. A
        BudgetExhaustedError is about the cost of all items together.
    """

    def plan() -> PlannedRequest:
        plans = epsilon_allocation.plan_items(access.dataset, batch, services.settings.max_epsilon_nano)
        return PlannedRequest(plans, compose)

    def compose(releases: Sequence[SettledRelease], account: Account, allowance: Allowance | None, rows: Rows) -> bytes:
        fresh = [each.charged_nano for each in releases if not each.reused]
        budget = documents.charge_document(sum(fresh), account.remaining_nano, allowance)
        items = [each.content(rows) for each in releases]
        if rehearse:
            plans = [each.release.plan for each in releases]
            summary = summaries.summarise_rehearsed_batch(len(items), sum(list_charges(plans, [None] * len(plans))))
        else:
            summary = summaries.summarise_batch(len(items), len(fresh), sum(fresh))
        return _encode_batch(access, items, summary, budget, documents.REHEARSED if rehearse else {})

    def list_kinds() -> list[str]:
        return [item.statistic["kind"] for item in batch.items]

    request = ReleaseRequest(batch.reuse, len(batch.items), list_kinds, plan, rehearse, on_settled)
    return release_flow.answer_request(services, access, request, key)


def _encode_batch(
    access: Access, items: Sequence[bytes], summary: str, budget: Document, marks: Mapping[str, bytes]
) -> bytes:
    listed = b"[%b]" % b",".join(items)
    members = {**marks, "dataset": encode_json(access.dataset.name), "items": listed}
    return join_object(members, {"summary": summary, "budget": budget})
