"""Releases."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.list_pages import PageOf
from app.api.openapi.operations import RELEASING, describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.idempotency_keys import KeyHeaders, idempotency_key
from app.api.parameters.json_bodies import JsonBody, validate_question
from app.api.responses import answer_response, release_path, releases_response
from app.api.schemas import responses
from app.api.schemas.releases import ReleaseRequest
from app.api.server.worker_pool import mark_quick
from app.services.releasing import history, releases

router = APIRouter(prefix="/v1", tags=["releases"], route_class=DirectRoute, dependencies=[BEARER])


@router.post(
    "/datasets/{name}/releases",
    operation_id="createRelease",
    summary="Create a release",
    status_code=201,
    responses=describe_responses(
        {
            200: (responses.Release, "An earlier release answers, at no cost, or a rehearsal."),
            201: (responses.Release, "A new release, which is charged."),
        },
        403,
        404,
        *RELEASING,
    ),
)
@mark_quick
def release(name: str, caller: CallerOf, body: JsonBody[ReleaseRequest], keys: KeyHeaders = None) -> Response:
    """Release a differentially private statistic and debit its ε; 200 if an earlier release answers at no cost."""
    entered = caller.enter(name, keys)
    request = validate_question(entered, body)
    answer = releases.release(
        caller.services, entered, request.question, idempotency_key(keys, body), rehearse=request.rehearse
    )
    location = release_path(answer.body) if answer.status == 201 else None
    return answer_response(answer.body, answer.status, replayed=answer.replayed, location=location)


@router.get(
    "/datasets/{name}/releases",
    operation_id="listDatasetReleases",
    summary="List the releases of a dataset",
    responses=describe_responses({200: (responses.Releases, "A page of releases.")}, 404),
)
def releases_of_dataset(name: str, caller: CallerOf, page: PageOf) -> Response:
    """Earlier releases of a dataset."""
    entered = caller.enter(name)
    listed = history.list_dataset_releases(caller.services, entered, page.after_id, page.limit + 1, newest=page.newest)
    return releases_response(listed, page, caller.services.database)


@router.get(
    "/releases",
    operation_id="listReleases",
    summary="List your own releases",
    responses=describe_responses({200: (responses.Releases, "A page of releases.")}),
)
def own_releases(caller: CallerOf, page: PageOf) -> Response:
    """The caller's own releases."""
    listed = history.list_own_releases(
        caller.services, caller.credential, page.after_id, page.limit + 1, newest=page.newest
    )
    return releases_response(listed, page, caller.services.database)


@router.get(
    "/releases/{release_id}",
    operation_id="getRelease",
    summary="Get a release",
    responses=describe_responses({200: (responses.Release, "The release.")}, 404),
)
def one_release(release_id: str, caller: CallerOf) -> Response:
    """One release, as it was first answered; what it left of another payer's allowance is null."""
    return answer_response(history.find_release(caller.services, caller.credential, release_id))
