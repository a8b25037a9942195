"""Plans, with a dataset and without one. All are free."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.openapi.operations import PLANNING, describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.json_bodies import JsonBody
from app.api.responses import MEDIA_TYPE
from app.api.routers.datasets import collect_declared_columns
from app.api.schemas.planning import DatasetPlan, FreePlan, FreePlanRequest, PlanRequest
from app.api.server.worker_pool import mark_quick
from app.roles import Role
from app.services import access
from app.services.planning import hypothetical_datasets
from app.services.planning.curves import Curve
from app.services.planning.hypothetical_datasets import HypotheticalDataset
from app.services.releasing import plans
from app.services.releasing.plans import PlanExtras

router = APIRouter(prefix="/v1", tags=["releases"], route_class=DirectRoute, dependencies=[BEARER])


def _extras(request: PlanRequest) -> PlanExtras:
    curve = request.curve
    return PlanExtras(
        curve=None if curve is None else Curve(curve.from_, curve.to, curve.points),
        guess=request.guess,
    )


@router.post(
    "/datasets/{name}/plan",
    operation_id="planRelease",
    summary="Plan a release",
    responses=describe_responses({200: (DatasetPlan, "The plan.")}, 403, 404, *PLANNING),
)
@mark_quick
def plan(name: str, caller: CallerOf, body: JsonBody[PlanRequest]) -> Response:
    """What a release would cost and promise: free, and without reading any data."""
    entered = caller.enter(name)
    entered.require_planning()
    request = body.validate()
    planned = plans.plan_release(caller.services, entered, request.question, _extras(request))
    return Response(planned, media_type=MEDIA_TYPE)


@router.post(
    "/plan",
    operation_id="planWithoutDataset",
    summary="Plan a release without a dataset",
    responses=describe_responses({200: (FreePlan, "The plan.")}, 403, *PLANNING[2:]),
)
def plan_without_data(caller: CallerOf, body: JsonBody[FreePlanRequest]) -> Response:
    """What a release would cost and promise on any dataset of `n` rows; no dataset is needed."""
    principal = access.authenticate(caller.services.database, caller.credential)
    access.require(principal, Role.ADMIN, Role.OWNER, Role.ANALYST)
    request = body.validate()
    columns = None if request.columns is None else collect_declared_columns(request.columns)
    question = request.question
    asked = hypothetical_datasets.build_statistic(
        question.statistic, HypotheticalDataset(request.n, request.rows_per_unit, columns)
    )
    return Response(
        plans.plan_without_data(caller.services, principal, asked, question, _extras(request)),
        media_type=MEDIA_TYPE,
    )
