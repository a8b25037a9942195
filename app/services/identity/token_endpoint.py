"""The identity provider's endpoints for tokens (RFC 6749, RFC 7009), as the dashboard's client calls them."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpx
import structlog

from app.config import Settings
from app.errors import ProviderAwayError, UnauthenticatedError
from app.services.identity import provider_requests

_MAX_AT_ONCE: Final = 32
_ERROR_CODE: Final = re.compile(r"[!#-\[\]-~]{1,64}")

log = structlog.stdlib.get_logger("snapledger.sign_on")


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """What the provider gives: an access token, how many seconds it lasts if known, and perhaps two other tokens."""

    access: str = field(repr=False)
    expires_in: int | None
    refresh: str | None = field(repr=False)
    identity: str | None = field(repr=False)


def _read_tokens(document: Mapping[str, Any]) -> TokenAnswer:
    access, kind, seconds = (document.get(name) for name in ("access_token", "token_type", "expires_in"))
    if not (isinstance(access, str) and access.isascii() and isinstance(kind, str) and kind.lower() == "bearer"):
        raise ValueError("the identity provider's answer has no bearer token")
    seconds = int(seconds) if isinstance(seconds, int | float) and 0 < seconds < 10**9 else None
    others = (document.get(name) for name in ("refresh_token", "id_token"))
    refresh, identity = (each if isinstance(each, str) and each.isascii() and each else None for each in others)
    return TokenAnswer(access, seconds, refresh, identity)


def _error_code(document: Mapping[str, Any]) -> str:
    """Return the provider's word for why it refuses, if it is a word: it is logged."""
    code = document.get("error")
    return code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else "none"


class TokenEndpoint:
    """Calls the provider. Its configuration is cached as long as its keys are; at most 32 calls run at once.

    Every method raises ProviderAwayError if the provider cannot be reached, or if its answer is not valid.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._room = settings, asyncio.Semaphore(_MAX_AT_ONCE)
        self._metadata: Mapping[str, Any] = {}
        self._fetched_at = float("-inf")

    async def find_metadata(self) -> Mapping[str, Any]:
        """Return the provider's configuration."""
        if time.monotonic() - self._fetched_at > self._settings.oidc_keys_seconds:
            async with self._calling() as client:
                self._metadata = await provider_requests.fetch_metadata(client, str(self._settings.oidc_issuer))
                self._fetched_at = time.monotonic()
        return self._metadata

    async def find_url(self, name: str) -> str | None:
        """Return the URL of an endpoint, or None if the provider has no such endpoint."""
        metadata = await self.find_metadata()
        if name not in metadata:
            return None
        try:
            return provider_requests.read_url(metadata, name)
        except ValueError as error:
            _warn(error)
            raise ProviderAwayError from None

    async def request(self, grant_type: str, **form: str) -> TokenAnswer:
        """Exchange a code or a refresh token for tokens.

        Raises:
            UnauthenticatedError: the code or the refresh token is not valid, or no longer.
        """
        resource = {"resource": self._settings.oidc_resource} if self._settings.oidc_resource else {}
        status, document = await self._post("token_endpoint", {"grant_type": grant_type, **form, **resource})
        if status == httpx.codes.OK:
            try:
                return _read_tokens(document)
            except ValueError as error:
                _warn(error)
                raise ProviderAwayError from None
        code = _error_code(document)
        log.warning("the identity provider gave no token", grant=grant_type, status=status, why=code)
        if code == "invalid_grant":
            raise UnauthenticatedError
        raise ProviderAwayError

    async def revoke(self, refresh: str) -> None:
        """Revoke a refresh token, if the provider can do that."""
        if await self.find_url("revocation_endpoint") is not None:
            await self._post("revocation_endpoint", {"token": refresh, "token_type_hint": "refresh_token"})

    async def _post(self, endpoint: str, form: dict[str, str]) -> tuple[int, Mapping[str, Any]]:
        metadata = await self.find_metadata()
        client_id, secret = str(self._settings.oidc_client_id), self._settings.oidc_client_secret
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = None
        if secret is not None and isinstance(methods, list) and "client_secret_basic" in methods:
            basic = quote(client_id, safe=""), quote(secret.get_secret_value(), safe="")  # RFC 6749, section 2.3.1
        else:
            form |= {"client_id": client_id} | ({"client_secret": secret.get_secret_value()} if secret else {})
        async with self._calling() as client:
            url = provider_requests.read_url(metadata, endpoint)
            return await provider_requests.post_form(client, url, form, basic)

    @asynccontextmanager
    async def _calling(self) -> AsyncIterator[httpx.AsyncClient]:
        """Yield a client, if there is room for one more call."""
        if self._room.locked():
            raise ProviderAwayError
        try:
            limit = asyncio.timeout(2 * provider_requests.TIMEOUT_SECONDS)
            async with self._room, limit, provider_requests.open_client() as client:
                yield client
        except provider_requests.FAILURES as error:
            _warn(error)
            raise ProviderAwayError from None


def _warn(error: Exception) -> None:
    """Log the kind of failure and never its text, which may have parts of an answer."""
    log.warning("the identity provider could not be asked", why=type(error).__name__)
