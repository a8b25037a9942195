"""Releases."""

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from app.api.crew import quick
from app.api.documentation import described
from app.api.requests import CallerOf, DirectRoute, JsonBody, KeyHeaders, PageOf, json_body, key_of
from app.api.responses import answer_response, listed_releases
from app.api.schemas import answers
from app.api.schemas.releases import ReleaseRequest
from app.services import records, releases
from app.services.questions import Question

router = APIRouter(prefix="/v1", tags=["releases"], route_class=DirectRoute)

Body = Annotated[JsonBody[ReleaseRequest], json_body(ReleaseRequest)]


def question_of(request: ReleaseRequest) -> Question:
    """What a request asks for."""
    return Question(
        statistic=request.statistic.model_dump(),
        epsilon_nano=request.epsilon,
        accuracy=request.accuracy,
        alpha=request.alpha,
        gamma=request.gamma,
        grid_refinement=request.grid_refinement,
        reuse=request.reuse,
    )


@router.post(
    "/datasets/{name}/releases",
    status_code=201,
    **described(
        {
            200: (answers.Release, "An earlier release answers, at no cost."),
            201: (answers.Release, "The release, paid."),
        },
        403,
        404,
        409,
        body=ReleaseRequest,
        keyed=True,
    ),
)
@quick
def release(name: str, caller: CallerOf, body: Body, keys: KeyHeaders) -> Response:
    """A private statistic, debited; 200 when an earlier release answers at no cost."""
    entered = caller.enter(name)
    entered.require_allowance()
    question = question_of(body.validated())
    answer = releases.release(caller.services, entered, question, key_of(keys, body))
    return answer_response(answer.body, answer.status, replayed=answer.replayed)


@router.get("/datasets/{name}/releases", **described({200: (answers.Releases, "A page.")}, 404, paged=True))
def releases_of_dataset(name: str, caller: CallerOf, page: PageOf) -> Response:
    """Earlier releases of a dataset, oldest first."""
    entered = caller.enter(name)
    listed = records.of_dataset(caller.services, entered, page.after_id, page.limit + 1)
    return listed_releases(listed, page.limit, caller.services.database)


@router.get("/releases", **described({200: (answers.Releases, "A page.")}, paged=True))
def own_releases(caller: CallerOf, page: PageOf) -> Response:
    """The caller's own releases, oldest first."""
    listed = records.of_caller(caller.services, caller.credential, page.after_id, page.limit + 1)
    return listed_releases(listed, page.limit, caller.services.database)


@router.get("/releases/{release_id}", **described({200: (answers.Release, "The release.")}, 404))
def one_release(release_id: str, caller: CallerOf) -> Response:
    """One release, as it was answered."""
    return answer_response(records.one(caller.services, caller.credential, release_id))
