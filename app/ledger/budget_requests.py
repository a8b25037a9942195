"""Requests for budget: a principal asks for more of an allowance, and the dataset's owner or an admin answers once.

A principal has at most one open request on a dataset, so their number grows only with the answers. Every change holds
the lock of the dataset's account; each row has a seal, which is checked before the request is answered.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from sqlalchemy import bindparam, func, insert, select, update

from app.db.page_queries import MAX_ID, PageQueries, page_queries
from app.db.session import Session, WriteSession
from app.db.tables import budget_requests, principals
from app.errors import NotFoundError, RequestAnsweredError, RequestOpenError, SealBrokenError
from app.ledger.chain.keyring import Keyring, Seal

VERSION = "snapledger-budget-request-v1"
PAGE = 1_000

Answered = Literal["granted", "declined"]


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """A request for budget. The fields are the columns, in order, and then how the principal is called.

    Attributes:
        epsilon_nano: by how much the allowance is to be raised.
        reason: why, in the principal's words.
        state: `open`, `granted` or `declined`.
        granted_nano: by how much it was raised, if the request was granted.
        answer: what the owner answered; None if nothing.
        answered_by: the name of the principal who answered; None while the request is open.
    """

    id: str
    dataset_id: int
    principal_id: int
    epsilon_nano: int
    reason: str
    created_at: str
    state: str
    granted_nano: int | None
    answer: str | None
    answered_by: str | None
    answered_at: str | None
    seal: bytes
    principal: str
    display_name: str | None


_OF_DATASET = budget_requests.c.dataset_id == bindparam("dataset")
_IS_OPEN = budget_requests.c.state == "open"
_OF_PRINCIPAL = budget_requests.c.principal_id == bindparam("asker")
_SELECT = (
    select(*budget_requests.c, principals.c.name.label("principal"), principals.c.display_name)
    .join_from(budget_requests, principals, principals.c.id == budget_requests.c.principal_id)
    .where(_OF_DATASET)
)
_ONE = _SELECT.where(budget_requests.c.id == bindparam("request"))
_OPEN = _SELECT.where(_OF_PRINCIPAL, _IS_OPEN)
_PAGE = page_queries(_SELECT, budget_requests.c.id)
_IN_STATE = budget_requests.c.state == bindparam("in_state")
_COUNT_OPEN = select(func.count().label("found")).select_from(budget_requests).where(_OF_DATASET, _IS_OPEN)
_INSERT = insert(budget_requests).inline()
_ANSWER = (
    update(budget_requests)
    .where(budget_requests.c.id == bindparam("request"), _IS_OPEN)
    .values(
        state=bindparam("new_state"),
        granted_nano=bindparam("granted"),
        answer=bindparam("told"),
        answered_by=bindparam("by"),
        answered_at=bindparam("at"),
        seal=bindparam("new_seal"),
    )
)
_COLUMNS = tuple(column.key for column in budget_requests.c)


def _seal(seal: Seal, request: BudgetRequest) -> bytes:
    return seal.seal_row(VERSION, *(getattr(request, name) for name in _COLUMNS[:-1]))


def is_sealed(keyring: Keyring, request: BudgetRequest) -> bool:
    """Whether a request matches its seal."""
    return keyring.is_sealed(request.seal, VERSION, *(getattr(request, name) for name in _COLUMNS[:-1]))


def find_open(session: Session, dataset_id: int, principal_id: int) -> BudgetRequest | None:
    """Return a principal's open request on a dataset, or None."""
    row = session.row(_OPEN, dataset=dataset_id, asker=principal_id)
    return None if row is None else BudgetRequest(*row)


def find_request(session: Session, keyring: Keyring, dataset_id: int, request_id: str) -> BudgetRequest:
    """Return one request of a dataset.

    Raises:
        NotFoundError: the dataset has no such request.
        SealBrokenError: the request does not match its seal.
    """
    row = session.row(_ONE, dataset=dataset_id, request=request_id)
    if row is None:
        raise NotFoundError("the dataset has no request with this id")
    found = BudgetRequest(*row)
    if not is_sealed(keyring, found):
        raise SealBrokenError
    return found


def insert_request(transaction: WriteSession, seal: Seal, request: BudgetRequest) -> BudgetRequest:
    """Seal and store a new open request, under the lock of the dataset's account; its `seal` is replaced.

    Raises:
        RequestOpenError: the principal has an open request on this dataset already.
    """
    if find_open(transaction, request.dataset_id, request.principal_id) is not None:
        raise RequestOpenError
    sealed = replace(request, seal=_seal(seal, request))
    transaction.change(_INSERT, **{name: getattr(sealed, name) for name in _COLUMNS})
    return sealed


def answer_request(  # noqa: PLR0913, PLR0917 - which, how, by whom, when
    transaction: WriteSession,
    seal: Seal,
    request: BudgetRequest,
    state: Answered,
    granted_nano: int | None,
    answer: str | None,
    by: str,
    at: str,
) -> BudgetRequest:
    """Answer an open request, under the lock of the dataset's account, and return it as it is then.

    Raises:
        RequestAnsweredError: the request was answered already.
    """
    answered = replace(
        request, state=state, granted_nano=granted_nano, answer=answer, answered_by=by, answered_at=at, seal=b""
    )
    answered = replace(answered, seal=_seal(seal, answered))
    changed = transaction.change(
        _ANSWER,
        request=request.id,
        new_state=state,
        granted=granted_nano,
        told=answer,
        by=by,
        at=at,
        new_seal=answered.seal,
    )
    if changed == 0:
        raise RequestAnsweredError
    return answered


@cache
def _page_queries(*, of_principal: bool, in_state: bool) -> PageQueries:
    queries = _PAGE.where(_OF_PRINCIPAL) if of_principal else _PAGE
    return queries.where(_IN_STATE) if in_state else queries


def page_of_requests(  # noqa: PLR0913 - each filter by its name
    session: Session,
    dataset_id: int,
    after: str | None,
    limit: int,
    *,
    principal_id: int | None = None,
    state: str | None = None,
    newest: bool = False,
) -> list[BudgetRequest]:
    """Return at most `limit` requests of a dataset, oldest or newest first, that follow the one with the id `after`.

    With `principal_id`, only that principal's requests are returned; with `state`, only those in that state.
    """
    queries = _page_queries(of_principal=principal_id is not None, in_state=state is not None)
    asked = {"asker": principal_id, "in_state": state}
    given = {name: value for name, value in asked.items() if value is not None}
    within = {"dataset": dataset_id, "after": after or (MAX_ID if newest else ""), "most": limit}
    return [BudgetRequest(*row) for row in session.rows(queries.choose(newest=newest), **within, **given)]


def find_unsealed(session: Session, keyring: Keyring, dataset_id: int) -> Iterator[str]:
    """Yield a problem for each of a dataset's requests that does not match its seal."""
    after: str | None = None
    while page := page_of_requests(session, dataset_id, after, PAGE):
        yield from (
            f"the budget request {request.id} was changed after it was sealed"
            for request in page
            if not is_sealed(keyring, request)
        )
        after = page[-1].id


def count_open_requests(session: Session, dataset_id: int) -> int:
    """Return how many requests of a dataset wait for an answer."""
    found: int = session.row(_COUNT_OPEN, dataset=dataset_id).found
    return found
