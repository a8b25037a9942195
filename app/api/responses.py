"""Responses: JSON documents, lists, stored answers, and static bytes that many responses share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.list_pages import Page
from app.api.middleware.concurrency_limit import MAX_PIECE_BYTES
from app.json_text import encode_json
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body
from app.ledger.answers.releases import Rows
from app.services.preconditions import entity_tag
from app.services.releasing.history import ShownRelease

MEDIA_TYPE = "application/json"
MAX_PAGE_BYTES = 2**23
"""The limit on the releases of one page; the first release is included even if it alone is larger."""

MIN_PIECE_BYTES = 2**16
_BEFORE_ID = b'{"id":"'
_AFTER_ID = len(_BEFORE_ID) + 36


class SharedResponse(Response):
    """A response whose bytes are shared. It is sent in pieces, so that it does not count as memory of one response."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for begin in range(0, len(self.body), MAX_PIECE_BYTES):
            piece = self.body[begin : begin + MAX_PIECE_BYTES]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def json_response(document: Any, status: int = 200) -> Response:  # noqa: ANN401 - JSON is any value
    """Return a document as a JSON response."""
    return Response(encode_json(document), status, media_type=MEDIA_TYPE)


def created_response(document: Any, location: str) -> Response:  # noqa: ANN401 - JSON is any value
    """Return the 201 response for what can be read at the path `location`."""
    return Response(encode_json(document), 201, {"Location": location}, MEDIA_TYPE)


def tagged_response(document: dict[str, Any]) -> Response:
    """Return a document with its entity tag, for a change that is sent with `If-Match`."""
    return Response(encode_json(document), 200, {"ETag": entity_tag(document)}, MEDIA_TYPE)


def list_response(name: str, documents: Sequence[Any], page: Page, key: str | Callable[[Any], str]) -> Response:
    """Return a page of a list, in which `next` is the `after` of the next page, or null.

    Args:
        name: the member that holds the page.
        documents: up to `page.limit` + 1 items; the last one only shows that another page follows.
        page: the page that was asked for.
        key: the member whose value is the `after` of the next page, or a function that returns it.
    """
    shown, following = documents[: page.limit], None
    if len(documents) > page.limit:
        following = shown[-1][key] if isinstance(key, str) else key(shown[-1])
    return page_response(name, shown, page, following)


def page_response(name: str, shown: Sequence[Any], page: Page, following: str | int | None) -> Response:
    """Return the items of a page, which the next page follows after `following`; that is None on the last page."""
    return Response(encode_json({name: shown, "next": following}), 200, page.links(following), MEDIA_TYPE)


def answer_response(
    body: bytes | Body, status: int = 200, *, replayed: bool = False, location: str | None = None
) -> Response:
    """Return a stored answer as a response, streamed if it is large; `replayed` adds the header of a replay."""
    headers = {"Idempotency-Replayed": "true"} if replayed else {}
    if status == 201 and location is not None:
        headers["Location"] = location
    if isinstance(body, Body):
        if body.size > MAX_PLAIN_BYTES:
            if body.has_exact_size:
                headers["Content-Length"] = str(body.size)
            return StreamingResponse(body.pieces(), status, headers, MEDIA_TYPE)
        body = body.content()
    return Response(body, status, headers, MEDIA_TYPE)


def release_path(body: bytes | Body) -> str:
    """Return the path of a release, whose id is the first member of its answer."""
    begin = b"".join(body.pieces(0, _AFTER_ID)) if isinstance(body, Body) else body[:_AFTER_ID]
    return f"/v1/releases/{begin[len(_BEFORE_ID) :].decode('ascii')}"


def releases_response(releases: Sequence[ShownRelease], page: Page, rows: Rows) -> Response:
    """Return a page of stored releases, with the bytes that the reader may see unchanged.

    The page ends before the release that would make it larger than `MAX_PAGE_BYTES`, but has at least one release.
    Content that is not loaded yet is read from `rows` while the response is sent.
    """
    bodies = [release.body(rows) for release in releases]
    shown = _count_shown(bodies, page.limit)
    following = releases[shown - 1].id if shown < len(releases) else None
    pieces, links = _page_pieces(bodies[:shown], following), page.links(following)
    if all(release.in_memory for release in releases):
        return Response(b"".join(pieces), 200, links, MEDIA_TYPE)
    return StreamingResponse(_at_least(MIN_PIECE_BYTES, pieces), 200, links, MEDIA_TYPE)


def _count_shown(bodies: Sequence[Body], limit: int) -> int:
    """Return how many of the answers a page has room for."""
    size = 0
    for place, body in enumerate(bodies[:limit]):
        size += body.size
        if place and size > MAX_PAGE_BYTES:
            return place
    return min(len(bodies), limit)


def _page_pieces(bodies: Sequence[Body], following: str | None) -> Iterator[bytes]:
    yield b'{"releases":['
    for place, body in enumerate(bodies):
        if place:
            yield b","
        yield from body.pieces()
    yield b'],"next":' + encode_json(following) + b"}"


def _at_least(size: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of at least `size` bytes, because each piece is sent separately."""
    gathered: list[bytes] = []
    length = 0
    for piece in pieces:
        gathered.append(piece)
        length += len(piece)
        if length >= size:
            yield b"".join(gathered)
            gathered, length = [], 0
    yield b"".join(gathered)
