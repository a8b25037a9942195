"""Budgets, allowances and the ledger."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.list_pages import PageOf
from app.api.openapi.operations import NOT_OPEN, describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.conditional_headers import IfMatchHeaders, IfNoneMatchHeaders, read_precondition
from app.api.parameters.json_bodies import JsonBody
from app.api.parameters.path_parameters import NumberInPath, number_in_path
from app.api.parameters.query_parameters import ExtentOf, GrantOf
from app.api.responses import created_response, json_response, list_response, tagged_response
from app.api.schemas import responses
from app.api.schemas.administration import AdjustmentRequest, AllowanceRequest
from app.errors import PreconditionFailedError
from app.services.datasets import budgets, dataset_verification
from app.services.identity import principals

router = APIRouter(prefix="/v1/datasets/{name}", tags=["budgets"], route_class=DirectRoute, dependencies=[BEARER])


@router.get(
    "/budget",
    operation_id="getBudget",
    summary="Get the budget of a dataset",
    responses=describe_responses({200: (responses.Budget, "The budget.")}, 404),
)
def budget(name: str, caller: CallerOf) -> Response:
    """What the dataset and the caller may spend; its owner, admins and auditors see everybody's allowance."""
    return json_response(budgets.budget_document(caller.services, caller.enter(name)))


@router.get(
    "/grantees",
    operation_id="listGrantees",
    summary="List who may get an allowance, or see figures",
    responses=describe_responses({200: (responses.Grantees, "A page of principals.")}, 403, 404),
)
def grantees(name: str, caller: CallerOf, page: PageOf, grant: GrantOf) -> Response:
    """The principals that may get an allowance: all but auditors, viewers and those that are disabled.

    With `to=view`, those that may be made viewers: all but admins, auditors and those that are disabled.
    """
    entered = caller.enter(name)
    entered.require_manager()
    found = budgets.list_grantees(
        caller.services, page.after_name, page.limit + 1, newest=page.newest, to_view=grant.is_view
    )
    return list_response("grantees", found, page, "name")


@router.get(
    "/allowances/{principal}",
    operation_id="getAllowance",
    summary="Get an allowance as it was granted",
    responses=describe_responses({200: (responses.GrantedAllowance, "The allowance.")}, 403, 404),
)
def allowance(name: str, principal: str, caller: CallerOf) -> Response:
    """A principal's allowance as it was granted. What it has spent is in the budget, and does not change the `ETag`."""
    return tagged_response(budgets.describe_allowance(caller.services, caller.enter(name), principal))


@router.put(
    "/allowances/{principal}",
    operation_id="setAllowance",
    summary="Grant or change an allowance",
    responses=describe_responses(
        {
            200: (responses.Budget, "The budget, with the allowance that was changed."),
            201: (responses.Budget, "The budget, with the new allowance."),
        },
        *(403, 404, *NOT_OPEN, 412),
    ),
)
def grant(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    name: str,
    principal: str,
    caller: CallerOf,
    body: JsonBody[AllowanceRequest],
    if_match: IfMatchHeaders = None,
    if_none_match: IfNoneMatchHeaders = None,
) -> Response:
    """Let a principal see the dataset and spend up to a limit on it; 0 allows only the reuse of releases.

    With `window_days` the allowance is renewed: each window begins with nothing spent. A release counts in the window
    in which it is committed, by the database's clock. A change of the allowance keeps what was spent in the current
    window. The dataset's limit is never renewed.
    """
    entered = caller.enter(name)
    entered.require_manager()
    grantee = principals.require_in_force(caller.services, principal)
    request, wanted = body.validate(), read_precondition(if_match, if_none_match)
    granted, is_new = budgets.grant_allowance(
        caller.services, entered, grantee, request.epsilon_limit, request.window_days, wanted
    )
    if is_new:
        return created_response(granted, f"/v1/datasets/{entered.dataset.name}/allowances/{grantee.name}")
    return json_response(granted)


