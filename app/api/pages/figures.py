"""The pages of figures at `/figures/…`, and their charts as pictures, for readers and for frames in other pages."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.dependencies import BasePathOf, DirectRoute, FrameAncestorsOf, ReaderOf
from app.api.figure_responses import Known, Since, conditional_response
from app.errors import NotFoundError
from app.services.figures import reading
from app.services.figures.images import render_png, render_svg
from app.services.figures.page import render_page

router = APIRouter(prefix="/figures", route_class=DirectRoute, include_in_schema=False)

_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "


@router.get("/{dataset}/{figure}")
def figure_page(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    dataset: str,
    figure: str,
    reader: ReaderOf,
    base: BasePathOf,
    ancestors: FrameAncestorsOf,
    known: Known = None,
    since: Since = None,
) -> Response:
    """The page of a figure's latest version; with the suffix `.svg` or `.png`, its chart alone."""
    name, dot, suffix = figure.partition(".")
    if suffix not in {"svg", "png"} and dot:
        raise NotFoundError
    opened = reading.open_figure(reader.services, reader.credential, dataset, name, None)
    policy = {"Content-Security-Policy": _POLICY + (" ".join(ancestors) or "'none'")}
    if not dot:
        return conditional_response(
            opened, "html", "text/html", lambda: render_page(opened, base), known, since, policy
        )
    if suffix == "svg":
        return conditional_response(
            opened, suffix, "image/svg+xml", lambda: render_svg(opened).encode(), known, since, policy
        )
    return conditional_response(opened, suffix, "image/png", lambda: render_png(opened), known, since, policy)
