"""Figures: published answers that others read and cannot spend with, and the viewers of a dataset's figures."""

from typing import Annotated, Any

from fastapi import APIRouter, Header
from gmpy2 import mpq
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.figure_responses import Known, Since, collected_response, figure_response, split_suffix
from app.api.json_codec import canonical_text
from app.api.list_pages import Page, PageByNameOf, PageOf
from app.api.openapi.operations import READERS_ACCESS, describe_responses
from app.api.parameters.callers import BEARER, CallerOf, ReaderOf
from app.api.parameters.conditional_headers import IfMatchHeaders, IfNoneMatchHeaders, read_precondition
from app.api.parameters.json_bodies import JsonBody
from app.api.parameters.path_parameters import number_in_path
from app.api.parameters.query_parameters import SearchOf
from app.api.parameters.service_addresses import BaseAddressOf
from app.api.responses import created_response, json_response, list_response, page_response
from app.api.routers.derived import question_of
from app.api.schemas import figures as schemas
from app.api.schemas.statistics import Statistic
from app.api.server.worker_pool import mark_quick
from app.errors import AlreadyExistsError, NotReleasedError, PreconditionFailedError
from app.ledger.figure_lists import FigurePage
from app.ledger.figures import MAX_VERSION
from app.services.figures import publishing, reading, viewer_grants
from app.services.figures.display.atom import MEDIA_TYPE as ATOM
from app.services.figures.display.atom import render_feed
from app.services.figures.formats import MEDIA_TYPES, Form
from app.services.figures.publishing import Publication
from app.services.figures.sources import AnsweringRelease, Source
from app.services.preconditions import content_tag

router = APIRouter(prefix="/v1", tags=["figures"], route_class=DirectRoute, dependencies=[BEARER])

MAX_FEED = 100

Accepted = Annotated[list[str] | None, Header(alias="Accept", include_in_schema=False)]
_FIGURE = describe_responses(
    {
        200: (schemas.Figure, "The figure. As CSV, Arrow and Parquet it has the rows alone."),
        304: (None, "Not changed."),
    },
    *(404, 406),
)
_CSV = (
    "measure,columns,group,label,lower_edge,upper_edge,value,value_as_date,interval_lower,interval_upper,alpha,unit,"
    "epsilon,released_at,interval_lower_as_date,interval_upper_as_date,conditions\r\n"
    "mean,body_mass_g,,mean,,,4209.3,,4093.1,4325.5,0.05,g,0.5,2026-01-31T12:00:00Z,,,"
    "values outside 2000 to 7000 count as the nearer bound\r\n"
)
_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_FIGURE[200]["content"] = {
    "text/csv": {"schema": {"type": "string"}, "examples": {"a mean": {"value": _CSV}}},
    **{
        MEDIA_TYPES[form]: _BINARY | {"examples": {"a file": {"summary": f"The rows as {form}.", "value": ""}}}
        for form in (Form.ARROW, Form.PARQUET)
    },
}
_FEED = {
    "schema": {"type": "string"},
    "examples": {"no figures": {"value": '<feed xmlns="http://www.w3.org/2005/Atom"><title>Figures</title></feed>'}},
}


@router.get(
    "/figures",
    operation_id="listFigures",
    summary="List figures",
    openapi_extra=READERS_ACCESS,
    responses=describe_responses({200: (schemas.Figures, "A page of figures.")}),
)
def all_figures(reader: ReaderOf, page: PageByNameOf, search: SearchOf) -> Response:
    """The figures that the caller may see, by the names of dataset and figure; without a key, the public ones."""
    found = reading.list_figures(reader.services, reader.credential, page.after_figure, page.limit, search=search.text)
    return _figures_response(found, page)


@router.get(
    "/figures/reader",
    operation_id="getReader",
    summary="Find out who you are as a reader",
    openapi_extra={"security": [{"key": []}, {"password": []}]},
    responses=describe_responses({200: (schemas.FigureReader, "The caller.")}),
)
def reader_of_figures(reader: ReaderOf) -> Response:
    """Who the caller is. Unlike `GET /v1/me`, viewers may ask this too."""
    return json_response(reading.describe_reader(reader.services, reader.credential))


