"""What happens before a call is routed, as pure ASGI: the fault barrier and the key."""

import hashlib
from typing import Final

from cachetools import TTLCache
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.rates import RateLimit
from app.api.watch import PRINCIPAL
from app.errors import SnapledgerError, UnauthenticatedError
from app.services import access
from app.services.context import Services

_REMEMBERED_KEYS: Final = 10_000
_REMEMBERED_SECONDS: Final = 1
_WHERE_KEYS_CHANGE: Final = ("/v1/principals", "/v1/me")

KEY_DIGEST: Final = "snapledger.key_digest"


class FaultBarrier:
    """The outermost layer: a defect becomes a 500 without its text, here and in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on and catch what it raises."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            return  # nobody is left to answer, and nothing was done
        except Exception as error:  # noqa: BLE001 - the barrier is for all of them
            response = problems.of_fault(error)
            if not started:
                await response(scope, receive, send)


def digest_in(scope: Scope) -> bytes:
    """The SHA-256 of the key that a call brings.

    Raises:
        UnauthenticatedError: it brings none, or several.
    """
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, key = (values[0] if len(values) == 1 else b"").partition(b" ")
    if scheme.lower() != b"bearer" or not key:
        raise UnauthenticatedError
    return hashlib.sha256(key.strip()).digest()


class KeyGate:
    """Refuses a call without a key in force before its body is read.

    For a second after a key was found to be in force it is let through from memory, which is emptied when a key changes
    in this process. Whether it still is in force is decided again in the call's own transaction: what another process
    took away costs one read of a bounded body, never access.
    """

    def __init__(self, app: ASGIApp, rate: RateLimit) -> None:
        self._app = app
        self._rate = rate
        self._seen: TTLCache[bytes, str] = TTLCache(_REMEMBERED_KEYS, _REMEMBERED_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a call to `/v1` through if it brings a key."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        try:
            scope[KEY_DIGEST] = await self._digest(scope)
            await self._rate.count(scope[PRINCIPAL])
        except SnapledgerError as error:
            await problems.of(error)(scope, receive, send)
            return
        if scope["method"] == "GET" or not scope["path"].startswith(_WHERE_KEYS_CHANGE):
            await self._app(scope, receive, send)
            return

        async def forgetting(message: Message) -> None:
            self._seen.clear()
            await send(message)

        await self._app(scope, receive, forgetting)

    async def _digest(self, scope: Scope) -> bytes:
        digest = digest_in(scope)
        name = self._seen.get(digest)
        if name is None:
            services: Services = scope["app"].state.services
            name = (await run_in_threadpool(access.authenticate, services.database, digest)).name
            self._seen[digest] = name
        scope[PRINCIPAL] = name
        return digest
