"""Responses: JSON documents, and bytes that many responses share."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.middleware.concurrency_limit import MAX_PIECE_BYTES
from app.json_text import encode_json
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body
from app.ledger.answers.releases import Rows, StoredRelease

MEDIA_TYPE = "application/json"
MAX_PAGE_BYTES = 2**23
"""Of the releases of a page, unless its first one alone is larger."""

MIN_PIECE_BYTES = 2**16


class SharedResponse(Response):
    """Bytes that all answers share, sent in pieces that wait for the socket: they count as no answer's memory."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for begin in range(0, len(self.body), MAX_PIECE_BYTES):
            piece = self.body[begin : begin + MAX_PIECE_BYTES]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def json_response(document: Any, status: int = 200) -> Response:  # noqa: ANN401 - JSON is any value
    """A document as a response."""
    return Response(encode_json(document), status, media_type=MEDIA_TYPE)


def list_response(name: str, documents: Sequence[Any], limit: int, key: str) -> Response:
    """A page of a list. `next` is the `after` of the page that follows, or null.

    The list was fetched with one item more than the limit, to know whether anything follows.
    """
    page = documents[:limit]
    following = page[-1][key] if len(documents) > limit else None
    return json_response({name: page, "next": following})


def answer_response(body: bytes | Body, status: int = 200, *, replayed: bool = False) -> Response:
    """An answer, in pieces where it is large; a replay says that it is one."""
    headers = {"Idempotency-Replayed": "true"} if replayed else {}
    if isinstance(body, Body):
        if body.size > MAX_PLAIN_BYTES:
            headers["Content-Length"] = str(body.size)
            return StreamingResponse(body.pieces(), status, headers, MEDIA_TYPE)
        body = body.content()
    return Response(body, status, headers, MEDIA_TYPE)


def releases_response(releases: Sequence[StoredRelease], limit: int, rows: Rows) -> Response:
    """A page of stored releases, whose bytes are passed on as they are.

    It ends before the release with which it would be larger than `MAX_PAGE_BYTES`, unless that is its first. What is
    not there yet is read from `rows` when it is its turn.
    """
    pieces = _page_pieces(releases, limit, rows)
    if all(release.content is not None for release in releases):
        return Response(b"".join(pieces), media_type=MEDIA_TYPE)
    return StreamingResponse(_at_least(MIN_PIECE_BYTES, pieces), media_type=MEDIA_TYPE)


def _page_pieces(releases: Sequence[StoredRelease], limit: int, rows: Rows) -> Iterator[bytes]:
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
    """The same bytes in fewer pieces: each is sent by itself."""
    gathered: list[bytes] = []
    length = 0
    for piece in pieces:
        gathered.append(piece)
        length += len(piece)
        if length >= size:
            yield b"".join(gathered)
            gathered, length = [], 0
    yield b"".join(gathered)
