"""Responses of figures: the form by suffix or Accept header, and conditional requests (RFC 9110)."""

from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime

from starlette.responses import Response

from app.errors import NotAcceptableError, NotFoundError
from app.services.figures.formats import MEDIA_TYPES, Form, choose_form
from app.services.figures.reading import OpenedFigure

_SECONDS_PUBLIC = 60
_CACHING = {
    "viewers": "private, no-cache",
    "public": f"public, max-age={_SECONDS_PUBLIC}",
}


def split_suffix(name: str) -> tuple[str, Form | None]:
    """Return a name without the suffix of a form, and that form; names have no dots.

    Raises:
        NotFoundError: the suffix is of no form.
    """
    stem, dot, suffix = name.partition(".")
    if not dot:
        return name, None
    if suffix not in set(Form):
        raise NotFoundError
    return stem, Form(suffix)


def figure_response(
    opened: OpenedFigure, form: Form | None, accepted: Sequence[str], known: Sequence[str], since: Sequence[str]
) -> Response:
    """Return a figure in the form that was asked, or 304 if the caller has it already.

    The form is that of the suffix, or else the one that the values of Accept prefer. `known` and `since` are the
    values of If-None-Match and If-Modified-Since.

    Raises:
        NotAcceptableError: a figure has none of the accepted media types.
    """
    chosen = form or choose_form(",".join(accepted))
    if chosen is None:
        raise NotAcceptableError
    tag, published_at = opened.tag(chosen), datetime.fromisoformat(opened.published.version.published_at)
    headers = {
        "ETag": tag,
        "Last-Modified": format_datetime(published_at, usegmt=True),
        "Cache-Control": _CACHING[opened.published.figure.audience],
        "Vary": "Accept, Authorization",
    }
    if _is_known(tag, published_at, known, since):
        return Response(status_code=304, headers=headers)
    if chosen is not Form.JSON:
        name = opened.published.figure.name
        headers["Content-Disposition"] = f'inline; filename="{name}.{chosen}"'
    return Response(opened.render(chosen), headers=headers, media_type=MEDIA_TYPES[chosen])


def _is_known(tag: str, published_at: datetime, known: Sequence[str], since: Sequence[str]) -> bool:
    if known:  # then If-Modified-Since is ignored
        tags = {each.strip().removeprefix("W/") for each in ",".join(known).split(",")}
        return tag in tags or "*" in tags
    try:
        return bool(since) and published_at.replace(microsecond=0) <= parsedate_to_datetime(since[0])
    except (TypeError, ValueError):  # a date without a zone, or no date
        return False
