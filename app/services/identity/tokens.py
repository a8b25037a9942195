"""Verifies bearer tokens of an OpenID Connect provider and reads the subject and the role from them.

A token cannot choose how it is verified: the algorithm must be one from the settings, and the key must be one that the
provider publishes for this algorithm. A token is never stored, logged or repeated.
"""

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, NoReturn

import jwt

from app.config import Settings
from app.db.repositories.credentials import Identity
from app.errors import UnauthenticatedError
from app.services.identity.signing_keys import SigningKeys, fetch_key_set
from app.services.identity.token_kinds import is_id_token
from app.services.names import is_name

_MAX_BYTES: Final = 2**14
_SHAPE: Final = re.compile(rb"eyJ[0-9A-Za-z_-]*\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*")
_TYPES: Final = {"jwt", "at+jwt", "application/at+jwt"}
_REQUIRED: Final = ["exp", "iat", "iss", "aud", "sub"]
_MAX_SUBJECT_LENGTH: Final = 255
_DIGEST_DIGITS: Final = 20
_MAX_READABLE_LENGTH: Final = 63 - 1 - _DIGEST_DIGITS
_DIGESTED: Final = re.compile(rf".+-[0-9a-f]{{{_DIGEST_DIGITS}}}")
NO_ROLE: Final = (
    "The token is valid, but it gives no role here: the operator maps claims to roles with SNAPLEDGER_OIDC_ROLE_MAP."
)
IDENTITY_ONLY: Final = "This is an ID token, which only says who signed in: send the access token."
NO_NAME: Final = "The token is valid, but none of its claims can name a principal here."


