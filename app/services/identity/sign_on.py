"""Signs people on in the dashboard: OpenID Connect's authorization code flow with PKCE (S256), a state and a nonce.

The service is the provider's client and stores nothing. What an attempt and a session need is in encrypted cookies: the
refresh token never reaches a script, and the page gets short-lived access tokens
(docs/decisions/0041-sign-on.md).
"""

import asyncio
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from cachetools import TTLCache

from app.config import Settings
from app.errors import ProviderAwayError, UnauthenticatedError
from app.services.identity.token_endpoint import TokenAnswer, TokenEndpoint
from app.services.identity.tokens import TokenVerifier

CALLBACK_PATH: Final = "/sign-on/callback"
_MAX_RENEWALS: Final = 1_000
_RENEWAL_SECONDS: Final = 30
_EARLY_SECONDS: Final = 5


class SignOnInterruptedError(Exception):
    """The provider's answer belongs to no attempt of this browser: it is old, replayed, or somebody else's."""


class SignOnDeniedError(Exception):
    """The provider, or the person there, refused."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a browser keeps while its user is at the provider."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Session:
    """What a browser keeps while its user is signed on. Without a refresh token, it ends with its access token."""

    subject: str
    refresh: str | None = field(repr=False)
    hint: str | None = field(repr=False)
    access: str | None = field(default=None, repr=False)
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Renewal:
    """An access token, how many seconds it lasts if known, and the session from now on."""

    session: Session
    access: str = field(repr=False)
    expires_in: int | None


class SignOn:
    """Signs people on with the provider of the settings.

    Args:
        settings: they have a client id and a public URL.
        verifier: verifies the provider's tokens.
    """

    def __init__(self, settings: Settings, verifier: TokenVerifier) -> None:
        self._settings, self._verifier = settings, verifier
        self._endpoint = TokenEndpoint(settings)
        self._redirect_uri = f"{settings.public_url}{CALLBACK_PATH}"
        self._renewals: TTLCache[bytes, asyncio.Task[Renewal]] = TTLCache(_MAX_RENEWALS, _RENEWAL_SECONDS)

    async def begin(self, *, another_account: bool) -> tuple[str, Attempt]:
        """Return the URL of the provider's page, and the attempt that its answer must belong to."""
        attempt = Attempt(*(secrets.token_urlsafe(32) for _ in range(3)))
        challenge = urlsafe_b64encode(sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": self._redirect_uri,
            "scope": self._settings.oidc_scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "resource": self._settings.oidc_resource,
            "prompt": "login" if another_account else None,
        }
        url = await self._endpoint.find_url("authorization_endpoint")
        if url is None:
            raise ProviderAwayError
        return _with_query(url, query), attempt

    async def finish(self, answered: list[tuple[str, str]], attempt: Attempt | None) -> Session:
        """Return the session that the provider's answer, the query of the callback, begins.

        Raises:
            SignOnInterruptedError: the answer does not belong to the attempt.
            SignOnDeniedError: the provider refused.
            UnauthenticatedError: the code or a token is not valid, or the token gives no access here.
            ProviderAwayError: the provider cannot be reached, or does not answer as it must.
        """
        answer = dict(answered)
        state = answer.get("state", "")
        if (
            attempt is None
            or len(answer) != len(answered)
            or not compare_digest(state.encode(), attempt.state.encode())
        ):
            raise SignOnInterruptedError
        await self._require_issuer(answer)
        if "code" not in answer:
            raise SignOnDeniedError
        tokens = await self._endpoint.request(
            "authorization_code",
            code=answer["code"],
            redirect_uri=self._redirect_uri,
            code_verifier=attempt.verifier,
        )
        if tokens.identity is None:
            raise UnauthenticatedError
        client_id = str(self._settings.oidc_client_id)
        subject = await self._verifier.verify_id_token(tokens.identity.encode(), client_id, attempt.nonce)
        await self._verifier.verify(tokens.access.encode())  # its subject may differ: Entra has one for each audience
        return _begin_session(tokens, subject, tokens.identity)

    async def _require_issuer(self, answer: Mapping[str, str]) -> None:
        """Refuse an answer of another provider (RFC 9207)."""
        metadata = await self._endpoint.find_metadata()
        is_named = metadata.get("authorization_response_iss_parameter_supported") is True
        if answer.get("iss", None if is_named else self._settings.oidc_issuer) != self._settings.oidc_issuer:
            raise SignOnInterruptedError

    async def renew(self, session: Session) -> Renewal:
        """Return a new access token, and the session with what the provider gave beside it.

        A provider takes the second use of a refresh token for theft. So calls with the same one share an answer for
        half a minute: two tabs, or a page that was reloaded before it had the answer.

        Raises:
            UnauthenticatedError: the session has ended.
            ProviderAwayError: the provider cannot be reached, or does not answer as it must.
        """
        if session.refresh is None:
            left = int((session.expires_at or time.time()) - time.time())
            if session.access is None or left < _EARLY_SECONDS:
                raise UnauthenticatedError
            return Renewal(session, session.access, left)
        shown = sha256(session.refresh.encode()).digest()
        running = self._renewals.get(shown)
        if running is None or (running.done() and (running.cancelled() or running.exception() is not None)):
            running = self._renewals[shown] = asyncio.create_task(self._renew(session, session.refresh))
        return await asyncio.shield(running)  # if one caller disconnects, the others still need it

    async def _renew(self, session: Session, refresh: str) -> Renewal:
        tokens = await self._endpoint.request("refresh_token", refresh_token=refresh)
        if tokens.identity is not None:
            client_id = str(self._settings.oidc_client_id)
            if await self._verifier.verify_id_token(tokens.identity.encode(), client_id, None) != session.subject:
                raise UnauthenticatedError
        renewed = Session(session.subject, tokens.refresh or refresh, tokens.identity or session.hint)
        return Renewal(renewed, tokens.access, tokens.expires_in)

    async def end(self, session: Session) -> str | None:
        """Revoke the session's refresh token. Return the URL of the provider's own sign-out, or None without one.

        Raises:
            ProviderAwayError: the provider cannot be reached.
        """
        if session.refresh is not None:
            await self._endpoint.revoke(await self._find_latest(session.refresh))
        url = await self._endpoint.find_url("end_session_endpoint")
        query = {
            "id_token_hint": session.hint,
            "client_id": self._settings.oidc_client_id,
            "post_logout_redirect_uri": f"{self._settings.public_url}/",
        }
        return None if url is None else _with_query(url, query)

    async def _find_latest(self, refresh: str) -> str:
        """Forget the renewal with a refresh token, if there is one; return what it gave, or the token itself."""
        running = self._renewals.pop(sha256(refresh.encode()).digest(), None)
        if running is not None:
            with suppress(UnauthenticatedError, ProviderAwayError):
                return (await asyncio.shield(running)).session.refresh or refresh
        return refresh


def _begin_session(tokens: TokenAnswer, subject: str, identity: str) -> Session:
    if tokens.refresh is not None:
        return Session(subject, tokens.refresh, identity)
    return Session(subject, None, None, tokens.access, time.time() + (tokens.expires_in or 0))


def _with_query(url: str, query: Mapping[str, Any]) -> str:
    given = urlencode({name: value for name, value in query.items() if value is not None})
    return f"{url}{'&' if urlsplit(url).query else '?'}{given}"


def make_sign_on(settings: Settings, verifier: TokenVerifier | None) -> SignOn | None:
    """Make what signs people on in the dashboard, or return None if the settings do not say how."""
    return None if settings.oidc_client_id is None or verifier is None else SignOn(settings, verifier)
