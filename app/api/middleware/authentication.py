"""ASGI middleware before routing: authentication.

It reads the credential of a request. `app.services.access` decides whether that is valid: an expired key is not.
"""

import base64
import hashlib
import re
from contextlib import suppress
from typing import Final

from cachetools import TTLCache
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.middleware.concurrency_limit import SLOT
from app.api.middleware.rate_limit import RateLimit
from app.api.middleware.request_log import PRINCIPAL, RATE_HEADERS
from app.errors import ForbiddenError, NoCredentialError, RateLimitedError, SnapledgerError, UnauthenticatedError
from app.roles import Role
from app.services import access
from app.services.access import Credential, KeyDigest
from app.services.context import Services
from app.services.identity import token_principals
from app.services.identity.tokens import TokenVerifier, is_token

_REMEMBERED_KEYS: Final = 10_000
_REMEMBERED_SECONDS: Final = 1
_WHERE_KEYS_CHANGE: Final = ("/v1/principals", "/v1/me")

_GUARDED: Final = ("/v1/", "/figures/", "/collections/")
_OF_FIGURES: Final = re.compile(
    r"/(figures|collections)/.*|/v1/(figures(\.atom|/reader)?|datasets/[^/]+/figures(/.*)?|collections(/[^/]+)?)"
).fullmatch
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})  # office programs send OPTIONS before they read
_BASIC: Final = b'Basic realm="figures", charset="UTF-8"'
_ONLY_FIGURES: Final = "Viewers see figures and collections of them, and nothing else: list them with GET /v1/figures."
_OF_SIGN_ON: Final = re.compile(r"/v1/sign-on|/sign-on/.*").fullmatch

CREDENTIAL: Final = "snapledger.credential"
"""The caller's credential in the scope; None if it asks for public figures without a key."""

ANONYMOUS: Final = "(no key)"
"""How the log and the rate limit name callers without a key, with their address."""


def _has_header(scope: Scope, wanted: bytes) -> bool:
    return any(name == wanted for name, _ in scope["headers"])


def read_bearer(scope: Scope) -> bytes:
    """Return the key or the token from the request's Authorization header.

    Raises:
        NoCredentialError: there is none, or more than one.
    """
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, bearer = (values[0] if len(values) == 1 else b"").partition(b" ")
    if scheme.lower() != b"bearer" or not bearer:
        raise NoCredentialError
    return bytes(bearer.strip())


def _read_basic(scope: Scope) -> bytes | None:
    """Return the password of HTTP Basic authentication, which is a key; None if the request has another header."""
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, encoded = (values[0] if len(values) == 1 else b"").partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        return base64.b64decode(encoded.strip(), validate=True).partition(b":")[2]
    except ValueError:
        raise UnauthenticatedError from None


def _offer_basic(scope: Scope, send: Send) -> Send:
    """Return a `send` that offers HTTP Basic with a 401, so that a browser or a spreadsheet asks for the key.

    A request with a bearer is another program's, and gets no such offer: a browser would interrupt a page with it.
    """
    if any(name == b"authorization" and not value.lower().startswith(b"basic") for name, value in scope["headers"]):
        return send

    async def offering(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 401:
            message["headers"] = [*message["headers"], (b"www-authenticate", _BASIC)]
        await send(message)

    return offering


def read_key(scope: Scope) -> KeyDigest:
    """Return the SHA-256 of the key from the request's Authorization header.

    Raises:
        NoCredentialError: there is none, or more than one.
    """
    return _digest(read_bearer(scope))


def _anonymous(scope: Scope) -> str:
    return f"{ANONYMOUS} {(scope['client'] or ('',))[0]}"


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
        self._seen: TTLCache[KeyDigest, tuple[Credential, str, Role]] = TTLCache(_REMEMBERED_KEYS, _REMEMBERED_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if its path is public or not under `/v1`, or if it has a valid key or token.

        Figures are read without a key too, if they are public; a viewer reads nothing else. Whoever signs on has no
        key yet, and makes the service ask the provider, so these requests are counted by address.
        """
        if scope["type"] == "http" and _OF_SIGN_ON(scope["path"]) is not None:
            await self._pass_counted(scope, receive, send)
            return
        if scope["type"] != "http" or not scope["path"].startswith(_GUARDED):
            await self._app(scope, receive, send)
            return
        reads_figures = scope["method"] in _READING and _OF_FIGURES(scope["path"]) is not None
        if reads_figures:
            send = _offer_basic(scope, send)
        try:
            role: Role | None = None
            if reads_figures and not _has_header(scope, b"authorization"):
                scope[CREDENTIAL], scope[PRINCIPAL] = None, _anonymous(scope)
            else:
                scope[CREDENTIAL], scope[PRINCIPAL], role = await self._identify(scope, basic=reads_figures)
            scope[SLOT].assign_to(scope[PRINCIPAL])
            scope[RATE_HEADERS], wait_seconds = await self._rate.count(scope[PRINCIPAL])
            if wait_seconds is not None:
                raise RateLimitedError(wait_seconds)
            if role == Role.VIEWER and not reads_figures:
                raise ForbiddenError(_ONLY_FIGURES)
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

    async def _pass_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[RATE_HEADERS], wait_seconds = await self._rate.count(_anonymous(scope))
        refused = None if wait_seconds is None else problems.render_error(RateLimitedError(wait_seconds))
        await (refused or self._app)(scope, receive, send)

    async def _identify(self, scope: Scope, *, basic: bool) -> tuple[Credential, str, Role]:
        """Return the caller's credential, and the principal's name and role; `basic` accepts a key as a password."""
        bearer = (_read_basic(scope) if basic else None) or read_bearer(scope)
        shown = _digest(bearer)
        with suppress(KeyError):
            return self._seen[shown]
        services: Services = scope["app"].state.services
        found: tuple[Credential, str, Role]
        if self._tokens is not None and is_token(bearer):
            claimed = await self._tokens.verify(bearer)
            name = await run_in_threadpool(token_principals.enter_with_token, services, claimed)
            found = claimed.identity, name, Role(claimed.identity.role)
        else:
            principal = await run_in_threadpool(access.authenticate, services.database, shown)
            found = shown, principal.name, Role(principal.role)
        self._seen[shown] = found
        return found
