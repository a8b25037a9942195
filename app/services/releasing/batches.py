"""Many releases at once: all of them are debited, or none is.

The order of events is that of `app.services.releasing.releases`. One transaction holds the idempotency row, and the
debit, entry and answer of every item that no earlier release answers, an earlier item of the same batch included.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.db.session import ReadSession, Session, WriteSession
from app.errors import KeyRequiredError
from app.json_text import encode_json, join_object
from app.ledger import accounts, allowances
from app.ledger.chain import facts
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import epsilon_allocation
from app.services.planning.epsilon_allocation import Batch, PlannedItem
from app.services.releasing import exact_sums, multiple_releases, releases, reuse
from app.services.releasing.bulkhead import enter_if_many
from app.services.releasing.releases import CREATED, OK, Answer, Key, ReleaseAttempt, UnpaidDraw
from app.services.releasing.reuse import EarlierRelease
from app.services.releasing.storage_limits import require_storage
from app.services.rendering import documents, summaries
from app.services.rendering.documents import Document

_OF_THIS_BATCH = ""  # the id, not given yet, of an item's release that answers later items too


def plan_batch(services: Services, entered: Access, batch: Batch) -> bytes:
    """The JSON of what the batch would cost now, item by item; nothing is read of the data, and nothing is debited.

    Raises:
        DatasetClosedError, DatasetStaleError: there is no data any more, or not the one that was registered.
        InvalidRequestError: the batch or one of its items is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    exact_sums.require_open(entered.dataset)
    with enter_if_many(services.database, len(batch.items), entered.principal.id):
        return _plan(services, entered, batch)


def _plan(services: Services, entered: Access, batch: Batch) -> bytes:
    items = epsilon_allocation.plan_items(entered.dataset, batch, services.settings.max_epsilon_nano)
    with services.database.read() as session:
        known = _find_earlier_releases(session, entered, items)
        account = accounts.find_account(session, entered.dataset.id)
    cost_nano, allowance = _cost_nano(items, known), entered.allowance
    planned = []
    for item, earlier in zip(items, known, strict=True):
        reused = earlier is not None
        told = {
            "summary": summaries.summarise_plan(item.plan, reused=reused),
            "charged": epsilon_text(0 if reused else item.plan.epsilon_nano),
            "reused": reused,
        }
        members = {name: encode_json(member) for name, member in told.items()}
        planned.append(join_object({**documents.encode_facts(item.plan), **members}))
    spendable_nano = None if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    budget = documents.charge_document(cost_nano, account.remaining_nano, allowance)
    budget["affordable"] = spendable_nano is not None and cost_nano <= spendable_nano
    summary = summaries.summarise_batch_plan(len(items), known.count(None), cost_nano, affordable=budget["affordable"])
    return _encode_batch(entered, planned, summary, budget)


def release_batch(services: Services, access: Access, batch: Batch, key: Key | None) -> Answer:
    """Answer every item of a batch with a release: an earlier one, or a fresh one; all are debited, or none.

    Raises:
        As `releases.release`; what the shares do not fit is an InvalidRequestError that names the item, and a
        BudgetExhaustedError is about the cost of all items together.
    """
    access.require_allowance()
    if key is None and not batch.reuse:
        raise KeyRequiredError
    facts.require_match(services.keyring, access.dataset, access.account)
    with enter_if_many(services.database, len(batch.items), access.principal.id):
        return _release(services, access, batch, key)


def _release(services: Services, access: Access, batch: Batch, key: Key | None) -> Answer:
    with services.database.read() as session:
        if key is not None and (stored := releases.find_replay(services, session, access, key)):
            releases.require_sound(services, access, stored)
            return stored
        exact_sums.require_open(access.dataset)
        items = epsilon_allocation.plan_items(access.dataset, batch, services.settings.max_epsilon_nano)
        whole = _BatchAttempt(access, items, key, services)
        known = _find_earlier_releases(session, access, items)
        if None in known or key is not None:
            require_storage(services.settings, access.account, access.allowance)
        if None in known:
            releases.require_affordable(access, _cost_nano(items, known))
        elif key is None:
            answer = whole.reused(session, [earlier for earlier in known if earlier is not None])
            multiple_releases.record_releases(access, items, [OK] * len(items))
            return answer
    drawn = multiple_releases.draw_releases(services, access, items, known)
    committed = services.database.transact(lambda transaction: whole.committed(transaction, drawn))
    if committed is not None:
        answer, statuses = committed
        services.database.when_durable(lambda: multiple_releases.record_releases(access, items, statuses))
        return answer
    return releases.answer_of_twin(services, access, key)


