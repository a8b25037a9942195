"""Responses: JSON documents, lists, stored answers, and static bytes that many responses share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.middleware.concurrency_limit import MAX_PIECE_BYTES
from app.json_text import encode_json
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body
from app.ledger.answers.releases import Rows
from app.services.releasing.history import ShownRelease

MEDIA_TYPE = "application/json"
MAX_PAGE_BYTES = 2**23
"""The limit on the releases of one page; the first release is included even if it alone is larger."""

MIN_PIECE_BYTES = 2**16


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


def list_response(name: str, documents: Sequence[Any], limit: int, key: str | Callable[[Any], str]) -> Response:
    """Return a page of a list, in which `next` is the `after` of the next page, or null.

    Args:
        name: the member that holds the page.
        documents: up to `limit` + 1 items; the last one only shows that another page follows.
        limit: the maximum number of items on the page.
        key: the member whose value is the `after` of the next page, or a function that returns it.
    """
    page = documents[:limit]
    following = None
    if len(documents) > limit:
        following = page[-1][key] if isinstance(key, str) else key(page[-1])
    return json_response({name: page, "next": following})


def answer_response(body: bytes | Body, status: int = 200, *, replayed: bool = False) -> Response:
    """Return a stored answer as a response, streamed if it is large; `replayed` adds the header of a replay."""
    headers = {"Idempotency-Replayed": "true"} if replayed else {}
    if isinstance(body, Body):
        if body.size > MAX_PLAIN_BYTES:
            if body.has_exact_size:
                headers["Content-Length"] = str(body.size)
            return StreamingResponse(body.pieces(), status, headers, MEDIA_TYPE)
        body = body.content()
    return Response(body, status, headers, MEDIA_TYPE)


def releases_response(releases: Sequence[ShownRelease], limit: int, rows: Rows) -> Response:
    """Return a page of stored releases, with the bytes that the reader may see unchanged.

    The page ends before the release that would make it larger than `MAX_PAGE_BYTES`, but has at least one release.
    Content that is not loaded yet is read from `rows` while the response is sent.
    """
    pieces = _page_pieces(releases, limit, rows)
    if all(release.in_memory for release in releases):
        return Response(b"".join(pieces), media_type=MEDIA_TYPE)
    return StreamingResponse(_at_least(MIN_PIECE_BYTES, pieces), media_type=MEDIA_TYPE)


def _page_pieces(releases: Sequence[ShownRelease], limit: int, rows: Rows) -> Iterator[bytes]:
    separator, size, following = b'{"releases":[', 0, None
    for place, release in enumerate(releases):
        body = release.body(rows)
        size += body.size
        if place == limit or (place and size > MAX_PAGE_BYTES):
            following = releases[place - 1].id
            break
        yield separator
        yield from body.pieces()
        separator = b","
    if not releases:
        yield separator
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
