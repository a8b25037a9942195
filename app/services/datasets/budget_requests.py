"""Requests for budget: a principal asks for a larger allowance, and the dataset's owner or an admin answers."""

from dataclasses import dataclass

from app.db.clock import now
from app.db.repositories import principals
from app.db.session import WriteSession
from app.db.time_ordered_ids import time_ordered_id
from app.errors import AllowanceRevokedError, InvalidRequestError, NotFoundError
from app.ledger import accounts, allowances, budget_requests, report_runs
from app.ledger.budget_requests import Answered, BudgetRequest
from app.ledger.chain import facts
from app.ledger.units import MAX_EPSILON_NANO, epsilon_text
from app.services import audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.names import require_release_id
from app.services.rendering.documents import Document
from app.services.reports.run_queue import QUEUED


@dataclass(frozen=True, slots=True)
class Answer:
    """What the owner answers: the ε to grant (None: what was asked), or `declined`; and perhaps a text."""

    granted_nano: int | None = None
    declined: bool = False
    text: str | None = None


def ask_for_budget(services: Services, entered: Access, epsilon_nano: int, reason: str) -> tuple[Document, bool]:
    """Store a request for a larger allowance; return it, and whether it is new.

    The same request, sent again while it is open, is answered with itself.

    Raises:
        ForbiddenError: the principal is an auditor or has no allowance.
        RequestOpenError: the principal has another open request on this dataset.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
        SealBrokenError: the dataset's account does not match its seal.
    """
    entered.require_allowance()
    asker = entered.principal
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_open_account(transaction, entered.dataset.id))
        before = budget_requests.find_open(transaction, entered.dataset.id, asker.id)
        if before is not None and (before.epsilon_nano, before.reason) == (epsilon_nano, reason):
            return _request_document(entered, before), False
        made = budget_requests.insert_request(
            transaction,
            services.keyring.seal,
            BudgetRequest(
                *(time_ordered_id(), entered.dataset.id, asker.id, epsilon_nano, reason, now(), "open"),
                *(None, None, None, None, b"", asker.name, asker.display_name),
            ),
        )
        told = {"epsilon": epsilon_text(epsilon_nano), "reason": reason}
        _record(services, transaction, entered, made, "create", **told)
        transaction.commit()
    return _request_document(entered, made), True


def answer_request(services: Services, entered: Access, request_id: str, answer: Answer) -> Document:
    """Grant or decline a request. A grant raises the allowance in force; the same answer may be sent again.

    Raises:
        NotFoundError: the dataset has no such request.
        RequestAnsweredError: somebody has answered it already, in another way.
        AllowanceRevokedError: a grant finds no allowance in force, or a disabled principal.
        DatasetClosedError, DatasetStaleError: a grant finds the dataset closed or stale.
        InvalidRequestError: the allowance would be larger than any may be.
        SealBrokenError: the request or the dataset's account does not match its seal.
    """
    lock = accounts.lock_account if answer.declined else accounts.lock_open_account
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, lock(transaction, entered.dataset.id))
        found = budget_requests.find_request(
            transaction, services.keyring, entered.dataset.id, require_release_id(request_id)
        )
        granted_nano = None if answer.declined else answer.granted_nano or found.epsilon_nano
        state: Answered = "declined" if answer.declined else "granted"
        by = entered.principal.name
        if (found.state, found.granted_nano, found.answer, found.answered_by) == (state, granted_nano, answer.text, by):
            return _request_document(entered, found)
        answered = budget_requests.answer_request(
            transaction, services.keyring.seal, found, state, granted_nano, answer.text, by, now()
        )
        if granted_nano is None:
            _record(services, transaction, entered, answered, "decline", answer=answer.text)
        else:
            limit_nano = _raise_allowance(services, transaction, found, granted_nano)
            report_runs.queue_unfinished(transaction, services.keyring, entered.dataset.id)
            told = {"epsilon": epsilon_text(granted_nano), "epsilon_limit": epsilon_text(limit_nano)}
            _record(services, transaction, entered, answered, "grant", **told, answer=answer.text)
        transaction.commit()
    if granted_nano is not None:
        QUEUED.set()
    return _request_document(entered, answered)


def _raise_allowance(services: Services, transaction: WriteSession, request: BudgetRequest, by_nano: int) -> int:
    """Raise the allowance of the principal who asked, and return the new limit."""
    allowance = allowances.find_allowance(transaction, request.dataset_id, request.principal_id)
    principal = principals.find_by_name(transaction, request.principal)
    if allowance is None or principal is None or principal.disabled_at is not None:
        raise AllowanceRevokedError
    limit_nano = allowance.limit_nano + by_nano
    if limit_nano > MAX_EPSILON_NANO:
        raise InvalidRequestError(("epsilon", "would raise the allowance above 1,000,000"))
    days = None if allowance.window is None else allowance.window.days
    seal = services.keyring.seal
    allowances.grant_allowance(transaction, seal, request.dataset_id, principal, limit_nano, now(), days)
    return limit_nano


def _record(
    services: Services,
    transaction: WriteSession,
    entered: Access,
    request: BudgetRequest,
    act: str,
    **details: str | None,
) -> None:
    target = f"{audit_records.dataset_path(entered.dataset.name)}/budget-requests/{request.id}"
    action, told = f"budget_request.{act}", {"principal": request.principal} | details
    audit_records.record(transaction, services.keyring.seal, entered.principal, action, target, **told)


def list_requests(  # noqa: PLR0913 - each filter by its name
    services: Services,
    entered: Access,
    after: str | None,
    limit: int,
    *,
    state: str | None,
    newest: bool,
) -> list[Document]:
    """Return a page of requests: all for those who oversee the dataset, else the caller's own.

    With `state`, only those in that state are returned.
    """
    own = None if entered.oversees else entered.principal.id
    with services.database.read() as session:
        found = budget_requests.page_of_requests(
            session, entered.dataset.id, after, limit, principal_id=own, state=state, newest=newest
        )
    return [_request_document(entered, request) for request in found]


def describe_request(services: Services, entered: Access, request_id: str) -> Document:
    """Return one request, to those who oversee the dataset and to the principal who asked.

    Raises:
        NotFoundError: the dataset has no such request, or the caller may not see it.
        SealBrokenError: the request does not match its seal.
    """
    with services.database.read() as session:
        found = budget_requests.find_request(
            session, services.keyring, entered.dataset.id, require_release_id(request_id)
        )
    if not entered.oversees and found.principal_id != entered.principal.id:
        raise NotFoundError
    return _request_document(entered, found)


def _request_document(entered: Access, request: BudgetRequest) -> Document:
    return {
        "id": request.id,
        "dataset": entered.dataset.name,
        "principal": request.principal,
        "display_name": request.display_name,
        "epsilon": epsilon_text(request.epsilon_nano),
        "reason": request.reason,
        "created_at": request.created_at,
        "state": request.state,
        "granted": None if request.granted_nano is None else epsilon_text(request.granted_nano),
        "answer": request.answer,
        "answered_by": request.answered_by,
        "answered_at": request.answered_at,
    }