@dataclass(frozen=True, slots=True)
class _BatchAttempt:
    """One request on its way from the plans of its items to its answer."""

    access: Access
    items: Sequence[PlannedItem]
    key: Key | None
    services: Services

    def reused(self, session: Session, known: Sequence[EarlierRelease]) -> Answer:
        """The answer to a batch that earlier releases answer."""
        bodies = multiple_releases.reused(session, self.access, self._attempts(), known)
        return Answer(OK, self._body(session, bodies, [OK] * len(bodies)))

    def committed(
        self, transaction: WriteSession, found: Sequence[UnpaidDraw | EarlierRelease]
    ) -> tuple[Answer, Sequence[int]] | None:
        """As `together.committed`."""
        return multiple_releases.commit_releases(
            *(transaction, self.services.keyring.seal, self.access, self.key, self._attempts(), found),
            locked=lambda: self._require_affordable(transaction),
            body_of=lambda bodies, statuses: self._body(transaction, bodies, statuses),
        )

    def _attempts(self) -> list[ReleaseAttempt]:
        """One for each item; the key is the whole's."""
        keyring, settings = self.services.keyring, self.services.settings
        return [ReleaseAttempt(self.access, item.question, item.plan, None, keyring, settings) for item in self.items]

    def _require_affordable(self, transaction: WriteSession) -> None:
        """Lock the account, and refuse the whole before any item is debited, so that the refusal is about the whole."""
        dataset, principal = self.access.dataset, self.access.principal
        account = accounts.lock_open_account(transaction, dataset.id)
        cost_nano = _cost_nano(self.items, _find_earlier_releases(transaction, self.access, self.items))
        if cost_nano == 0:
            return
        releases.require_budget(account, allowances.find_allowance(transaction, dataset.id, principal.id), cost_nano)

    def _body(self, session: Session, bodies: Sequence[bytes], statuses: Sequence[int]) -> bytes:
        dataset, principal = self.access.dataset, self.access.principal
        fresh = [item.plan.epsilon_nano for item, status in zip(self.items, statuses, strict=True) if status == CREATED]
        remaining_nano = accounts.find_account(session, dataset.id).remaining_nano
        budget = documents.charge_document(
            sum(fresh), remaining_nano, allowances.find_allowance(session, dataset.id, principal.id)
        )
        return _encode_batch(
            self.access, bodies, summaries.summarise_batch(len(bodies), len(fresh), sum(fresh)), budget
        )


def _find_earlier_releases(
    session: ReadSession | WriteSession, access: Access, items: Sequence[PlannedItem]
) -> list[EarlierRelease | None]:
    """For each item the release that answers it: an earlier one, or that of an item before it in the batch."""
    by_statistic: dict[str, list[EarlierRelease]] = {}
    found: list[EarlierRelease | None] = []
    for item in items:
        plan = item.plan
        identity = plan.statistic.identity
        if item.question.reuse and identity not in by_statistic:
            by_statistic[identity] = reuse.list_earlier_releases(session, access.dataset, plan.statistic, plan.alpha)
        known = by_statistic.get(identity, [])
        earlier = reuse.choose_earlier_release(known, plan)
        if earlier is None:
            known.append(EarlierRelease(_OF_THIS_BATCH, access.dataset.id, plan.mechanism, plan.radius))
        found.append(earlier)
    return found


def _cost_nano(items: Sequence[PlannedItem], known: Sequence[EarlierRelease | None]) -> int:
    """What the items cost that nothing answers, in ledger units."""
    return sum(item.plan.epsilon_nano for item, earlier in zip(items, known, strict=True) if earlier is None)


def _encode_batch(access: Access, items: Sequence[bytes], summary: str, budget: Document) -> bytes:
    listed = b"[%b]" % b",".join(items)
    told = {"summary": encode_json(summary), "budget": encode_json(budget)}
    return join_object({"dataset": encode_json(access.dataset.name), "items": listed, **told})
