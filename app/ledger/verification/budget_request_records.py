"""Requests for budget as the audit log tells them, compared with those that are stored.

A stored request has a seal, but an earlier row with its earlier seal can be put back, or a row deleted. The audit log
is chained, so it shows that.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from app.db.session import Session
from app.db.tables import budget_requests, datasets, principals
from app.ledger.units import stored_epsilon_text

PAGE = 1_000
_PREFIX = "budget_request."
_STORED = (
    select(
        budget_requests.c.id,
        datasets.c.name.label("dataset"),
        principals.c.name.label("principal"),
        budget_requests.c.epsilon_nano,
        budget_requests.c.state,
        budget_requests.c.granted_nano,
        budget_requests.c.answered_by,
    )
    .join_from(budget_requests, datasets, datasets.c.id == budget_requests.c.dataset_id)
    .join(principals, principals.c.id == budget_requests.c.principal_id)
    .where(budget_requests.c.id > bindparam("after"))
    .order_by(budget_requests.c.id)
    .limit(bindparam("most"))
)
_STATES = {"grant": "granted", "decline": "declined"}


class _Request(NamedTuple):
    """A request: where, by whom and for how much; and how it was answered, if it was."""

    dataset: str
    principal: str
    epsilon: str
    state: str = "open"
    granted: str | None = None
    answered_by: str | None = None


class RecordedRequests:
    """The requests as recomputed from the records so far."""

    def __init__(self) -> None:
        self._requests: dict[str, _Request] = {}

    def step(self, row: Any) -> str | None:  # noqa: ANN401 - a row of the audit log
        """Take the next record; return what is wrong with it, if it is about a request and does not fit."""
        if not row.action.startswith(_PREFIX):
            return None
        _, dataset, _, request_id = row.target.split("/")
        told, act, known = json.loads(row.details), row.action.removeprefix(_PREFIX), self._requests.get(request_id)
        if act == "create":
            self._requests[request_id] = _Request(dataset, told["principal"], told["epsilon"])
            return None if known is None else f"creates the budget request {request_id} again"
        if known is None:
            return f"answers the budget request {request_id}, which nobody made"
        answered = known._replace(state=_STATES[act], granted=_granted(told, act), answered_by=row.actor)
        self._requests[request_id] = answered
        return None if known.state == "open" else f"answers the budget request {request_id}, which was answered already"

    def find_differing(self, session: Session) -> Iterator[str]:
        """Yield a problem for each stored request that differs from the records, and for each that is missing."""
        missing = dict(self._requests)
        after = ""
        while page := session.rows(_STORED, after=after, most=PAGE):
            for row in page:
                recorded = missing.pop(row.id, None)
                if recorded is None:
                    yield f"the budget request {row.id} was made without a record"
                elif _read(row) != recorded:
                    yield f"the budget request {row.id} is not what the records say: {recorded.state}"
            after = page[-1].id
        for request_id in missing:
            yield f"the budget request {request_id} is missing"


def _granted(told: dict[str, Any], act: str) -> str | None:
    return told["epsilon"] if act == "grant" else None


def _read(row: Any) -> _Request:  # noqa: ANN401 - a row of _STORED
    granted = None if row.granted_nano is None else stored_epsilon_text(row.granted_nano)
    return _Request(
        row.dataset, row.principal, stored_epsilon_text(row.epsilon_nano), row.state, granted, row.answered_by
    )
