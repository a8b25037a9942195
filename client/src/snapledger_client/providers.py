"""What a service and its OpenID Connect provider say of themselves, and the tokens of a session. No network access."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import httpx

from snapledger_client.problems import SignInError

_EARLY_SECONDS = 60
_EARLY_PART = 0.25
_SERVER_ERROR = 500
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def is_private_url(url: object) -> bool:
    """Return whether nobody on the network can read or change what is exchanged: it is HTTPS, or on this machine."""
    try:
        parsed = httpx.URL(url) if isinstance(url, str) else httpx.URL()
    except httpx.InvalidURL:
        return False
    is_local = parsed.scheme == "http" and parsed.host in {"localhost", "127.0.0.1", "::1"}
    return bool(parsed.host) and not parsed.userinfo and (is_local or parsed.scheme == "https")


def read_object(answer: httpx.Response, what: str) -> Mapping[str, Any]:
    """Return the JSON object in an answer.

    Raises:
        SignInError: it is none.
    """
    try:
        document = answer.json()
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise SignInError(f"The answer of {what} is not as expected (HTTP status {answer.status_code}).")
    return document


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider's endpoints, and the client that people's programs are there."""

    issuer: str
    client_id: str
    scopes: str
    resource: str | None
    token_endpoint: str
    device_endpoint: str
    revocation_endpoint: str | None

    @classmethod
    def parse(cls, told: Mapping[str, Any], configuration: Mapping[str, Any]) -> Self:
        """Return the provider of a service that told this of it, with its own configuration.

        Raises:
            SignInError: it is another issuer's configuration, or has no endpoints for the device flow.
        """
        issuer, resource = str(told["issuer"]), told.get("resource")
        if configuration.get("issuer") != issuer:
            raise SignInError(f"The configuration of the provider {issuer} names another issuer.")
        names = ("token_endpoint", "device_authorization_endpoint", "revocation_endpoint")
        token, device, revocation = (configuration.get(name) for name in names)
        if not (is_private_url(token) and is_private_url(device)):
            raise SignInError(f"The provider {issuer} does not let programs sign people in (RFC 8628): use a key.")
        revoke = str(revocation) if is_private_url(revocation) else None
        scopes = " ".join(map(str, told["scopes"]))
        return cls(issuer, str(told["client_id"]), scopes, resource, str(token), str(device), revoke)

    @property
    def form(self) -> dict[str, str]:
        """What each request for tokens has."""
        return {"client_id": self.client_id} | ({"resource": self.resource} if self.resource else {})


def find_issuer(document: Mapping[str, Any], url: str) -> Mapping[str, Any]:
    """Return what a service says of its provider, which programs can use.

    Raises:
        SignInError: the service has no such provider.
    """
    told = document.get("provider")
    if not isinstance(told, dict) or not told.get("client_id"):
        raise SignInError(f"The service at {url} does not let programs sign people in: use a key.")
    if not is_private_url(told.get("issuer")) or not isinstance(told.get("scopes"), list):
        raise SignInError(f"The service at {url} names a provider whose URL is not https://.")
    return told


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a session: their text form does not show them. `expires_at` and `renew_at` are seconds of 1970."""

    access: str = field(repr=False)
    refresh: str | None = field(repr=False)
    expires_at: float
    renew_at: float

    @classmethod
    def parse(cls, document: Mapping[str, Any], earlier: "Tokens | None" = None) -> Self:
        """Return the tokens in a provider's answer; a renewal may keep the refresh token.

        Raises:
            SignInError: there are none.
        """
        access, kind, seconds = (document.get(name) for name in ("access_token", "token_type", "expires_in"))
        if not (
            isinstance(access, str) and access.isascii() and access.isprintable() and str(kind).lower() == "bearer"
        ):
            raise SignInError("The provider's answer has no bearer token.")
        now = time.time()
        lasts = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else float("inf")
        refresh = document.get("refresh_token") or (earlier.refresh if earlier else None)
        early = min(_EARLY_SECONDS, lasts * _EARLY_PART)
        return cls(access, refresh if isinstance(refresh, str) else None, now + lasts, now + lasts - early)

    @property
    def is_fresh(self) -> bool:
        """Whether the access token can be used and need not be renewed yet."""
        return time.time() < self.renew_at

    @property
    def is_valid(self) -> bool:
        """Whether the access token has not expired yet."""
        return time.time() < self.expires_at

    def stale(self) -> Self:
        """Return these tokens as they are when the service has refused the access token."""
        return replace(self, expires_at=0.0, renew_at=0.0)


@dataclass(frozen=True, slots=True)
class Session:
    """A provider and the tokens of somebody who signed in there."""

    provider: Provider
    tokens: Tokens

    def to_document(self) -> dict[str, Any]:
        """Return the session as JSON; `from_document` reads it."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the session of a JSON document."""
        return cls(Provider(**document["provider"]), Tokens(**document["tokens"]))


def read_tokens(answer: httpx.Response, earlier: Tokens | None = None) -> Tokens | str:
    """Return the tokens in an answer, or the error of RFC 6749 and RFC 8628, such as `slow_down`.

    An error of the provider itself is an empty text: the same request may succeed later.
    """
    if answer.status_code >= _SERVER_ERROR or answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return ""
    document = read_object(answer, "the provider")
    if answer.status_code == httpx.codes.OK:
        return Tokens.parse(document, earlier)
    code = document.get("error")
    return code if isinstance(code, str) and code.isprintable() and code else "an unknown error"
