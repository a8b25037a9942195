"""The main job: a private statistic, debited and on record.

The order of events is what the promises rest on: refusals, replays and reuse are decided by reads; then come the exact
sums and the draw; then one transaction holds idempotency row, debit, entry and answer. A crash before its commit costs
nothing, one after it loses nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from app import metrics
from app.config import Settings
from app.db.clock import now
from app.db.session import Session, WriteSession
from app.db.time_ordered_ids import time_ordered_id
from app.dp.errors import DrawExhausted
from app.dp.numbers.random_bits import SystemBits
from app.dp.table.sums import Answer as Sums
from app.errors import BudgetExhaustedError, ForbiddenError, KeyRequiredError, KeyReusedError, UnavailableError
from app.ledger import accounts, allowances
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers import idempotency, releases
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body, Opening, StoredAnswer
from app.ledger.answers.idempotency import Claim
from app.ledger.answers.releases import Release, Rows
from app.ledger.answers.reused_answers import open_answer
from app.ledger.chain import entries, facts
from app.ledger.chain.keyring import Keyring
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.planning import questions
from app.services.planning.questions import Plan, Question
from app.services.releasing import exact_sums, reuse
from app.services.releasing.bulkhead import LARGE_ANSWERS, enter_if_large
from app.services.releasing.reuse import EarlierRelease
from app.services.releasing.storage_limits import ROW_BYTES, require_storage
from app.services.rendering import documents
from app.services.rendering.documents import ReusedAnswer

CREATED, OK = 201, 200
MOST_QUICK = 100
"""Components, up to which a draw takes no longer than the rest of a release."""

log = structlog.stdlib.get_logger("snapledger.releases")


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key and the fingerprint of the request that it is bound to."""

    text: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body, which is read from the database piece by piece where it is large.

    `replayed` where both were stored before.
    """

    status: int
    body: bytes | Body
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """An answer of a transaction, which may be shown after its commit."""

    status: int
    release_id: str
    answer: StoredAnswer

    def content(self, rows: Rows) -> bytes:
        """All of the answer, where it may be held as a whole, as within its transaction."""
        return self.answer.plain or self._body(rows).content()

    def shown(self, rows: Rows) -> Answer:
        """What the caller is answered after the commit; what is large is read from the database while it is sent."""
        if (plain := self.answer.plain) is not None:
            return Answer(self.status, plain)
        if self.status == CREATED:
            return Answer(self.status, releases.committed_body(rows, self.release_id, self.answer))
        return Answer(self.status, self._body(rows))

    def _body(self, rows: Rows) -> Body:
        return open_answer(self.answer, lambda: releases.response_body(rows, self.release_id))


def release(services: Services, access: Access, question: Question, key: Key | None) -> Answer:
    """Answer a question with a release: a stored one, an earlier one, or a fresh one that is debited.

    Raises:
        KeyRequiredError, KeyReusedError: about the idempotency key.
        DatasetClosedError, DatasetStaleError, BudgetExhaustedError: the present state refuses it.
        StorageExhaustedError: there is no room for another answer.
        InvalidRequestError and the rest of `questions.make`'s: the question is refused.
        SealBrokenError: what is stored of the dataset is not what was sealed.
        UnavailableError: the database or the engine did not answer; nothing was debited, or the key replays what was.
    """
    access.require_allowance()
    if key is None and not question.reuse:
        raise KeyRequiredError
    facts.require_match(services.keyring, access.dataset, access.account)
    if key is not None and (stored := _find_stored_answer(services, access, question, key)):
        return stored
    exact_sums.require_open(access.dataset)
    plan = questions.make_plan(access.dataset, question, services.settings.max_epsilon_nano)
    with enter_if_large(services.database, plan.statistic.components, access.principal.id):
        return _release(services, access, question, plan, key)


def _release(services: Services, access: Access, question: Question, plan: Plan, key: Key | None) -> Answer:
    attempt = ReleaseAttempt(access, question, plan, key, services.keyring, services.settings)
    earlier, ready = None, None
    if question.reuse:
        with services.database.ask() as session:
            earlier = attempt.earlier(session)
        if earlier is not None:
            ready = reuse.encode_reused_answer(services.database, services.keyring, earlier, plan)
            if key is None:
                record_release(access, question, "reused")
                return attempt.reused(ready, access.account, access.allowance).shown(services.database)
    require_storage(services.settings, access.account, access.allowance)
    if earlier is None:
        require_affordable(access, plan.epsilon_nano)
    attempt = replace(attempt, ready=ready)
    drawn = compute_and_draw(services, access, plan) if earlier is None else earlier
    settled = services.database.transact(lambda transaction: attempt.committed(transaction, drawn))
    if settled is not None:
        outcome, charged = ("fresh", plan.epsilon_nano) if settled.status == CREATED else ("reused", 0)
        services.database.when_durable(lambda: record_release(access, question, outcome, charged))
        return settled.shown(services.database)
    twin = answer_of_twin(services, access, key)
    record_release(access, question, "replayed")
    return twin


def _find_stored_answer(services: Services, access: Access, question: Question, key: Key) -> Answer | None:
    with services.database.ask() as session:
        stored = find_replay(services, session, access, key)
    if stored is not None:
        require_sound(services, access, stored)
        record_release(access, question, "replayed")
    return stored


def answer_of_twin(services: Services, access: Access, key: Key | None) -> Answer:
    """What a twin with the same key was answered, which committed first: our draws are discarded.

    Raises:
        UnavailableError: there is none, after all.
    """
    if key is not None:
        with services.database.ask() as session:
            stored = find_replay(services, session, access, key)
        if stored is not None:
            require_sound(services, access, stored)
            return stored
    raise UnavailableError


def require_sound(services: Services, access: Access, stored: Answer) -> None:
    """Look through a large answer before the first byte of it is sent.

    Raises:
        DamagedAnswerError: it is not what was written.
        OverloadedError: as many large answers are being made or looked through as may.
    """
    body = stored.body
    if isinstance(body, Body) and body.size > MAX_PLAIN_BYTES:
        services.database.pause()
        with LARGE_ANSWERS.enter(access.principal.id):
            body.require_sound()


def record_release(access: Access, question: Question, outcome: str, cost_nano: int = 0) -> None:
    """Say who had what for how much, to the log and the metrics; never what the answer was."""
    kind = question.statistic["kind"]
    metrics.RELEASES.labels(kind, outcome).inc()
    metrics.DEBITED.inc(cost_nano / NANO_PER_EPSILON)
    log.info(
        "release",
        principal=access.principal.name,
        dataset=access.dataset.name,
        statistic=kind,
        outcome=outcome,
        charged=epsilon_text(cost_nano),
    )


def require_affordable(access: Access, cost_nano: int) -> None:
    """Refuse early what the transaction would refuse: no scan and no draw for a debit that cannot be made."""
    require_budget(access.account, access.require_allowance(), cost_nano)


def require_budget(account: Account, allowance: Allowance | None, cost_nano: int) -> None:
    """Refuse what the account or the allowance cannot bear.

    Raises:
        BudgetExhaustedError: it says which, of both the one that has less, and what remains of it.
        ForbiddenError: there is no allowance.
    """
    if allowance is None:
        raise ForbiddenError("You have no allowance on this dataset: its owner can grant one.")
    if cost_nano > min(account.remaining_nano, allowance.remaining_nano):
        if allowance.remaining_nano < account.remaining_nano:
            raise allowance.refusal(cost_nano)
        raise BudgetExhaustedError("dataset", cost_nano, account.remaining_nano, account.limit_nano)


def find_replay(services: Services, session: Session, access: Access, key: Key) -> Answer | None:
    """What the key was answered with, if it was; KeyReusedError if that was to another request."""
    stored = idempotency.find_answer(session, services.database, services.keyring, access.principal.id, key.text)
    if stored is None:
        return None
    if stored.fingerprint != key.fingerprint:
        raise KeyReusedError
    return Answer(stored.status, stored.body, replayed=True)


@dataclass(frozen=True, slots=True)
class UnpaidDraw:
    """A fresh draw that is not paid yet: nobody may see it before its transaction has committed."""

    release_id: str
    opening: Opening  # of the answer, up to its budget


def yield_to_commits(services: Services, access: Access, plans: Sequence[Plan]) -> None:
    """Let others' commits go first where the table must be read, or many numbers be drawn."""
    many = sum(plan.statistic.components for plan in plans) > MOST_QUICK
    if many or not all(exact_sums.are_cached(services, access.dataset, plan.needs) for plan in plans):
        services.database.pause()