@router.delete(
    "/allowances/{principal}",
    operation_id="revokeAllowance",
    summary="Revoke an allowance",
    status_code=204,
    responses=describe_responses({204: (None, "Revoked.")}, 403, 404, PreconditionFailedError),
)
def revoke(name: str, principal: str, caller: CallerOf, if_match: IfMatchHeaders = None) -> Response:
    """Revoke a principal's access to the dataset; what it has spent stays spent."""
    entered = caller.enter(name)
    entered.require_manager()
    budgets.revoke_allowance(caller.services, entered, principal, read_precondition(if_match))
    return Response(status_code=204)


@router.get(
    "/budget/limit",
    operation_id="getBudgetLimit",
    summary="Get the limit of a dataset",
    responses=describe_responses({200: (responses.Limit, "The limit.")}, 404),
)
def limit(name: str, caller: CallerOf) -> Response:
    """The dataset's limit alone, whose `ETag` stays the same until an adjustment changes it."""
    entered = caller.enter(name)
    return tagged_response(budgets.limit_document(entered.dataset.name, entered.account))


@router.post(
    "/budget/adjustments",
    operation_id="adjustBudget",
    summary="Change the limit of a dataset",
    status_code=201,
    responses=describe_responses(
        {201: (responses.Budget, "The budget.")}, 403, 404, *NOT_OPEN, PreconditionFailedError
    ),
)
def adjust(name: str, caller: CallerOf, body: JsonBody[AdjustmentRequest], if_match: IfMatchHeaders = None) -> Response:
    """Change the dataset's limit, with a reason. The limit holds for the dataset's whole life: no window renews it."""
    entered = caller.enter(name)
    entered.require_manager()
    request, wanted = body.validate(), read_precondition(if_match)
    adjusted, number = budgets.adjust_limit(caller.services, entered, request.epsilon_limit, request.reason, wanted)
    return created_response(adjusted, f"/v1/datasets/{entered.dataset.name}/ledger/{number}")


@router.get(
    "/ledger",
    operation_id="listLedgerEntries",
    summary="List the entries of a ledger",
    responses=describe_responses({200: (responses.Entries, "A page of entries.")}, 403, 404),
)
def ledger(name: str, caller: CallerOf, page: PageOf) -> Response:
    """Every entry of the dataset's ledger."""
    entered = caller.enter(name)
    entered.require_oversight()
    entries = budgets.list_entries(caller.services, entered, page.after_number, page.limit + 1, newest=page.newest)
    return list_response("entries", entries, page, "seq")


@router.get(
    "/ledger/verification",
    operation_id="verifyLedger",
    summary="Verify a ledger",
    responses=describe_responses({200: (responses.Verification, "The result of the verification.")}, 403, 404),
)
def verification(name: str, caller: CallerOf, extent: ExtentOf) -> Response:
    """Verify the ledger: compute every entry's hash and all sums again.

    Each entry is compared with the previous entry and with its release, and the sums with the account and the
    allowances. A long ledger takes a while, but other requests do not wait. Verification cannot detect that the whole
    ledger was reset to an earlier state: the operator's checkpoints are for that. With `incremental`, it checks only
    what follows the latest verified entry: entries, their releases and answers, the sums and the dataset's facts.
    """
    entered = caller.enter(name)
    entered.require_oversight()
    return json_response(
        dataset_verification.verify_dataset_ledger(caller.services, entered, incremental=extent.incremental)
    )


@router.get(
    "/ledger/verification/latest",
    operation_id="getLatestLedgerVerification",
    summary="Get the latest verification of a ledger",
    responses=describe_responses({200: (responses.LatestVerification, "The latest verification.")}, 403, 404),
)
def latest_verification(name: str, caller: CallerOf) -> Response:
    """When the ledger was verified last, by whom, and what was found; null if it never was."""
    entered = caller.enter(name)
    entered.require_oversight()
    return json_response(dataset_verification.describe_latest_verification(caller.services, entered))


@router.get(
    "/ledger/{number}",
    operation_id="getLedgerEntry",
    summary="Get an entry of a ledger",
    responses=describe_responses({200: (responses.Entry, "The entry.")}, 403, 404),
)
def entry(name: str, number: NumberInPath, caller: CallerOf) -> Response:
    """One entry of the dataset's ledger, by its `seq`."""
    entered = caller.enter(name)
    entered.require_oversight()
    return json_response(budgets.describe_entry(caller.services, entered, number_in_path(number)))
