"""Uvicorn's HTTP/1.1 protocol with more limits: on request heads, idle time, buffers and connections."""

import asyncio
import socket
from typing import ClassVar, Final
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.api import problems
from app.api.middleware.concurrency_limit import ABORT, BODY

MAX_HEAD_BYTES: Final = 2**16
MAX_HEADERS: Final = 128
MAX_PIPELINED_REQUESTS: Final = 16
_MAX_KERNEL_BYTES: Final = 2**17  # of responses that are in the kernel's send buffer and not sent yet
_KERNEL_OPTION: Final = getattr(socket, "TCP_NOTSENT_LOWAT", None)  # not on every system
HEAD_SECONDS = 20
LISTEN_SECONDS = 60


class _Flow(FlowControl):
    """Stops reading while pipelined requests wait for earlier responses."""

    def __init__(self, transport: asyncio.Transport, protocol: "HttpProtocol") -> None:
        super().__init__(transport)
        self._protocol = protocol

    def resume_reading(self) -> None:
        """Resume reading, unless pipelined requests wait."""
        if not self._protocol.pipeline:
            super().resume_reading()


class HttpProtocol(HttpToolsProtocol):
    """A protocol that limits what a connection can use before and while a request is answered.

    It closes a connection whose request head or trailers are too large, since these are read before authentication. It
    also closes a connection that does not complete a head in time or does not read its response, since that would hold
    a file descriptor or a slot. Uvicorn's `limit_concurrency` is the maximum number of connections here: beyond it, the
    connection that has waited longest for its client is closed.
    """

    _waiting: ClassVar[WeakKeyDictionary[ServerState, dict["HttpProtocol", None]]] = WeakKeyDictionary()

    _pending_bytes = 0  # received since the last complete head, piece of a body or message
    _head_timer: asyncio.TimerHandle | None = None  # set while a head is expected
    _listen_timer: asyncio.TimerHandle | None = None  # set while the client does not read the response

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timeout of the first head."""
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn narrows it
        self.limit_concurrency = None  # with a limit, uvicorn itself would answer 503
        self._wait_for_client = self._waiting.setdefault(self.server_state, {})
        self.flow = _Flow(self.transport, self)
        self.transport.set_write_buffer_limits(high=0)  # a writer waits until the kernel has everything
        if _KERNEL_OPTION is not None and (connection := transport.get_extra_info("socket")) is not None:
            connection.setsockopt(socket.IPPROTO_TCP, _KERNEL_OPTION, _MAX_KERNEL_BYTES)
        self._start_head_timer()
        self._make_room()
        self._wait_for_client[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        self._wait_for_client.pop(self, None)
        self._stop_head_timer()
        self._stop_listen_timer()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        """If there are too many connections, close the one that has waited longest for its client, else this one."""
        limit = self.config.limit_concurrency
        if limit is not None and len(self.connections) > limit:
            oldest = next(iter(self._wait_for_client), self)
            self._wait_for_client.pop(oldest, None)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and refuse a request whose headers are too large."""
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The request's headers are too large.")

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not valid HTTP with a problem, and close the connection."""
        body = problems.encode_bad_request(msg)
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {problems.MEDIA_TYPE}\r\ncontent-length: {len(body)}"
        self.transport.write(head.encode() + b"\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n" + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        """Start the timeout of a head."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        self._start_head_timer()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. The number is limited, because each takes many times its size in memory.

        Raises:
            ValueError: there are too many headers; the parser then calls `send_400_response`.
        """
        if len(self.headers) == MAX_HEADERS:
            raise ValueError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Stop the timeout of the head, and start the request."""
        self._pending_bytes = 0
        self._stop_head_timer()
        if len(self.pipeline) == MAX_PIPELINED_REQUESTS:
            self.transport.abort()
        if self.transport.is_closing():
            return
        if not self.flow.write_paused:
            self._wait_for_client.pop(self, None)
        super().on_headers_complete()
        if self.cycle is not None and self.cycle.scope is self.scope:  # not if the client asks for another protocol
            self.scope["extensions"][BODY] = {"has_arrived": self.cycle.message_event.is_set}

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body."""
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self._pending_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next head. The rest of a refused body must arrive within the same timeout."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait_for_client[self] = None
            if self.cycle.more_body:
                self._start_head_timer()

    def pause_writing(self) -> None:
        """Start the timeout for a client that does not read."""
        super().pause_writing()
        self._listen_timer = self.loop.call_later(LISTEN_SECONDS, self.transport.abort)
        self._wait_for_client[self] = None

    def resume_writing(self) -> None:
        """Stop the timeout for a client that does not read."""
        self._stop_listen_timer()
        super().resume_writing()
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_for_client.pop(self, None)

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_listen_timer(self) -> None:
        if self._listen_timer is not None:
            self._listen_timer.cancel()
            self._listen_timer = None

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