@router.get(
    "/figures.atom",
    operation_id="getFigureFeed",
    summary="Get a feed of figures",
    openapi_extra=READERS_ACCESS,
    response_class=Response,
    responses={
        200: {"description": "The feed.", "content": {ATOM: _FEED}},
        304: {"description": "Not changed."},
    },
)
def feed(reader: ReaderOf, base: BaseAddressOf, known: Known = None) -> Response:
    """An Atom feed of the figures that the caller may see, the latest first: at most a hundred."""
    content = render_feed(reading.list_latest(reader.services, reader.credential, MAX_FEED), base)
    return collected_response(content_tag(content), ATOM, lambda: content, known, is_shared=False, more={})


@router.get(
    "/datasets/{name}/figures",
    operation_id="listDatasetFigures",
    summary="List the figures of a dataset",
    openapi_extra=READERS_ACCESS,
    responses=describe_responses({200: (schemas.Figures, "A page of figures.")}, 404),
)
def figures_of_dataset(name: str, reader: ReaderOf, page: PageByNameOf, search: SearchOf) -> Response:
    """The figures of a dataset that the caller may see, by name."""
    found = reading.list_figures(
        *(reader.services, reader.credential, page.after_figure, page.limit), search=search.text, dataset=name
    )
    return _figures_response(found, page)


def _figures_response(found: FigurePage, page: Page) -> Response:
    following = None if found.following is None else "/".join(found.following)
    return page_response("figures", reading.list_documents(found.listed), page, following)


@router.put(
    "/datasets/{name}/figures/{figure}",
    operation_id="publishFigure",
    summary="Publish a figure",
    status_code=201,
    responses=describe_responses(
        {
            200: (schemas.FigureVersion, "A new version of the figure, or the same one if nothing changed."),
            201: (schemas.FigureVersion, "The first version of a new figure, or the next one of a withdrawn figure."),
        },
        *(403, 404, NotReleasedError, 412),
    ),
)
def publish(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    name: str,
    figure: str,
    caller: CallerOf,
    body: JsonBody[schemas.FigureRequest],
    if_match: IfMatchHeaders = None,
    if_none_match: IfNoneMatchHeaders = None,
) -> Response:
    """Publish an answer as a figure, or as a new version of one. It costs nothing; the same again changes nothing."""
    entered = caller.enter(name)
    publishing.require_publisher(entered)
    request, wanted = body.validate(), read_precondition(if_match, if_none_match)
    publication = Publication(_source_of(request, body.value()), request.title, request.note, request.audience)
    published, is_new = publishing.publish_figure(caller.services, entered, figure, publication, wanted)
    document = reading.describe_figure(published, sees_dataset=True)
    if is_new:
        return created_response(document, f"/v1/datasets/{entered.dataset.name}/figures/{published.figure.name}")
    return json_response(document)


def _source_of(request: schemas.FigureRequest, value: dict[str, Any]) -> Source:
    """Return what a request publishes; `value` is its JSON."""
    if request.derived is not None:
        derived, told = question_of(request.derived), canonical_text(value["derived"])
        return Source(derived=derived, asked="derived", request=told)
    if request.answers is not None:
        answers = [_answering(each.release, each.statistic, each.alpha) for each in request.answers]
        return Source.of_answers(answers, canonical_text(value["answers"]))
    if request.statistic is not None:
        (release,) = request.list_releases()
        answers = [_answering(release, request.statistic)]
        return Source(answers, asked="statistic", request=canonical_text(value["statistic"]))
    return Source.of_releases(request.list_releases())


def _answering(release_id: str, statistic: Statistic | None, alpha: mpq | None = None) -> AnsweringRelease:
    return AnsweringRelease(release_id, None if statistic is None else statistic.model_dump(), alpha)


@router.get(
    "/datasets/{name}/figures/{figure}",
    operation_id="getFigure",
    summary="Get a figure",
    openapi_extra=READERS_ACCESS,
    responses=_FIGURE,
)
@mark_quick
def one_figure(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    name: str, figure: str, reader: ReaderOf, accepted: Accepted = None, known: Known = None, since: Since = None
) -> Response:
    """The latest version of a figure: as JSON, CSV, Arrow or Parquet, by the Accept header or the suffix of the name.

    `mass.csv` is the same as `mass` with `Accept: text/csv`. Besides a bearer, a key is accepted as the password of
    HTTP Basic authentication, which spreadsheets and dashboards know.
    """
    stem, form = split_suffix(figure)
    opened = reading.open_figure(reader.services, reader.credential, name, stem, None)
    return figure_response(opened, reader.credential, form, accepted, known, since)


