"""ASGI middleware before routing: the error barrier and authentication."""

import hashlib
from contextlib import suppress
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
    """Answers an unexpected exception with 500. Neither the response nor the log contains the exception's text."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and catch every exception."""
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
            return  # the client has disconnected, and nothing was changed
        except Exception as error:  # noqa: BLE001 - the barrier is for all of them
            response = problems.render_internal_error(error)
            if not started:
                await response(scope, receive, send)


def read_bearer(scope: Scope) -> bytes:
    """Return the key or the token from the request's Authorization header.

    Raises:
        UnauthenticatedError: there is none, or more than one.
    """
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, bearer = (values[0] if len(values) == 1 else b"").partition(b" ")
    if scheme.lower() != b"bearer" or not bearer:
        raise UnauthenticatedError
    return bytes(bearer.strip())


def read_key(scope: Scope) -> KeyDigest:
    """Return the SHA-256 of the key from the request's Authorization header.

    Raises:
        UnauthenticatedError: there is none, or more than one.
    """
    return _digest(read_bearer(scope))


def _digest(bearer: bytes) -> KeyDigest:
    return KeyDigest(hashlib.sha256(bearer).digest())


class AuthenticationGate:
    """Refuses a request without a valid key or token before its body is read.

    A valid credential is cached for one second; the cache is cleared when a key changes in this process. The request's
    own transaction checks the credential again. A key that another process has revoked can therefore make the service
    read one bounded body, but never gives access.

    Args:
        rate: counts the requests of each principal.
        tokens: verifies tokens; None if only keys are accepted.
    """

    def __init__(self, app: ASGIApp, rate: RateLimit, tokens: TokenVerifier | None) -> None:
        self._app = app
        self._rate = rate
        self._tokens = tokens
        self._seen: TTLCache[KeyDigest, tuple[Credential, str]] = TTLCache(_REMEMBERED_KEYS, _REMEMBERED_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if its path is not under `/v1`, or if it has a valid key or token."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        try:
            scope[CREDENTIAL], scope[PRINCIPAL] = await self._identify(scope)
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

    async def _identify(self, scope: Scope) -> tuple[Credential, str]:
        """Return the caller's credential and the principal's name."""
        bearer = read_bearer(scope)
        shown = _digest(bearer)
        with suppress(KeyError):
            return self._seen[shown]
        services: Services = scope["app"].state.services
        found: tuple[Credential, str]
        if self._tokens is not None and is_token(bearer):
            claimed = await self._tokens.verify(bearer)
            found = claimed.identity, await run_in_threadpool(token_principals.enter_with_token, services, claimed)
        else:
            found = shown, (await run_in_threadpool(access.authenticate, services.database, shown)).name
        self._seen[shown] = found
        return found
