"""The limit on concurrent requests, as ASGI middleware: a request holds a slot until its response is written."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.middleware import slot_pool
from app.api.middleware.slot_pool import Slot, SlotPool, Transfer
from app.errors import BodyTooSlowError, OverloadedError

SLOT: Final = "snapledger.slot"
ABORT: Final = "snapledger.abort"
"""The ASGI extension through which our server lets the application abort a connection."""

BODY: Final = "snapledger.body"
"""The ASGI extension in which the server says whether the next piece of the body has arrived (`has_arrived`)."""

MAX_PIECE_BYTES: Final = 2**16
MAX_HELD_BYTES = 2**28
MAX_OPERATIONS_SLOTS: Final = 32
BODY_GRACE_SECONDS = 20
"""The time for a body of any size; each 32 KiB received adds one second."""

RESPONSE_GRACE_SECONDS = 60
"""The time for a response of any size; each 32 KiB that the client has read adds one second."""

_ALWAYS_ANSWERED: Final = "/healthz"  # it needs no thread and a few bytes
_OF_OPERATORS: Final = frozenset({"/metrics", "/readyz"})


@lru_cache(1024)
def _network_of(host: str) -> str:
    """Return the network that one client controls: an IPv4 address, or the first 64 bits of an IPv6 address."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return address.exploded[:19]
    return host


def _credential_of(scope: Scope) -> int | None:
    """Return the hash of the Authorization header of a request under `/v1`; None for any other request."""
    if not scope["path"].startswith("/v1/"):
        return None
    return next((hash(value) for name, value in scope["headers"] if name == b"authorization"), None)


class ConcurrencyLimit:
    """Refuses a request at once if the process already answers as many as its memory allows.

    `/healthz` is always answered. `/readyz` and `/metrics` have slots of their own.
    """

    def __init__(self, app: ASGIApp, max_requests: int) -> None:
        self._app = app
        self._pool = SlotPool(max_requests, MAX_HELD_BYTES)
        self._operators_pool = SlotPool(MAX_OPERATIONS_SLOTS, MAX_HELD_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if there is a slot for it."""
        if scope["type"] != "http" or scope["path"] == _ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        pool = self._operators_pool if scope["path"] in _OF_OPERATORS else self._pool
        client = scope.get("client")
        try:
            slot = pool.take(_network_of(client[0]) if client else "", _credential_of(scope))
        except OverloadedError as error:
            await problems.render_error(error)(scope, receive, send)
            return
        scope[SLOT] = slot
        exchange = _Exchange(scope, receive, send, slot)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        finally:
            pool.release(slot)


class _Exchange:
    """Reads the body and writes the response of a request in pieces, and reports the progress to its slot."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, slot: Slot) -> None:
        self._scope, self._receive, self._send, self._slot = scope, receive, send, slot
        extensions = scope.get("extensions", {})
        self._abort: Callable[[], None] | None = extensions.get(ABORT, {}).get("abort")
        self._has_arrived: Callable[[], bool] = extensions.get(BODY, {}).get("has_arrived", lambda: False)
        self._clock = asyncio.get_running_loop().time
        self._read_timeout: asyncio.Timeout | None = None
        self._body_due_at = 0.0
        self._body_is_read = False
        self._start: Message | None = None  # until the first piece is there
        self._writing: Transfer | None = None
        self._is_aborted = False

    async def receive(self) -> Message:
        """Return the next piece of the body.

        Raises:
            BodyTooSlowError: the body did not arrive in time, or another request took the slot.
        """
        if self._body_is_read or self._start is not None or self._writing is not None:
            return await self._receive()  # it waits for a disconnect
        reading = self._slot.transfer
        if reading is None:
            reading = self._slot.transfer = Transfer(self._stop_reading, self._clock())
            self._body_due_at = reading.due_at + BODY_GRACE_SECONDS
        message = await (self._receive() if self._has_arrived() else self._wait_for_body(reading))
        size = len(message.get("body", b""))
        reading.advance(size, self._clock())
        self._body_due_at += size / slot_pool.MIN_BYTES_PER_SECOND
        if not message.get("more_body", False):
            self._body_is_read = True
            self._slot.transfer = None
        return message

    async def _wait_for_body(self, reading: Transfer) -> Message:
        try:
            async with asyncio.timeout_at(self._body_due_at) as self._read_timeout:
                reading.waits = True
                return await self._receive()
        except TimeoutError:
            raise BodyTooSlowError from None
        finally:
            reading.waits = False

    def _stop_reading(self) -> None:
        if self._read_timeout is not None:
            self._read_timeout.reschedule(self._clock())

    def _stop_writing(self) -> None:
        self._is_aborted = True
        if self._abort is not None:
            self._abort()

    async def send(self, message: Message) -> None:
        """Write a message, a large one in pieces. The call for the last message returns when all data is sent."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        whole = self._start is not None and not more
        if self._start is not None:
            start, self._start = self._start, None
            try:
                if whole and len(body) > MAX_PIECE_BYTES:
                    self._slot.hold_bytes(len(body))
            except OverloadedError as error:
                await problems.render_error(error)(self._scope, self._receive, self._send)
                return
            self._writing = self._slot.transfer = Transfer(self._stop_writing, self._clock())
            self._writing.waits = True
            if whole and len(body) <= MAX_PIECE_BYTES:
                await self._send(start)
                await self._send(message)
                return
            await self._write(start)
        for begin in range(0, len(body), MAX_PIECE_BYTES):
            piece = bytes(body[begin : begin + MAX_PIECE_BYTES])
            await self._write({**message, "body": piece, "more_body": True})
        if not more:
            await self._write({**message, "body": b"", "more_body": False})

    async def _write(self, message: Message) -> None:
        writing = self._writing
        if self._is_aborted or writing is None:
            return
        writing.waits = True
        try:
            async with asyncio.timeout_at(writing.due_at + RESPONSE_GRACE_SECONDS):
                await self._send(message)
        except TimeoutError:
            self._stop_writing()
        writing.advance(len(message.get("body", b"")), self._clock())
        writing.waits = False