def compute_and_draw(services: Services, access: Access, plan: Plan) -> UnpaidDraw:
    """Sums and draw; nothing is debited yet.

    Raises:
        DatasetClosedError, DatasetStaleError: there is no data to ask, or it has another number of rows.
        UnavailableError: the engine failed or answered to other needs, as from a file that was exchanged under it, or
            the source of bits is broken.
    """
    yield_to_commits(services, access, [plan])
    return draw_release(access, plan, exact_sums.exact_sums_of(services, access.dataset, plan.needs))


def draw_release(access: Access, plan: Plan, sums: Sums) -> UnpaidDraw:
    """A draw from sums that are there; nothing is debited yet.

    Raises:
        UnavailableError: the sums are not of what was planned, or the source of bits is broken.
    """
    try:
        values = plan.mechanism.draw(sums, SystemBits())
    except (ValueError, DrawExhausted) as error:
        log.error("not drawn", why=type(error).__name__)  # noqa: TRY400 - its text may hold values
        raise UnavailableError from None
    metrics.EXACT_DRAWS.inc(values.exact)
    release_id = time_ordered_id()
    return UnpaidDraw(release_id, Opening(documents.encode_release(release_id, access.dataset, plan, values)))


@dataclass(frozen=True, slots=True)
class ReleaseAttempt:
    """One request on its way from its plan to its answer.

    Attributes:
        ready: the answer that an earlier release gives, if one was found before the transaction.
    """

    access: Access
    question: Question
    plan: Plan
    key: Key | None
    keyring: Keyring
    settings: Settings
    ready: ReusedAnswer | None = None

    def earlier(self, session: Session) -> EarlierRelease | None:
        """An earlier release that answers it."""
        return reuse.find_earlier_release(session, self.access.dataset, self.plan) if self.question.reuse else None

    def reused(self, ready: ReusedAnswer, account: Account, allowance: Allowance | None) -> Settled:
        """The answer that an earlier release gives, with the budget as it is now, or was as the caller was let in."""
        answer = ready.complete(documents.charge_document(0, account.remaining_nano, allowance))
        return Settled(OK, ready.release_id, answer)

    def committed(self, transaction: WriteSession, found: UnpaidDraw | EarlierRelease) -> Settled | None:
        """The transaction and its commit; nobody sees an answer before that has returned."""
        settled = self.settle(transaction, found)
        if settled is not None:
            transaction.commit()
        return settled

    def settle(self, transaction: WriteSession, found: UnpaidDraw | EarlierRelease) -> Settled | None:
        """The one transaction, in the one order; None where the key turns out to be a twin's already."""
        dataset, principal, key, at = self.access.dataset, self.access.principal, self.key, now()
        seal = self.keyring.seal
        claim = None if key is None else Claim(principal.id, key.text, key.fingerprint, at)
        if claim is not None and not idempotency.claim_key(transaction, seal, claim, found.release_id, CREATED):
            return None
        if self.question.reuse:  # else the debit itself is what locks the account
            accounts.lock_open_account(transaction, dataset.id)
        earlier = self.earlier(transaction)
        if earlier is not None:
            return self._settle_reuse(transaction, earlier, claim)
        if isinstance(found, EarlierRelease):
            raise UnavailableError  # what the reads found is found again, since releases are never deleted
        return self._pay(transaction, found, at)

    def _settle_reuse(self, transaction: WriteSession, earlier: EarlierRelease, claim: Claim | None) -> Settled:
        ready = self.ready
        if ready is None or ready.release_id != earlier.release_id:
            ready = reuse.encode_reused_answer(transaction, self.keyring, earlier, self.plan)
        dataset_id, principal_id = self.access.dataset.id, self.access.principal.id
        if claim is None:
            account = accounts.find_account(transaction, dataset_id)
            return self.reused(ready, account, allowances.find_allowance(transaction, dataset_id, principal_id))
        account, allowance = count_stored(transaction, self.access, ready.stored_bytes, self.settings)
        settled = self.reused(ready, account, allowance)
        idempotency.replace_answer(transaction, self.keyring.seal, claim, earlier.release_id, OK, settled.answer)
        return settled

    def _pay(self, transaction: WriteSession, drawn: UnpaidDraw, at: str) -> Settled:
        dataset, principal, cost_nano = self.access.dataset, self.access.principal, self.plan.epsilon_nano
        stored_bytes = drawn.opening.stored_bytes + ROW_BYTES
        account = accounts.debit_account(
            transaction, dataset.id, self.access.account.facts_hash, cost_nano, stored_bytes
        )
        allowance = allowances.debit_allowance(transaction, dataset.id, principal.id, cost_nano, stored_bytes)
        require_storage(self.settings, account, allowance, stored_bytes)
        if allowance.window is not None:
            at = transaction.time()  # the one that decided in which window it counts
        answer = drawn.opening.complete(
            documents.ending(documents.charge_document(cost_nano, account.remaining_nano, allowance), at)
        )
        entries.append_entry(
            *(transaction, self.keyring.seal, account, "debit", principal.name, cost_nano, at),
            release_id=drawn.release_id,
            answer_hash=answer.sha256,
        )
        paid = Release(
            id=drawn.release_id,
            dataset_id=dataset.id,
            principal_id=principal.id,
            statistic=self.plan.statistic.identity,
            epsilon_nano=cost_nano,
            gamma=str(self.question.gamma),
            grid_refinement=self.question.grid_refinement,
            response=answer.content,
            created_at=at,
        )
        candidacies = reuse.reuse_slots(self.plan.mechanism)
        releases.insert_release(transaction, self.keyring.seal, paid, answer.sha256, candidacies)
        return Settled(CREATED, drawn.release_id, answer)


def count_stored(
    transaction: WriteSession, access: Access, stored_bytes: int, settings: Settings
) -> tuple[Account, Allowance | None]:
    """Count what is stored of an answer beside its release; the account and the allowance after it.

    Raises:
        StorageExhaustedError: there is no room for another answer.
    """
    added = stored_bytes + ROW_BYTES
    account = accounts.store(transaction, access.dataset.id, added)
    allowance = allowances.store(transaction, access.dataset.id, access.principal.id, added)
    require_storage(settings, account, allowance, added)
    return account, allowance
