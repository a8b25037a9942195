"""Budgets, allowances and the ledger."""

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from app.api.documentation import described
from app.api.requests import CallerOf, DirectRoute, JsonBody, PageOf, json_body
from app.api.responses import json_response, listed
from app.api.schemas import answers
from app.api.schemas.administration import AdjustmentRequest, AllowanceRequest
from app.services import budgets, verifications

router = APIRouter(prefix="/v1/datasets/{name}", tags=["budgets"], route_class=DirectRoute)


@router.get("/budget", **described({200: (answers.Budget, "The budget.")}, 404))
def budget(name: str, caller: CallerOf) -> Response:
    """What the dataset and the caller may spend; its owner, admins and auditors see everybody's allowance."""
    return json_response(budgets.budget(caller.services, caller.enter(name)))


@router.put(
    "/allowances/{principal}",
    **described({200: (answers.Budget, "The budget.")}, 403, 404, 409, body=AllowanceRequest),
)
def grant(
    name: str,
    principal: str,
    caller: CallerOf,
    body: Annotated[JsonBody[AllowanceRequest], json_body(AllowanceRequest)],
) -> Response:
    """Let a principal see the dataset and spend up to a limit on it; 0 allows the reuse of what is known.

    With `window_days` the allowance is renewed: each window begins with nothing spent. A release counts in the window
    in which it is committed, by the database's clock. What was spent in the present window stays spent, whatever is
    changed. The dataset's limit is never renewed.
    """
    entered = caller.enter(name)
    entered.require_rule()
    grantee = budgets.grantee(caller.services, principal)
    request = body.validated()
    granted = budgets.grant(caller.services, entered, grantee, request.epsilon_limit, request.window_days)
    return json_response(granted)


@router.delete("/allowances/{principal}", status_code=204, **described({204: (None, "Revoked.")}, 403, 404))
def revoke(name: str, principal: str, caller: CallerOf) -> Response:
    """Take a principal's access to the dataset away; what it spent stays spent."""
    entered = caller.enter(name)
    entered.require_rule()
    budgets.revoke(caller.services, entered, principal)
    return Response(status_code=204)


@router.post(
    "/budget/adjustments",
    status_code=201,
    **described({201: (answers.Budget, "The budget.")}, 403, 404, 409, body=AdjustmentRequest),
)
def adjust(
    name: str, caller: CallerOf, body: Annotated[JsonBody[AdjustmentRequest], json_body(AdjustmentRequest)]
) -> Response:
    """Give the dataset another limit, and say why. It is for these rows and for ever: no window renews it."""
    entered = caller.enter(name)
    entered.require_rule()
    request = body.validated()
    return json_response(budgets.adjust(caller.services, entered, request.epsilon_limit, request.reason), 201)


@router.get("/ledger", **described({200: (answers.Entries, "A page.")}, 403, 404, paged=True))
def ledger(name: str, caller: CallerOf, page: PageOf) -> Response:
    """Every entry of the dataset's ledger, oldest first."""
    entered = caller.enter(name)
    entered.require_oversight()
    entries = budgets.ledger(caller.services, entered, page.after_number, page.limit + 1)
    return listed("entries", entries, page.limit, "seq")


@router.get("/ledger/verification", **described({200: (answers.Verification, "What was found.")}, 403, 404))
def verification(name: str, caller: CallerOf) -> Response:
    """Whether the ledger is what was written: every entry's hash, and all sums, computed again.

    It compares each entry with the one before it and with its release, and what they add up to with the account and the
    allowances. It takes a while for a long ledger, and holds nobody up. What no look at the ledger itself can find is
    that all of it was turned back to an earlier state: the operator's checkpoints are for that.
    """
    entered = caller.enter(name)
    entered.require_oversight()
    return json_response(verifications.verify(caller.services, entered))