@router.delete(
    "/datasets/{name}/figures/{figure}",
    operation_id="withdrawFigure",
    summary="Withdraw a figure",
    status_code=204,
    responses=describe_responses({204: (None, "Withdrawn.")}, 403, 404, PreconditionFailedError),
)
def withdraw(name: str, figure: str, caller: CallerOf, if_match: IfMatchHeaders = None) -> Response:
    """Withdraw a figure in all its versions. It can be published again."""
    entered = caller.enter(name)
    publishing.require_publisher(entered)
    publishing.withdraw_figure(caller.services, entered, figure, read_precondition(if_match))
    return Response(status_code=204)


@router.get(
    "/datasets/{name}/figures/{figure}/versions",
    operation_id="listFigureVersions",
    summary="List the versions of a figure",
    openapi_extra=READERS_ACCESS,
    responses=describe_responses({200: (schemas.FigureVersions, "A page of versions.")}, 404),
)
def versions(name: str, figure: str, reader: ReaderOf, page: PageOf) -> Response:
    """The versions of a figure, without their rows."""
    found = reading.list_versions(
        *(reader.services, reader.credential, name, figure, page.after_number, page.limit + 1), newest=page.newest
    )
    return list_response("versions", found, page, "version")


@router.get(
    "/datasets/{name}/figures/{figure}/versions/{version}",
    operation_id="getFigureVersion",
    summary="Get a version of a figure",
    openapi_extra=READERS_ACCESS,
    responses=_FIGURE,
)
@mark_quick
def one_version(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    name: str,
    figure: str,
    version: str,
    reader: ReaderOf,
    accepted: Accepted = None,
    known: Known = None,
    since: Since = None,
) -> Response:
    """One version of a figure, by its number, in the same forms as the latest one. It never changes."""
    number, form = split_suffix(version)
    opened = reading.open_figure(reader.services, reader.credential, name, figure, number_in_path(number, MAX_VERSION))
    return figure_response(opened, reader.credential, form, accepted, known, since)


@router.get(
    "/datasets/{name}/viewers",
    operation_id="listViewers",
    summary="List the viewers of a dataset's figures",
    responses=describe_responses({200: (schemas.Viewers, "A page of viewers.")}, 403, 404),
)
def viewers(name: str, caller: CallerOf, page: PageByNameOf) -> Response:
    """Who may see the dataset's figures besides those who see the dataset, by name."""
    entered = caller.enter(name)
    entered.require_oversight()
    found = viewer_grants.list_viewers(caller.services, entered, page.after_name, page.limit + 1)
    return list_response("viewers", found, page, "name")


@router.get(
    "/datasets/{name}/viewers/{principal}",
    operation_id="getViewer",
    summary="Get a viewer of a dataset's figures",
    responses=describe_responses({200: (schemas.Viewer, "The viewer.")}, 403, 404),
)
def one_viewer(name: str, principal: str, caller: CallerOf) -> Response:
    """A viewer of the dataset's figures."""
    entered = caller.enter(name)
    entered.require_oversight()
    return json_response(viewer_grants.describe_viewer(caller.services, entered, principal))


@router.put(
    "/datasets/{name}/viewers/{principal}",
    operation_id="grantViewer",
    summary="Let a principal see a dataset's figures",
    status_code=201,
    responses=describe_responses(
        {201: (schemas.Viewer, "It may see the figures now."), 204: (None, "It could see them before.")},
        *(403, 404, AlreadyExistsError),
    ),
)
def grant_viewer(name: str, principal: str, caller: CallerOf, if_none_match: IfNoneMatchHeaders = None) -> Response:
    """Let a principal see the dataset's figures, and nothing else of it."""
    entered = caller.enter(name)
    entered.require_manager()
    wanted = read_precondition(None, if_none_match)
    if not viewer_grants.grant_viewer(caller.services, entered, principal, wanted):
        return Response(status_code=204)
    viewer = viewer_grants.describe_viewer(caller.services, entered, principal)
    return created_response(viewer, f"/v1/datasets/{entered.dataset.name}/viewers/{principal}")


@router.delete(
    "/datasets/{name}/viewers/{principal}",
    operation_id="revokeViewer",
    summary="Take a dataset's figures from a viewer",
    status_code=204,
    responses=describe_responses({204: (None, "Revoked.")}, 403, 404),
)
def revoke_viewer(name: str, principal: str, caller: CallerOf) -> Response:
    """Revoke a principal's access to the dataset's figures."""
    entered = caller.enter(name)
    entered.require_manager()
    viewer_grants.revoke_viewer(caller.services, entered, principal)
    return Response(status_code=204)
