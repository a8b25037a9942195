"""Batches: many releases in one transaction, all of them or none."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.openapi.operations import PLANNING, RELEASING, describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.idempotency_keys import KeyHeaders, idempotency_key
from app.api.parameters.json_bodies import JsonBody, validate_question
from app.api.responses import MEDIA_TYPE, answer_response
from app.api.schemas.batches import BatchAnswer, BatchPlan, BatchRequest
from app.services.planning.epsilon_allocation import Batch, BatchItem
from app.services.releasing import batches

router = APIRouter(prefix="/v1", tags=["releases"], route_class=DirectRoute, dependencies=[BEARER])


def batch_of(request: BatchRequest) -> Batch:
    """Return the batch that a request asks for."""
    return Batch(
        items=[
            BatchItem(each.statistic.model_dump(), each.epsilon, each.wanted_accuracy, each.weight)
            for each in request.items
        ],
        epsilon_nano=request.epsilon,
        equalised=request.equalise is not None,
        alpha=request.alpha,
        gamma=request.gamma,
        grid_refinement=request.grid_refinement,
        reuse=request.reuse,
    )


@router.post(
    "/datasets/{name}/batches/plan",
    operation_id="planBatch",
    summary="Plan a batch",
    responses=describe_responses({200: (BatchPlan, "The plan.")}, 403, 404, *PLANNING),
)
def plan_batch(name: str, caller: CallerOf, body: JsonBody[BatchRequest]) -> Response:
    """What a batch would cost and promise, item by item: free, and without reading any data."""
    entered = caller.enter(name)
    entered.require_planning()
    return Response(batches.plan_batch(caller.services, entered, batch_of(body.validate())), media_type=MEDIA_TYPE)


@router.post(
    "/datasets/{name}/batches",
    operation_id="createBatch",
    summary="Release a batch",
    status_code=201,
    responses=describe_responses(
        {
            200: (BatchAnswer, "Earlier releases answer all items, at no cost, or a rehearsal."),
            201: (BatchAnswer, "The releases; the new ones are charged."),
        },
        403,
        404,
        *RELEASING,
    ),
)
def release_batch(name: str, caller: CallerOf, body: JsonBody[BatchRequest], keys: KeyHeaders = None) -> Response:
    """Many releases in one transaction: all that are new are debited, or none is."""
    entered = caller.enter(name, keys)
    request = validate_question(entered, body)
    answer = batches.release_batch(
        caller.services, entered, batch_of(request), idempotency_key(keys, body), rehearse=request.rehearse
    )
    location = f"/v1/datasets/{entered.dataset.name}/releases"
    return answer_response(answer.body, answer.status, replayed=answer.replayed, location=location)
