"""HTTP/1.1 as uvicorn speaks it over httptools, with limits that both lack: on heads, silence, buffers, connections."""

import asyncio
import socket
from typing import ClassVar, Final
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.api import problems
from app.api.middleware.concurrency_limit import ABORT

MAX_HEAD_BYTES: Final = 2**16
MAX_HEADERS: Final = 128
MAX_PIPELINED_REQUESTS: Final = 16
_MAX_KERNEL_BYTES: Final = 2**17  # of answers, which the kernel has taken and not sent yet
_KERNEL_OPTION: Final = getattr(socket, "TCP_NOTSENT_LOWAT", None)  # not on every system
HEAD_SECONDS = 20
LISTEN_SECONDS = 60


class _Flow(FlowControl):
    """Reads nothing further while requests wait for the answers before theirs."""

    def __init__(self, transport: asyncio.Transport, protocol: "HttpProtocol") -> None:
        super().__init__(transport)
        self._protocol = protocol

    def resume_reading(self) -> None:
        """Read on, unless requests wait."""
        if not self._protocol.pipeline:
            super().resume_reading()


class HttpProtocol(HttpToolsProtocol):
    """Hangs up on a head, or on trailers, that go on for ever: they would fill the memory before a key is asked for.

    A connection that does not come to the end of a head in time, or takes nothing of its answer, is closed: it would
    hold a descriptor, or a place among the calls that are answered at once. Beyond uvicorn's `limit_concurrency`, which
    is the number of connections here, the one that has waited for its client for the longest time makes room.
    """

    _waiting: ClassVar[WeakKeyDictionary[ServerState, dict["HttpProtocol", None]]] = WeakKeyDictionary()

    _pending_bytes = 0  # received since a head, a piece of a body or a message was last complete
    _head_timer: asyncio.TimerHandle | None = None  # there while a head is waited for
    _listen_timer: asyncio.TimerHandle | None = None  # there while an answer is not taken

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn narrows it
        self.limit_concurrency = None  # uvicorn itself would refuse every request beyond it
        self._wait_for_client = self._waiting.setdefault(self.server_state, {})
        self.flow = _Flow(self.transport, self)
        self.transport.set_write_buffer_limits(high=0)  # who writes waits until all is taken
        if _KERNEL_OPTION is not None and (connection := transport.get_extra_info("socket")) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, _KERNEL_OPTION, _MAX_KERNEL_BYTES)
        self._await_head()
        self._make_room()
        self._wait_for_client[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_for_client.pop(self, None)
        self._have_head()
        self._is_taken()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        """Close the connection that has waited for its client the longest, or else the new one, beyond the limit."""
        limit = self.config.limit_concurrency
        if limit is not None and len(self.connections) > limit:
            oldest = next(iter(self._wait_for_client), self)
            self._wait_for_client.pop(oldest, None)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take in what a connection sent."""
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The request's headers are too large.")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as a problem too, and hang up."""
        body = problems.encode_bad_request(msg)
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {problems.MEDIA_TYPE}\r\ncontent-length: {len(body)}"
        self.transport.write(head.encode() + b"\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n" + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        """Wait for the end of a head that has begun."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        self._await_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take in a header: each takes many times its bytes, and stays until the connection is collected.

        Raises:
            ValueError: it is one too many, which the parser turns into a refusal.
        """
        if len(self.headers) == MAX_HEADERS:
            raise ValueError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin with a body."""
        self._pending_bytes = 0
        self._have_head()
        if len(self.pipeline) == MAX_PIPELINED_REQUESTS:
            self.transport.abort()
        if self.transport.is_closing():
            return
        if not self.flow.write_paused:
            self._wait_for_client.pop(self, None)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Go on with a body."""
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a message."""
        self._pending_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next head: what is left of a refused body has no longer than that."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait_for_client[self] = None
            if self.cycle.more_body:
                self._await_head()

    def pause_writing(self) -> None:
        """Wait for the other side to take what was written."""
        super().pause_writing()
        self._listen_timer = self.loop.call_later(LISTEN_SECONDS, self.transport.abort)
        self._wait_for_client[self] = None

    def resume_writing(self) -> None:
        """Write on."""
        self._is_taken()
        super().resume_writing()
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_for_client.pop(self, None)

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
