"""The pages of collections at `/collections/…`, for screens on walls and for frames in other pages."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.figure_responses import Known, collected_response
from app.api.pages.figures import framing_policy
from app.api.parameters.callers import ReaderOf
from app.api.parameters.query_parameters import RefreshOf
from app.api.parameters.service_addresses import BasePathOf, FrameAncestorsOf
from app.services.figures.collection_reading import open_collection
from app.services.figures.display.board_page import render_board

router = APIRouter(prefix="/collections", route_class=DirectRoute, include_in_schema=False)


@router.get("/{name}")
def board_page(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    name: str,
    reader: ReaderOf,
    base: BasePathOf,
    ancestors: FrameAncestorsOf,
    refresh: RefreshOf,
    known: Known = None,
) -> Response:
    """The charts of a collection's figures in a grid; with `refresh`, a browser loads it again from time to time."""
    seconds = refresh.seconds
    opened = open_collection(reader.services, reader.credential, name)
    return collected_response(
        opened.tag("html", base, str(seconds)),
        "text/html",
        lambda: render_board(opened, base, seconds),
        known,
        is_shared=reader.credential is None,
        more=framing_policy(ancestors),
    )
