"""The main job: a private statistic, debited and on record.

The order of events is what the promises rest on: refusals, replays and reuse are decided by reads; then come the exact
sums and the draw; then one transaction holds idempotency row, debit, entry and answer. A crash before its commit costs
nothing, one after it loses nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from app import metrics
from app.db.clock import now
from app.db.ids import time_ordered_id
from app.db.session import Session, WriteSession
from app.dp.bits import SystemBits
from app.dp.errors import DrawExhausted
from app.dp.sums import Answer as Sums
from app.errors import BudgetExhaustedError, ForbiddenError, KeyRequiredError, KeyReusedError, UnavailableError
from app.ledger import accounts, allowances, entries, idempotency, releases
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.keyring import Seal
from app.ledger.releases import Release
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services import documents, questions, reuse, scans
from app.services.access import Access
from app.services.context import Services
from app.services.json_text import encode, object_of
from app.services.questions import Plan, Question
from app.services.reuse import Earlier

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
    """A status and the bytes of a body; `replayed` where both were stored before."""

    status: int
    body: bytes
    replayed: bool = False


def release(services: Services, access: Access, question: Question, key: Key | None) -> Answer:
    """Answer a question with a release: a stored one, an earlier one, or a fresh one that is debited.

    Raises:
        KeyRequiredError, KeyReusedError: about the idempotency key.
        DatasetClosedError, DatasetStaleError, BudgetExhaustedError: the present state refuses it.
        InvalidRequestError and the rest of `questions.make`'s: the question is refused.
        UnavailableError: the database or the engine did not answer; nothing was debited, or the key replays what was.
    """
    access.require_allowance()
    if key is None and not question.reuse:
        raise KeyRequiredError
    if key is not None and (stored := _replayed(services, access, question, key)):
        return stored
    scans.require_open(access.dataset)
    plan = questions.make(access.dataset, question, services.settings.max_epsilon_nano)
    attempt = Attempt(access, question, plan, key, services.keyring.seal)
    earlier = None
    if question.reuse:
        with services.database.ask() as session:
            earlier = attempt.earlier(session)
            if earlier is not None and key is None:
                recorded(access, question, "reused")
                return Answer(OK, attempt.reused(session, earlier))
    if earlier is None:
        require_affordable(access, plan.epsilon_nano)
    drawn = draw(services, access, plan) if earlier is None else earlier
    answer = services.database.transact(lambda transaction: attempt.committed(transaction, drawn))
    if answer is not None:
        outcome, charged = ("fresh", plan.epsilon_nano) if answer.status == CREATED else ("reused", 0)
        services.database.when_durable(lambda: recorded(access, question, outcome, charged))
        return answer
    twin = of_twin(services, access, key)
    recorded(access, question, "replayed")
    return twin


def _replayed(services: Services, access: Access, question: Question, key: Key) -> Answer | None:
    with services.database.ask() as session:
        stored = replay(session, access, key)
    if stored is not None:
        recorded(access, question, "replayed")
    return stored


def of_twin(services: Services, access: Access, key: Key | None) -> Answer:
    """What a twin with the same key was answered, which committed first: our draws are discarded.

    Raises:
        UnavailableError: there is none, after all.
    """
    if key is not None:
        with services.database.ask() as session:
            stored = replay(session, access, key)
        if stored is not None:
            return stored
    raise UnavailableError


def recorded(access: Access, question: Question, outcome: str, cost_nano: int = 0) -> None:
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
    require_room(access.account, access.require_allowance(), cost_nano)


def require_room(account: Account, allowance: Allowance | None, cost_nano: int) -> None:
    """Refuse what the account or the allowance cannot bear.

    Raises:
        BudgetExhaustedError: it says which, of both the one that has less, and what remains of it.
        ForbiddenError: there is no allowance.
    """
    if allowance is None:
        raise ForbiddenError("A release needs an allowance on this dataset.")
    if cost_nano > min(account.remaining_nano, allowance.remaining_nano):
        if allowance.remaining_nano < account.remaining_nano:
            raise allowance.refusal(cost_nano)
        raise BudgetExhaustedError("dataset", cost_nano, account.remaining_nano, account.limit_nano)


def replay(session: Session, access: Access, key: Key) -> Answer | None:
    """What the key was answered with, if it was; KeyReusedError if that was to another request."""
    stored = idempotency.find(session, access.principal.id, key.text)
    if stored is None:
        return None
    if stored.fingerprint != key.fingerprint:
        raise KeyReusedError
    return Answer(stored.status, stored.body, replayed=True)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fresh draw that is not paid yet: nobody may see it before its transaction has committed."""

    release_id: str
    members: Mapping[str, bytes]  # the answer's, as JSON, up to its budget