def is_token(bearer: bytes) -> bool:
    """Whether the text has the form of a token. The service's own keys never have it."""
    return _SHAPE.fullmatch(bearer) is not None


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The identity in a verified token, and the name for a principal that is created from it."""

    identity: Identity
    name: str


def _raise_unauthenticated(*_: Any) -> NoReturn:  # noqa: ANN401 - json's hook
    raise ValueError("no JSON")


def _parse_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _raise_unauthenticated()


def _parse_object(part: bytes) -> dict[str, Any]:
    """Parse a part of a token. Duplicate members are rejected, because another parser might use the other value.

    Raises:
        ValueError: it is not a JSON object in base64url.
    """
    raw = base64.b64decode(part + b"=" * (-len(part) % 4), altchars=b"-_", validate=True)
    decoded = json.loads(raw.decode(), object_pairs_hook=_parse_members, parse_constant=_raise_unauthenticated)
    return decoded if isinstance(decoded, dict) else _raise_unauthenticated()


def _find_claim(claims: dict[str, Any], path: str) -> Any:  # noqa: ANN401 - JSON is any value
    """Find a claim by its path: a URI is one name, any other path leads through nested objects, separated by dots.

    Only the setting decides which it is. So a token with a literal claim `realm_access.roles` gets no more roles from
    it.
    """
    if "://" in path:
        return claims.get(path)
    found: Any = claims
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _principal_name(claim: object) -> str:
    """Return a principal's name for a claim. Different claims give different names.

    A claim that is a valid name, such as ada, is used unchanged. From any other claim the readable part is followed by
    a digest of the whole claim: ada@example.org becomes ada-example-org-b2ef…. A claim that already looks like a name
    with a digest gets a digest too.
    """
    text = claim if isinstance(claim, str) else ""
    if is_name(text) and not _DIGESTED.fullmatch(text):
        return text
    readable = re.sub("[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:_MAX_READABLE_LENGTH].rstrip("-_")
    if not readable:
        raise UnauthenticatedError(NO_NAME)
    return f"{readable}-{sha256(text.encode(errors='surrogatepass')).hexdigest()[:_DIGEST_DIGITS]}"


class TokenVerifier:
    """Verifies tokens with the settings and the provider's keys."""

    def __init__(self, settings: Settings, keys: SigningKeys) -> None:
        self._settings, self._keys = settings, keys

    async def verify(self, token: bytes) -> TokenClaims:
        """Verify a token and return its identity with the role.

        Raises:
            UnauthenticatedError: the token is not from the provider for this service, not valid now, or gives no role.
            ProviderAwayError: the provider's keys are needed but cannot be fetched now.
        """
        claims = await self._verify(token, self._settings.oidc_audience)
        clients = {self._settings.oidc_client_id, self._settings.oidc_device_client_id}
        if is_id_token(_parse_object(token.split(b".")[0]), claims, clients):
            raise UnauthenticatedError(IDENTITY_ONLY)
        return self._read_identity(claims)

    async def verify_id_token(self, token: bytes, client_id: str, nonce: str | None) -> str:
        """Verify the ID token of a sign-on with its nonce, or of a renewal, which has none. Return its subject.

        Raises:
            UnauthenticatedError: the token is not the provider's for this client and this sign-on.
            ProviderAwayError: the provider's keys are needed but cannot be fetched now.
        """
        claims = await self._verify(token, [client_id])
        of_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if of_others else client_id) != client_id:
            raise UnauthenticatedError
        found = claims.get("nonce")
        if nonce is not None and not (
            isinstance(found, str) and compare_digest(found.encode(errors="surrogatepass"), nonce.encode())
        ):
            raise UnauthenticatedError
        return str(claims["sub"])

    async def _verify(self, token: bytes, audience: Iterable[str]) -> dict[str, Any]:
        """Return the claims of a token that the provider has signed for one of these audiences, and that is valid now.

        Raises:
            UnauthenticatedError, ProviderAwayError: as in `verify`.
        """
        if len(token) > _MAX_BYTES:
            raise UnauthenticatedError
        try:
            head, body, _ = token.split(b".")
            header = _parse_object(head)
            _parse_object(body)  # checks the form only; the claims count after the signature is verified
            kid, algorithm = self._from_header(header)
        except (ValueError, RecursionError):
            raise UnauthenticatedError from None
        return self._read_claims(token, await self._keys.find(kid, algorithm), algorithm, audience)

    def _from_header(self, header: dict[str, Any]) -> tuple[str | None, str]:
        kid, algorithm, kind = header.get("kid"), header.get("alg"), header.get("typ", "JWT")
        if (
            algorithm not in self._settings.oidc_algorithms
            or not (kid is None or isinstance(kid, str))
            or not (isinstance(kind, str) and kind.lower() in _TYPES)
            or "crit" in header
        ):
            _raise_unauthenticated()
        return kid, str(algorithm)

    def _read_claims(self, token: bytes, key: jwt.PyJWK, algorithm: str, audience: Iterable[str]) -> dict[str, Any]:
        settings = self._settings
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=audience,
                issuer=settings.oidc_issuer,
                leeway=settings.oidc_leeway_seconds,
                options={"require": _REQUIRED},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise UnauthenticatedError from None
        subject = claims["sub"]
        if not (isinstance(subject, str) and 1 <= len(subject) <= _MAX_SUBJECT_LENGTH and subject.isprintable()):
            raise UnauthenticatedError
        return claims

    def _read_identity(self, claims: dict[str, Any]) -> TokenClaims:
        settings, subject = self._settings, claims["sub"]
        told = _find_claim(claims, settings.oidc_roles_claim)
        held = told if isinstance(told, list) else [told]
        role = next((role for value, role in settings.oidc_role_map if value in held), None)
        if role is None:
            raise UnauthenticatedError(NO_ROLE)
        identity = Identity(str(settings.oidc_issuer), subject, role)
        return TokenClaims(identity, _principal_name(_find_claim(claims, settings.oidc_name_claim)))


def make_token_verifier(settings: Settings) -> TokenVerifier | None:
    """Make a verifier of tokens, or return None if the settings name no provider."""
    if settings.oidc_issuer is None:
        return None
    fetch = partial(fetch_key_set, settings.oidc_issuer, settings.oidc_jwks_url)
    algorithms, seconds = settings.oidc_algorithms, settings.oidc_keys_seconds
    return TokenVerifier(settings, SigningKeys(fetch, algorithms, seconds, settings.oidc_refetch_seconds))
