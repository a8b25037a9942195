"""Answers as JSON."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from app.ledger.releases import Release
from app.services.json_text import encode

MEDIA_TYPE = "application/json"


def json_response(document: Any, status: int = 200) -> Response:  # noqa: ANN401 - JSON is any value
    """A document as a response."""
    return Response(encode(document), status, media_type=MEDIA_TYPE)


def listed(name: str, documents: Sequence[Any], limit: int, key: str) -> Response:
    """A page of a list. `next` is the `after` of the page that follows, or null.

    The list was fetched with one item more than the limit, to know whether anything follows.
    """
    page = documents[:limit]
    following = page[-1][key] if len(documents) > limit else None
    return json_response({name: page, "next": following})


def listed_releases(releases: Sequence[Release], limit: int) -> Response:
    """A page of stored releases, whose bytes are passed on as they are."""
    page = releases[:limit]
    following = page[-1].id if len(releases) > limit else None
    body = b'{"releases":[' + b",".join(release.response for release in page) + b'],"next":' + encode(following) + b"}"
    return Response(body, media_type=MEDIA_TYPE)