def make_way(services: Services, access: Access, plans: Sequence[Plan]) -> None:
    """Let others' commits go first where the table must be read, or many numbers be drawn."""
    many = sum(plan.statistic.components for plan in plans) > MOST_QUICK
    if many or not all(scans.are_known(services, access.dataset, plan.needs) for plan in plans):
        services.database.pause()


def draw(services: Services, access: Access, plan: Plan) -> Drawn:
    """Sums and draw; nothing is debited yet.

    Raises:
        DatasetClosedError, DatasetStaleError: there is no data to ask, or it has another number of rows.
        UnavailableError: the engine failed or answered to other needs, as from a file that was exchanged under it, or
            the source of bits is broken.
    """
    make_way(services, access, [plan])
    return drawn(access, plan, scans.exact_sums(services, access.dataset, plan.needs))


def drawn(access: Access, plan: Plan, sums: Sums) -> Drawn:
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
    return Drawn(release_id, documents.released(release_id, access.dataset, plan, values))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request on its way from its plan to its answer."""

    access: Access
    question: Question
    plan: Plan
    key: Key | None
    seal: Seal

    def earlier(self, session: Session) -> Earlier | None:
        """An earlier release that answers it."""
        return reuse.find(session, self.access.dataset, self.plan) if self.question.reuse else None

    def reused(self, session: Session, earlier: Earlier) -> bytes:
        """The answer that an earlier release gives, with the budget as it was when the caller was let in."""
        return self._reused(session, earlier, self.access.account, self.access.allowance)

    def _reused(self, session: Session, earlier: Earlier, account: Account, allowance: Allowance | None) -> bytes:
        return reuse.answer(session, earlier, self.plan, documents.budget(0, account.remaining_nano, allowance))

    def committed(self, transaction: WriteSession, found: Drawn | Earlier) -> Answer | None:
        """The transaction and its commit; nobody sees an answer before that has returned."""
        answer = self.settle(transaction, found)
        if answer is not None:
            transaction.commit()
        return answer

    def settle(self, transaction: WriteSession, found: Drawn | Earlier) -> Answer | None:
        """The one transaction, in the one order; None where the key turns out to be a twin's already."""
        dataset, principal, key, at = self.access.dataset, self.access.principal, self.key, now()
        if key is not None and not idempotency.claim(
            transaction, principal.id, key.text, key.fingerprint, found.release_id, CREATED, at
        ):
            return None
        if self.question.reuse:  # else the debit itself is what locks the account
            accounts.lock_open(transaction, dataset.id)
        earlier = self.earlier(transaction)
        if earlier is not None:
            account = accounts.find(transaction, dataset.id)
            body = self._reused(transaction, earlier, account, allowances.find(transaction, dataset.id, principal.id))
            if key is not None:
                idempotency.answer(transaction, principal.id, key.text, earlier.release_id, OK, body)
            return Answer(OK, body)
        if isinstance(found, Earlier):
            raise UnavailableError  # what the reads found is found again, since releases are never deleted
        return Answer(CREATED, self._pay(transaction, found, at))

    def _pay(self, transaction: WriteSession, drawn: Drawn, at: str) -> bytes:
        dataset, principal, cost_nano = self.access.dataset, self.access.principal, self.plan.epsilon_nano
        account = accounts.debit(transaction, dataset.id, cost_nano)
        allowance = allowances.debit(transaction, dataset.id, principal.id, cost_nano)
        if allowance.window is not None:
            at = transaction.time()  # the one that decided in which window it counts
        budget = documents.budget(cost_nano, account.remaining_nano, allowance)
        last = {"budget": budget, "reused": False, "created_at": at}
        body = object_of({**drawn.members, **{name: encode(member) for name, member in last.items()}})
        entries.append(
            *(transaction, self.seal, account, "debit", principal.name, cost_nano, at),
            release_id=drawn.release_id,
            answer_hash=hashlib.sha256(body).digest(),
        )
        paid = Release(
            id=drawn.release_id,
            dataset_id=dataset.id,
            principal_id=principal.id,
            statistic=self.plan.statistic.identity,
            epsilon_nano=cost_nano,
            gamma=str(self.question.gamma),
            grid_refinement=self.question.grid_refinement,
            response=body,
            created_at=at,
        )
        releases.insert(transaction, paid, reuse.candidacies(self.plan.mechanism))
        return body
