"""Several releases in one transaction, under one idempotency key: of a batch, or of what is derived from them."""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.db.clock import now
from app.db.session import Session, WriteSession
from app.ledger.answers import idempotency
from app.ledger.answers.answer_storage import store
from app.ledger.answers.idempotency import Claim
from app.ledger.chain.keyring import Seal
from app.services.access import Access
from app.services.context import Services
from app.services.planning.questions import Plan, Question
from app.services.releasing import exact_sums, releases, reuse
from app.services.releasing.releases import CREATED, Answer, Key, ReleaseAttempt, UnpaidDraw
from app.services.releasing.reuse import EarlierRelease


class PlannedQuestion(Protocol):
    """One of several questions, and its plan."""

    @property
    def question(self) -> Question:
        """What is asked."""

    @property
    def plan(self) -> Plan:
        """What a release of it is."""


def draw_releases(
    services: Services, access: Access, asked: Sequence[PlannedQuestion], known: Sequence[EarlierRelease | None]
) -> list[UnpaidDraw | EarlierRelease]:
    """For each question the earlier release that answers it, or a fresh draw; the draws share scans of the table.

    Raises:
        As `releases.draw`, before anything is debited.
    """
    fresh = [each.plan for each, earlier in zip(asked, known, strict=True) if earlier is None]
    if not fresh:
        return [earlier for earlier in known if earlier is not None]
    releases.yield_to_commits(services, access, fresh)
    sums = exact_sums.exact_sums_of_all(services, access.dataset, [plan.needs for plan in fresh])
    return [
        releases.draw_release(access, each.plan, sums[each.plan.needs]) if earlier is None else earlier
        for each, earlier in zip(asked, known, strict=True)
    ]


def reused(
    session: Session, access: Access, attempts: Sequence[ReleaseAttempt], known: Sequence[EarlierRelease]
) -> list[bytes]:
    """The answers that earlier releases give, with the budget as it was when the caller was let in."""
    ready = [
        reuse.encode_reused_answer(session, one.keyring, each, one.plan)
        for one, each in zip(attempts, known, strict=True)
    ]
    return [
        attempt.reused(each, access.account, access.allowance).content(session)
        for attempt, each in zip(attempts, ready, strict=True)
    ]


def commit_releases(  # noqa: PLR0913, PLR0917 - what both kinds of several have in common
    transaction: WriteSession,
    seal: Seal,
    access: Access,
    key: Key | None,
    attempts: Sequence[ReleaseAttempt],
    found: Sequence[UnpaidDraw | EarlierRelease],
    locked: Callable[[], object],
    body_of: Callable[[Sequence[bytes], Sequence[int]], bytes],
) -> tuple[Answer, Sequence[int]] | None:
    """The transaction and its commit, with the status of each release; None where the key is a twin's already.

    Args:
        transaction: which all of it is.
        seal: of the ledger.
        access: of who asks.
        key: the whole's; the attempts have none.
        attempts: one for each release, in their order.
        found: what was drawn for each, or the earlier release that answers it.
        locked: locks the account, and refuses the whole before anything is debited.
        body_of: the whole's answer, of each release's answer and status.
    """
    first = found[0].release_id  # of no other of these, since there is none before it
    claim = None if key is None else Claim(access.principal.id, key.text, key.fingerprint, now())
    if claim is not None and not idempotency.claim_key(transaction, seal, claim, first, CREATED):
        return None
    locked()
    settled = [attempt.settle(transaction, each) for attempt, each in zip(attempts, found, strict=True)]
    answers = [each for each in settled if each is not None]  # all of them: no attempt has a key of its own
    statuses = [each.status for each in answers]
    body = body_of([each.content(transaction) for each in answers], statuses)
    if claim is not None:
        stored = store(body)
        releases.count_stored(transaction, access, len(stored.content), attempts[0].settings)
        idempotency.replace_answer(transaction, seal, claim, answers[0].release_id, max(statuses), stored)
    transaction.commit()
    return Answer(max(statuses), body), statuses


def record_releases(access: Access, asked: Sequence[PlannedQuestion], statuses: Sequence[int]) -> None:
    """Say what became of each, to the log and the metrics."""
    for each, status in zip(asked, statuses, strict=True):
        outcome, cost_nano = ("fresh", each.plan.epsilon_nano) if status == CREATED else ("reused", 0)
        releases.record_release(access, each.question, outcome, cost_nano)
