"""Answers a request for a release, a batch or a derived statistic; all three take the same path.

The order of the steps matters. First, reads decide about refusals, replays and reuse. Then the exact sums are computed
and the releases drawn. Then one transaction writes the idempotency row, the debits, the entries and the answers. A
crash before its commit costs nothing; a crash after it loses nothing.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from app.db.session import WriteSession
from app.errors import KeyRequiredError
from app.ledger.answers.releases import Rows
from app.ledger.chain import facts
from app.services.access import Access
from app.services.context import Services
from app.services.releasing import draws, exact_sums, outcomes, rehearsals, replays, reuse
from app.services.releasing.bulkhead import enter_if_large, enter_if_many
from app.services.releasing.charges import list_charges
from app.services.releasing.release_requests import PlannedRequest, ReleaseRequest, SettledRequest
from app.services.releasing.release_transaction import Prepared, ReleaseTransaction, require_budget
from app.services.releasing.replays import Answer, IdempotencyKey
from app.services.releasing.reuse import EarlierRelease
from app.services.releasing.storage_limits import require_storage


def answer_request(services: Services, access: Access, request: ReleaseRequest, key: IdempotencyKey | None) -> Answer:
    """Answer every question of a request, or none: with a replay, earlier releases or fresh releases, or a rehearsal.

    Raises:
        KeyRequiredError, KeyReusedError: the idempotency key is missing, or was used for a different request.
        DatasetClosedError, DatasetStaleError: the dataset is deleted, or its live table has changed.
        BudgetExhaustedError: the account or the allowance cannot pay the cost.
        StorageExhaustedError: the storage limit for answers is reached.
        InvalidRequestError and the other errors of `questions.make_plan`: a question is refused.
        SealBrokenError: the stored facts of the dataset are not what was sealed.
        UnavailableError: the database or the engine did not answer. If a debit was made nevertheless, a retry with the
            same idempotency key replays its answer.
    """
    if request.rehearse:
        access.require_planning()
    else:
        access.require_allowance()
    if key is None and not request.reuse:
        raise KeyRequiredError
    if request.rehearse:
        key = None  # it names no answer, and so it never collides with one
    facts.require_match(services.keyring, access.dataset, access.account)
    with enter_if_many(services.database, request.items, access.principal.id):
        if key is not None and (stored := replays.find_replay(services, access, key)):
            return _tell_replay(access, request, stored)
        exact_sums.require_open(access.dataset)
        planned = request.plan()
        components = sum(plan.statistic.components for plan in planned.plans)
        with enter_if_large(services.database, components, access.principal.id):
            if request.rehearse:
                return rehearsals.rehearse(services, access, planned)
            answer = _Attempt(services, access, request, planned, key).answer()
        # Read a concurrent request's answer only now: to check a large one takes its own place in the bulkhead.
        return answer or _tell_replay(access, request, replays.find_twin_answer(services, access, key))


def _tell_replay(access: Access, request: ReleaseRequest, stored: Answer) -> Answer:
    outcomes.record_replays(access, request.kinds())
    return stored


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A planned request, and the steps that answer it."""

    services: Services
    access: Access
    request: ReleaseRequest
    planned: PlannedRequest
    key: IdempotencyKey | None

    def answer(self) -> Answer | None:
        """Return the answer; None if a concurrent request with the same key committed first."""
        database, plans = self.services.database, self.planned.plans
        earlier: list[EarlierRelease | None] = [None] * len(plans)
        if self.request.reuse:
            with database.read_without_transaction() as session:
                earlier = reuse.find_earlier_releases(session, self.access.dataset, plans)
        self._refuse(earlier)
        # One release may be large.
        with nullcontext(database) if len(plans) == 1 else database.read_without_transaction() as rows:
            known = self._open_known(rows, earlier)
        if self.key is None and len(known) == len(plans):
            free = self._settle_free(known)
            outcomes.record_releases(self.access, free.releases)
            return free.answer(database)
        prepared = {**known, **self._draw(earlier)}
        settled = database.transact(lambda transaction: self._commit(transaction, prepared), self.access.dataset.id)
        if settled is None:
            return None
        database.when_durable(lambda: outcomes.record_releases(self.access, settled.releases))
        return settled.answer(database)

    def _refuse(self, earlier: Sequence[EarlierRelease | None]) -> None:
        """Refuse early what the transaction would refuse, so that no scan or draw is wasted on it."""
        plans, access = self.planned.plans, self.access
        cost_nano = sum(list_charges(plans, earlier))
        if cost_nano or self.key is not None:
            require_storage(self.services.settings, access.account, access.allowance)
        if cost_nano:
            require_budget(access.account, access.require_allowance(), cost_nano)

    def _open_known(self, rows: Rows, earlier: Sequence[EarlierRelease | None]) -> Prepared:
        """Open the releases from before this request that answer its questions, by position."""
        keyring = self.services.keyring
        return {
            place: reuse.open_earlier_release(rows, keyring, each, plan)
            for place, (each, plan) in enumerate(zip(earlier, self.planned.plans, strict=True))
            if each is not None and each.release_id != reuse.NOT_DRAWN
        }

    def _draw(self, earlier: Sequence[EarlierRelease | None]) -> Prepared:
        """Draw fresh releases for the questions that no earlier release answers, by position."""
        fresh = {place: self.planned.plans[place] for place, each in enumerate(earlier) if each is None}
        drawn = draws.draw_releases(self.services, self.access, list(fresh.values()))
        return dict(zip(fresh, drawn, strict=True))

    def _settle_free(self, known: Prepared) -> SettledRequest:
        """Answer with earlier releases alone. The budget shown is the one read when the request was authorised."""
        account, allowance, rows = self.access.account, self.access.allowance, self.services.database
        releases = [known[place].settle(0, account, allowance) for place in range(len(known))]
        compose = self.planned.compose
        return SettledRequest(releases, None if compose is None else compose(releases, account, allowance, rows))

    def _commit(self, transaction: WriteSession, prepared: Prepared) -> SettledRequest | None:
        return ReleaseTransaction(
            *(self.services, self.access, self.planned, self.key),
            *(self.request.reuse, self.request.on_settled, transaction),
        ).commit(prepared)
