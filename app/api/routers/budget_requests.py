"""Requests for budget: a principal asks for a larger allowance, and the dataset's owner or an admin answers."""

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.list_pages import PageOf
from app.api.openapi.operations import NOT_OPEN, describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.json_bodies import JsonBody
from app.api.parameters.query_parameters import StateOf
from app.api.responses import created_response, json_response, list_response
from app.api.schemas import responses
from app.api.schemas.administration import BudgetRequestBody, DeclineRequest, GrantRequest
from app.errors import AllowanceRevokedError, RequestAnsweredError, RequestOpenError
from app.services.datasets import budget_requests
from app.services.datasets.budget_requests import Answer

router = APIRouter(
    prefix="/v1/datasets/{name}/budget-requests", tags=["budgets"], route_class=DirectRoute, dependencies=[BEARER]
)

GrantBody = Annotated[JsonBody[GrantRequest], Body(default_factory=GrantRequest)]
DeclineBody = Annotated[JsonBody[DeclineRequest], Body(default_factory=DeclineRequest)]


@router.post(
    "",
    operation_id="createBudgetRequest",
    summary="Ask for budget",
    status_code=201,
    responses=describe_responses(
        {
            200: (responses.BudgetRequest, "The same request, which is still open."),
            201: (responses.BudgetRequest, "The request."),
        },
        403,
        404,
        *NOT_OPEN,
        RequestOpenError,
    ),
)
def ask(name: str, caller: CallerOf, body: JsonBody[BudgetRequestBody]) -> Response:
    """Ask the dataset's owner for a larger allowance, with a reason.

    A principal has one open request on a dataset: another one gets a 409 until the first is answered. The same request,
    sent again while it is open, gets the same answer.
    """
    entered = caller.enter(name)
    entered.require_allowance()
    request = body.validate()
    made, is_new = budget_requests.ask_for_budget(caller.services, entered, request.epsilon, request.reason)
    if is_new:
        return created_response(made, f"/v1/datasets/{entered.dataset.name}/budget-requests/{made['id']}")
    return json_response(made)


@router.get(
    "",
    operation_id="listBudgetRequests",
    summary="List the requests for budget",
    responses=describe_responses({200: (responses.BudgetRequests, "A page of requests.")}, 404),
)
def requests(name: str, caller: CallerOf, page: PageOf, state: StateOf) -> Response:
    """Requests for budget: all for the dataset's owner, admins and auditors, otherwise the caller's.

    With `state`, only those that are open, granted or declined are listed.
    """
    entered = caller.enter(name)
    found = budget_requests.list_requests(
        caller.services, entered, page.after_id, page.limit + 1, state=state.name, newest=page.newest
    )
    return list_response("budget_requests", found, page, "id")


@router.get(
    "/{request_id}",
    operation_id="getBudgetRequest",
    summary="Get a request for budget",
    responses=describe_responses({200: (responses.BudgetRequest, "The request.")}, 404),
)
def one_request(name: str, request_id: str, caller: CallerOf) -> Response:
    """A request for budget, for the principal who asked and for those who see all of them."""
    return json_response(budget_requests.describe_request(caller.services, caller.enter(name), request_id))


@router.post(
    "/{request_id}/grant",
    operation_id="grantBudgetRequest",
    summary="Grant a request for budget",
    responses=describe_responses(
        {200: (responses.BudgetRequest, "The granted request.")},
        *(403, 404, *NOT_OPEN, RequestAnsweredError, AllowanceRevokedError),
    ),
)
def grant(name: str, request_id: str, caller: CallerOf, body: GrantBody) -> Response:
    """Grant a request: raise the allowance by what was asked, or by another amount. Nothing is debited.

    An allowance with a window is raised for each window. A request is answered once: 409 if somebody was faster. The
    same answer by the same principal, sent again, changes nothing.
    """
    entered = caller.enter(name)
    entered.require_manager()
    request = body.validate()
    answer = Answer(granted_nano=request.epsilon, text=request.answer)
    return json_response(budget_requests.answer_request(caller.services, entered, request_id, answer))


@router.post(
    "/{request_id}/decline",
    operation_id="declineBudgetRequest",
    summary="Decline a request for budget",
    responses=describe_responses(
        {200: (responses.BudgetRequest, "The declined request.")}, 403, 404, RequestAnsweredError
    ),
)
def decline(name: str, request_id: str, caller: CallerOf, body: DeclineBody) -> Response:
    """Decline a request, which is answered once: 409 if somebody was faster."""
    entered = caller.enter(name)
    entered.require_manager()
    answer = Answer(declined=True, text=body.validate().answer)
    return json_response(budget_requests.answer_request(caller.services, entered, request_id, answer))
