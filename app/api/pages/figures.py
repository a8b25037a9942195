"""The pages of figures at `/figures/…`, and their charts as pictures, for readers and for frames in other pages."""

from collections.abc import Callable, Sequence

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.figure_responses import Known, Since, conditional_response
from app.api.parameters.callers import ReaderOf
from app.api.parameters.path_parameters import number_in_path
from app.api.parameters.service_addresses import BasePathOf, FrameAncestorsOf
from app.api.server.worker_pool import mark_quick
from app.errors import NotFoundError
from app.ledger.figures import MAX_VERSION
from app.services.figures import reading
from app.services.figures.display.images import render_png, render_svg
from app.services.figures.display.page import render_page
from app.services.figures.display.rendered_forms import render_once

router = APIRouter(prefix="/figures", route_class=DirectRoute, include_in_schema=False)

_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "

_KEPT_BY_ONE = {"Cache-Control": f"private, max-age={24 * 3600}"}
"""For a version's chart, which never changes: a screen that loads a board each minute asks for its charts once."""


def framing_policy(ancestors: Sequence[str]) -> dict[str, str]:
    """Return the header that lets pages of these origins, and no others, show a page in a frame."""
    return {"Content-Security-Policy": _POLICY + (" ".join(ancestors) or "'none'")}


@router.get("/{dataset}/{figure}")
@mark_quick
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
    if (suffix in {"svg", "png"}) != bool(dot):
        raise NotFoundError("a figure has no such picture: its suffix is .svg or .png; its page has none")
    opened = reading.open_figure(reader.services, reader.credential, dataset, name, None)
    policy = framing_policy(ancestors)
    render: Callable[[], bytes]
    form, media_type, render = {
        "": ("html", "text/html", lambda: render_page(opened, base)),
        "svg": ("svg", "image/svg+xml", lambda: render_svg(opened).encode()),
        "png": ("png", "image/png", lambda: render_png(opened)),
    }[suffix]
    return conditional_response(
        opened, form, media_type, lambda: render_once(opened, form, reader.credential, render), known, since, policy
    )


@router.get("/{dataset}/{figure}/charts/{picture}")
@mark_quick
def version_chart(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    dataset: str,
    figure: str,
    picture: str,
    reader: ReaderOf,
    ancestors: FrameAncestorsOf,
    known: Known = None,
    since: Since = None,
) -> Response:
    """The chart of one version as SVG, without its title, for pages that show the title: a version never changes."""
    number = picture.removesuffix(".svg")
    if number == picture:
        raise NotFoundError
    opened = reading.open_figure(
        reader.services, reader.credential, dataset, figure, number_in_path(number, MAX_VERSION)
    )
    headers = framing_policy(ancestors)
    if reader.credential is not None:
        headers |= _KEPT_BY_ONE
    return conditional_response(
        opened,
        "chart",
        "image/svg+xml",
        lambda: render_once(opened, "chart", reader.credential, lambda: render_svg(opened, has_heading=False).encode()),
        *(known, since, headers),
    )
