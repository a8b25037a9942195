"""Many releases at once: all of them are debited, or none is.

The order of events is that of `app.services.releases`. One transaction holds the idempotency row, and the debit, entry
and answer of every item that no earlier release answers, an earlier item of the same batch included.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.db.session import ReadSession, Session, WriteSession
from app.errors import KeyRequiredError
from app.json_text import encode, object_of
from app.ledger import accounts, allowances, facts
from app.ledger.units import epsilon_text
from app.services import documents, releases, reuse, scans, shares, summaries, together
from app.services.access import Access
from app.services.bulkhead import enter_if_many
from app.services.context import Services
from app.services.documents import Document
from app.services.releases import CREATED, OK, Answer, Attempt, Drawn, Key
from app.services.reuse import Earlier
from app.services.shares import Batch, Planned
from app.services.storage_limits import require_storage

_OF_THIS_BATCH = ""  # the id, not given yet, of an item's release that answers later items too


def plan(services: Services, entered: Access, batch: Batch) -> bytes:
    """The JSON of what the batch would cost now, item by item; nothing is read of the data, and nothing is debited.

    Raises:
        DatasetClosedError, DatasetStaleError: there is no data any more, or not the one that was registered.
        InvalidRequestError: the batch or one of its items is refused.
    """
    facts.require_match(services.keyring, entered.dataset, entered.account)
    scans.require_open(entered.dataset)
    with enter_if_many(services.database, len(batch.items), entered.principal.id):
        return _plan(services, entered, batch)


def _plan(services: Services, entered: Access, batch: Batch) -> bytes:
    items = shares.planned(entered.dataset, batch, services.settings.max_epsilon_nano)
    with services.database.read() as session:
        known = _known(session, entered, items)
        account = accounts.find(session, entered.dataset.id)
    cost_nano, allowance = _cost(items, known), entered.allowance
    planned = []
    for item, earlier in zip(items, known, strict=True):
        reused = earlier is not None
        told = {
            "summary": summaries.planned(item.plan, reused=reused),
            "charged": epsilon_text(0 if reused else item.plan.epsilon_nano),
            "reused": reused,
        }
        members = {name: encode(member) for name, member in told.items()}
        planned.append(object_of({**documents.facts(item.plan), **members}))
    spendable_nano = None if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    budget = documents.budget(cost_nano, account.remaining_nano, allowance)
    budget["affordable"] = spendable_nano is not None and cost_nano <= spendable_nano
    summary = summaries.batch_planned(len(items), known.count(None), cost_nano, affordable=budget["affordable"])
    return _document(entered, planned, summary, budget)


def release(services: Services, access: Access, batch: Batch, key: Key | None) -> Answer:
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
        if key is not None and (stored := releases.replay(services, session, access, key)):
            releases.require_sound(services, access, stored)
            return stored
        scans.require_open(access.dataset)
        items = shares.planned(access.dataset, batch, services.settings.max_epsilon_nano)
        whole = _Whole(access, items, key, services)
        known = _known(session, access, items)
        if None in known or key is not None:
            require_storage(services.settings, access.account, access.allowance)
        if None in known:
            releases.require_affordable(access, _cost(items, known))
        elif key is None:
            answer = whole.reused(session, [earlier for earlier in known if earlier is not None])
            together.recorded(access, items, [OK] * len(items))
            return answer
    drawn = together.drawn(services, access, items, known)
    committed = services.database.transact(lambda transaction: whole.committed(transaction, drawn))
    if committed is not None:
        answer, statuses = committed
        services.database.when_durable(lambda: together.recorded(access, items, statuses))
        return answer
    return releases.of_twin(services, access, key)


@dataclass(frozen=True, slots=True)
class _Whole:
    """One request on its way from the plans of its items to its answer."""

    access: Access
    items: Sequence[Planned]
    key: Key | None
    services: Services

    def reused(self, session: Session, known: Sequence[Earlier]) -> Answer:
        """The answer to a batch that earlier releases answer."""
        bodies = together.reused(session, self.access, self._attempts(), known)
        return Answer(OK, self._body(session, bodies, [OK] * len(bodies)))

    def committed(
        self, transaction: WriteSession, found: Sequence[Drawn | Earlier]
    ) -> tuple[Answer, Sequence[int]] | None:
        """As `together.committed`."""
        return together.committed(
            *(transaction, self.services.keyring.seal, self.access, self.key, self._attempts(), found),
            locked=lambda: self._require_affordable(transaction),
            body_of=lambda bodies, statuses: self._body(transaction, bodies, statuses),
        )

    def _attempts(self) -> list[Attempt]:
        """One for each item; the key is the whole's."""
        keyring, settings = self.services.keyring, self.services.settings
        return [Attempt(self.access, item.question, item.plan, None, keyring, settings) for item in self.items]

    def _require_affordable(self, transaction: WriteSession) -> None:
        """Lock the account, and refuse the whole before any item is debited, so that the refusal is about the whole."""
        dataset, principal = self.access.dataset, self.access.principal
        account = accounts.lock_open(transaction, dataset.id)
        cost_nano = _cost(self.items, _known(transaction, self.access, self.items))
        if cost_nano == 0:
            return
        releases.require_room(account, allowances.find(transaction, dataset.id, principal.id), cost_nano)

    def _body(self, session: Session, bodies: Sequence[bytes], statuses: Sequence[int]) -> bytes:
        dataset, principal = self.access.dataset, self.access.principal
        fresh = [item.plan.epsilon_nano for item, status in zip(self.items, statuses, strict=True) if status == CREATED]
        remaining_nano = accounts.find(session, dataset.id).remaining_nano
        budget = documents.budget(sum(fresh), remaining_nano, allowances.find(session, dataset.id, principal.id))
        return _document(self.access, bodies, summaries.batch_released(len(bodies), len(fresh), sum(fresh)), budget)


def _known(session: ReadSession | WriteSession, access: Access, items: Sequence[Planned]) -> list[Earlier | None]:
    """For each item the release that answers it: an earlier one, or that of an item before it in the batch."""
    by_statistic: dict[str, list[Earlier]] = {}
    found: list[Earlier | None] = []
    for item in items:
        plan = item.plan
        identity = plan.statistic.identity
        if item.question.reuse and identity not in by_statistic:
            by_statistic[identity] = reuse.known(session, access.dataset, plan.statistic, plan.alpha)
        known = by_statistic.get(identity, [])
        earlier = reuse.chosen(known, plan)
        if earlier is None:
            known.append(Earlier(_OF_THIS_BATCH, access.dataset.id, plan.mechanism, plan.radius))
        found.append(earlier)
    return found


def _cost(items: Sequence[Planned], known: Sequence[Earlier | None]) -> int:
    """What the items cost that nothing answers, in ledger units."""
    return sum(item.plan.epsilon_nano for item, earlier in zip(items, known, strict=True) if earlier is None)


def _document(access: Access, items: Sequence[bytes], summary: str, budget: Document) -> bytes:
    listed = b"[%b]" % b",".join(items)
    told = {"summary": encode(summary), "budget": encode(budget)}
    return object_of({"dataset": encode(access.dataset.name), "items": listed, **told})
