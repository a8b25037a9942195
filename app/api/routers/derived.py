"""Derived statistics, which follow from releases. Deriving one also makes the releases that are missing."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.openapi.operations import PLANNING, RELEASING, describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.idempotency_keys import KeyHeaders, idempotency_key
from app.api.parameters.json_bodies import JsonBody, validate_question
from app.api.responses import MEDIA_TYPE, answer_response
from app.api.schemas.derived import DerivedAnswer, DerivedPlan, DerivedRequest
from app.services.planning.derived_accuracy import Target
from app.services.releasing import derived
from app.services.releasing.derived import DerivedQuestion

router = APIRouter(prefix="/v1", tags=["releases"], route_class=DirectRoute, dependencies=[BEARER])


def question_of(request: DerivedRequest) -> DerivedQuestion:
    """Return the question that a request asks."""
    return DerivedQuestion(
        derived=request.derived.model_dump(),
        target=Target(request.epsilon, request.accuracy, request.relative_accuracy, request.guesses.given()),
        alpha=request.alpha,
        gamma=request.gamma,
        grid_refinement=request.grid_refinement,
        reuse=request.reuse,
    )


@router.post(
    "/datasets/{name}/derived/plan",
    operation_id="planDerivedStatistic",
    summary="Plan a derived statistic",
    responses=describe_responses({200: (DerivedPlan, "The plan.")}, 403, 404, *PLANNING),
)
def plan_derived(name: str, caller: CallerOf, body: JsonBody[DerivedRequest]) -> Response:
    """The releases that a derived statistic follows from, and what the missing ones would cost: free."""
    entered = caller.enter(name)
    entered.require_planning()
    return Response(derived.plan_derived(caller.services, entered, question_of(body.validate())), media_type=MEDIA_TYPE)


@router.post(
    "/datasets/{name}/derived",
    operation_id="createDerivedStatistic",
    summary="Derive a statistic",
    status_code=201,
    responses=describe_responses(
        {
            200: (DerivedAnswer, "The statistic, from earlier releases, at no cost, or a rehearsal."),
            201: (DerivedAnswer, "The statistic; new releases of its components are charged."),
        },
        403,
        404,
        *RELEASING,
    ),
)
def derive(name: str, caller: CallerOf, body: JsonBody[DerivedRequest], keys: KeyHeaders = None) -> Response:
    """Derive a statistic from releases; the missing ones are made and debited, all of them or none."""
    entered = caller.enter(name, keys)
    request = validate_question(entered, body)
    answer = derived.release_derived(
        caller.services, entered, question_of(request), idempotency_key(keys, body), rehearse=request.rehearse
    )
    location = f"/v1/datasets/{entered.dataset.name}/releases"
    return answer_response(answer.body, answer.status, replayed=answer.replayed, location=location)
