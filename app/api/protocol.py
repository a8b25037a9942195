"""HTTP/1.1 as uvicorn speaks it over httptools, with the limits that both lack: on heads and on silence."""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api import problems

MAX_HEAD_BYTES: Final = 2**16
HEAD_SECONDS = 20
LISTEN_SECONDS = 60


class Protocol(HttpToolsProtocol):
    """Hangs up on a head, or on trailers, that go on for ever: they would fill the memory before a key is asked for.

    A connection that does not come to the end of a head in time, or takes nothing of its answer, is closed: it would
    hold a descriptor, or a place among the calls that are answered at once.
    """

    _pending_bytes = 0  # received since a head, a piece of a body or a message was last complete
    _head_timer: asyncio.TimerHandle | None = None  # there while a head is waited for
    _listen_timer: asyncio.TimerHandle | None = None  # there while an answer is not taken

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn narrows it
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._have_head()
        self._is_taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what a connection sent."""
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as a problem too, and hang up."""
        body = problems.unreadable(msg)
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {problems.MEDIA_TYPE}\r\ncontent-length: {len(body)}"
        self.transport.write(head.encode() + b"\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n" + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        """Wait for the end of a head that has begun."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """Begin with a body."""
        self._pending_bytes = 0
        self._have_head()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Go on with a body."""
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a message."""
        self._pending_bytes = 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Wait for the other side to take what was written."""
        super().pause_writing()
        self._listen_timer = self.loop.call_later(LISTEN_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Write on."""
        self._is_taken()
        super().resume_writing()

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _have_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _is_taken(self) -> None:
        if self._listen_timer is not None:
            self._listen_timer.cancel()
            self._listen_timer = None

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
