"""Responses of figures: the form by suffix or Accept header, and conditional requests (RFC 9110)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Annotated

from fastapi import Header
from pydantic import WithJsonSchema
from starlette.responses import Response

from app.errors import NotAcceptableError, NotFoundError
from app.services.access import Credential
from app.services.figures.display.rendered_forms import render_once
from app.services.figures.formats import MEDIA_TYPES, Form, choose_form
from app.services.figures.reading import OpenedFigure

_SECONDS_PUBLIC = 60
_FOR_SHARED_CACHES = {"Cache-Control": f"public, max-age={_SECONDS_PUBLIC}"}
_FOR_ONE_CALLER = {"Cache-Control": "private, no-cache"}
_ON_OTHER_SITES = {"Cross-Origin-Resource-Policy": "cross-origin"}


_TEXT = WithJsonSchema({"type": "string"})
Known = Annotated[
    list[str] | None,
    Header(alias="If-None-Match", description="Entity tags that the caller has: one of them gets a 304."),
    _TEXT,
]
Since = Annotated[
    list[str] | None,
    Header(alias="If-Modified-Since", description="Gets a 304 if nothing was published since, by whole seconds."),
    _TEXT,
]


def split_suffix(name: str) -> tuple[str, Form | None]:
    """Return a name without the suffix of a form, and that form; names have no dots.

    Raises:
        NotFoundError: the suffix is of no form.
    """
    stem, dot, suffix = name.partition(".")
    if not dot:
        return name, None
    if suffix not in set(Form):
        raise NotFoundError("a figure has no such form: its suffix is .json, .csv, .arrow or .parquet, or none")
    return stem, Form(suffix)


def figure_response(  # noqa: PLR0913, PLR0917 - what, for whom, in which form, and what the caller has
    opened: OpenedFigure,
    credential: Credential | None,
    form: Form | None,
    accepted: Sequence[str] | None,
    known: Sequence[str] | None,
    since: Sequence[str] | None,
) -> Response:
    """Return a figure in the form that was asked, or 304 if the caller has it already.

    The form is that of the suffix, or else the one that the values of Accept prefer. `known` and `since` are the
    values of If-None-Match and If-Modified-Since.

    Raises:
        NotAcceptableError: a figure has none of the accepted media types.
    """
    chosen = form or choose_form(",".join(accepted or ()))
    if chosen is None:
        raise NotAcceptableError
    more = {"Vary": "Accept, Authorization"}
    if chosen is not Form.JSON:
        more["Content-Disposition"] = f'inline; filename="{opened.published.figure.name}.{chosen}"'
    return conditional_response(
        opened,
        chosen,
        MEDIA_TYPES[chosen],
        lambda: render_once(opened, chosen, credential, lambda: opened.render(chosen)),
        *(known, since, more),
    )


def conditional_response(  # noqa: PLR0913, PLR0917 - what, in which form, and what the caller has
    opened: OpenedFigure,
    form: str,
    media_type: str,
    render: Callable[[], bytes],
    known: Sequence[str] | None,
    since: Sequence[str] | None,
    more: Mapping[str, str],
) -> Response:
    """Return a form of a figure with its entity tag, or 304 if the caller has it already; `more` are headers."""
    tag, published_at = opened.tag(form), datetime.fromisoformat(opened.published.version.published_at)
    headers = {
        "ETag": tag,
        "Last-Modified": format_datetime(published_at, usegmt=True),
        "Vary": "Authorization",
        **(_FOR_ONE_CALLER if opened.audience == "viewers" or opened.sees_dataset else _FOR_SHARED_CACHES),
        **(_ON_OTHER_SITES if opened.audience == "public" else {}),
        **more,
    }
    if _is_tag_known(tag, known) if known else _is_date_known(opened, published_at, since or ()):
        return Response(status_code=304, headers=headers)
    return Response(render(), headers=headers, media_type=media_type)


def collected_response(  # noqa: PLR0913 - what, for whom, and what the caller has
    tag: str,
    media_type: str,
    render: Callable[[], bytes],
    known: Sequence[str] | None,
    *,
    is_shared: bool,
    more: Mapping[str, str],
) -> Response:
    """Return several figures, a collection or the feed, with their entity tag, or 304 if the caller has them already.

    With `is_shared`, the answer is the same for everybody: a caller with a key may see more than others. `more` are
    headers.
    """
    audience = _FOR_SHARED_CACHES | _ON_OTHER_SITES if is_shared else _FOR_ONE_CALLER
    headers = {"ETag": tag, "Vary": "Authorization", **audience, **more}
    if known and _is_tag_known(tag, known):
        return Response(status_code=304, headers=headers)
    return Response(render(), headers=headers, media_type=media_type)


def _is_tag_known(tag: str, known: Sequence[str]) -> bool:
    tags = {each.strip().removeprefix("W/") for each in ",".join(known).split(",")}
    return tag in tags or "*" in tags


def _is_date_known(opened: OpenedFigure, published_at: datetime, since: Sequence[str]) -> bool:
    """Whether If-Modified-Since names a moment at which this version was published already.

    Last-Modified has whole seconds. In the second of the publication it names this version only if no other one was
    published then: a caller with that one would never be told of this one (RFC 9110, section 8.8.2.2). Two
    dates are none.
    """
    try:
        asked = parsedate_to_datetime(since[0]) if len(since) == 1 else None
        if asked is None or asked < published_at.replace(microsecond=0):
            return False
    except (TypeError, ValueError, OverflowError):  # a date without a zone, no date, or a zone beyond all numbers
        return False
    return asked >= published_at or opened.is_alone_in_its_second()
