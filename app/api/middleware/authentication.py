"""What happens before a call is routed, as pure ASGI: the fault barrier, and who calls."""

import hashlib
from typing import Final

from cachetools import TTLCache
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.middleware.concurrency_limit import SLOT
from app.api.middleware.rate_limit import RateLimit
from app.api.middleware.request_log import PRINCIPAL
from app.errors import SnapledgerError, UnauthenticatedError
from app.services import access
from app.services.access import Credential, KeyDigest
from app.services.context import Services
from app.services.identity import token_principals
from app.services.identity.tokens import TokenVerifier, is_token

_REMEMBERED_KEYS: Final = 10_000
_REMEMBERED_SECONDS: Final = 1
_WHERE_KEYS_CHANGE: Final = ("/v1/principals", "/v1/me")

CREDENTIAL: Final = "snapledger.credential"


class ErrorBarrier:
    """A defect becomes a 500 without its text, here and in the log."""

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
            response = problems.render_internal_error(error)
            if not started:
                await response(scope, receive, send)


def read_bearer(scope: Scope) -> bytes:
    """The key or the token that a call brings.

    Raises:
        UnauthenticatedError: it brings none, or several.
    """
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, bearer = (values[0] if len(values) == 1 else b"").partition(b" ")
    if scheme.lower() != b"bearer" or not bearer:
        raise UnauthenticatedError
    return bytes(bearer.strip())


def read_key(scope: Scope) -> KeyDigest:
    """The key that a call brings, by its SHA-256.

    Raises:
        UnauthenticatedError: it brings none, or several.
    """
    return _digest(read_bearer(scope))


def _digest(bearer: bytes) -> KeyDigest:
    return KeyDigest(hashlib.sha256(bearer).digest())


class AuthenticationGate:
    """Refuses a call without a key or a token in force before its body is read.

    For a second after one was found to be in force it is let through from memory, which is emptied when a key changes
    in this process. Whether it still is in force is decided again in the call's own transaction: what another process
    took away costs one read of a bounded body, never access.

    Args:
        rate: counts the calls of each principal.
        tokens: verifies tokens; None where only keys are taken.
    """

    def __init__(self, app: ASGIApp, rate: RateLimit, tokens: TokenVerifier | None) -> None:
        self._app = app
        self._rate = rate
        self._tokens = tokens
        self._seen: TTLCache[KeyDigest, tuple[Credential, str]] = TTLCache(_REMEMBERED_KEYS, _REMEMBERED_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a call to `/v1` through if it brings a key or a token."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        try:
            scope[CREDENTIAL], scope[PRINCIPAL] = await self._recognised(scope)
            scope[SLOT].assign_to(scope[PRINCIPAL])
            await self._rate.count(scope[PRINCIPAL])
        except SnapledgerError as error:
            await problems.render_error(error)(scope, receive, send)
            return
        if scope["method"] in {"GET", "HEAD"} or not scope["path"].startswith(_WHERE_KEYS_CHANGE):
            await self._app(scope, receive, send)
            return

        async def forgetting(message: Message) -> None:
            self._seen.clear()
            await send(message)

        await self._app(scope, receive, forgetting)

    async def _recognised(self, scope: Scope) -> tuple[Credential, str]:
        """By what the caller is known, and its name."""
        bearer = read_bearer(scope)
        shown = _digest(bearer)
        found = self._seen.get(shown)
        if found is None:
            services: Services = scope["app"].state.services
            if self._tokens is not None and is_token(bearer):
                claimed = await self._tokens.verify(bearer)
                found = claimed.identity, await run_in_threadpool(token_principals.enter_with_token, services, claimed)
            else:
                found = shown, (await run_in_threadpool(access.authenticate, services.database, shown)).name
            self._seen[shown] = found
        return found
