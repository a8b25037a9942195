"""The public keys of the provider of tokens, fetched when they are needed and kept for a while.

Nothing here waits in a thread: calls with keys of our own go on while the provider is away. However many tokens with
unknown keys strangers send, the provider is asked once in `refetch_seconds` at most, by each process.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import httpx
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError

from app import metrics
from app.config import is_private_url
from app.errors import ProviderAwayError, UnauthenticatedError

_MOST_BYTES: Final = 2**20
_TIMEOUT_SECONDS: Final = 5
_MOST_WAITING: Final = 64
_USABLE_SECONDS: Final = 3_600  # how long keys are still trusted that cannot be fetched again
_SHORTEST_RSA_BITS: Final = 2_048
_KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}

log = structlog.stdlib.get_logger("snapledger.tokens")

Fetch = Callable[[], Awaitable[Mapping[str, Any]]]


async def _parse_json(client: httpx.AsyncClient, url: str) -> Mapping[str, Any]:
    async with client.stream("GET", url) as answer:
        answer.raise_for_status()
        content = b""
        async for chunk in answer.aiter_bytes():
            content += chunk
            if len(content) > _MOST_BYTES:
                raise ValueError("the identity provider's answer is too large")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise TypeError("the identity provider's answer is not a JSON object")
    return document


async def fetch_key_set(issuer: str, jwks_url: str | None) -> Mapping[str, Any]:
    """The provider's key set, from where its configuration says that it is, if that is not said.

    Raises:
        ValueError, TypeError, httpx.HTTPError: it does not answer as a provider does.
    """
    async with httpx.AsyncClient(timeout=_TIMEOUT_SECONDS, follow_redirects=False) as client:
        if jwks_url is None:
            document = await _parse_json(client, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            jwks_url = document.get("jwks_uri")
            if document.get("issuer") != issuer or not isinstance(jwks_url, str) or not is_private_url(jwks_url):
                raise ValueError("the identity provider's configuration names another issuer")
        return await _parse_json(client, jwks_url)


def select_usable_keys(document: Mapping[str, Any], algorithms: tuple[str, ...]) -> dict[tuple[str | None, str], PyJWK]:
    """The keys of a set that may check signatures, by their ids and by the one algorithm that each is used with.

    A key for other uses, of another type than its algorithm, or too short, is none.
    """
    found: dict[tuple[str | None, str], PyJWK] = {}
    keys = document.get("keys")
    for data in keys if isinstance(keys, list) else ():
        if not isinstance(data, dict) or data.get("use", "sig") != "sig":
            continue
        for algorithm in algorithms:
            if data.get("kty") != _KEY_TYPES[algorithm[:2]] or data.get("alg", algorithm) != algorithm:
                continue
            try:
                key = PyJWK(data, algorithm=algorithm)
            except (PyJWTError, ValueError, TypeError, KeyError):
                continue  # such as an elliptic curve that is another algorithm's
            if not isinstance(key.key, RSAPublicKey) or key.key.key_size >= _SHORTEST_RSA_BITS:
                kid = data.get("kid")
                found.setdefault((kid if isinstance(kid, str) else None, algorithm), key)
    return found


class SigningKeys:
    """What signatures are checked with.

    Args:
        fetch: gives the provider's key set, or raises.
        algorithms: those that are accepted.
        keys_seconds: after which the keys are fetched again.
        refetch_seconds: between two attempts, at least, whatever is asked for.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        fetch: Fetch,
        algorithms: tuple[str, ...],
        keys_seconds: float,
        refetch_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch, self._algorithms, self._clock = fetch, algorithms, clock
        self._keys_seconds, self._refetch_seconds = keys_seconds, refetch_seconds
        self._keys: dict[tuple[str | None, str], PyJWK] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._running: asyncio.Task[None] | None = None
        self._waiting = 0

    async def find(self, kid: str | None, algorithm: str) -> PyJWK:
        """The key of an id. A token without an id needs a set with one key of its algorithm.

        Raises:
            UnauthenticatedError: the provider has no such key, or it was asked for too short a time ago.
            ProviderAwayError: whether it has cannot be said now.
        """
        key = self._known(kid, algorithm)
        if key is not None:
            if self._age() > self._keys_seconds:
                self._start()  # nobody waits for it
            return key
        if (running := self._start()) is not None:
            await self._wait(running)
        if (key := self._known(kid, algorithm)) is not None:
            return key
        raise ProviderAwayError if self._fetched_at < self._tried_at else UnauthenticatedError

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _known(self, kid: str | None, algorithm: str) -> PyJWK | None:
        if self._age() > _USABLE_SECONDS:
            return None
        if kid is not None:
            return self._keys.get((kid, algorithm))
        candidates = [key for (_, of), key in self._keys.items() if of == algorithm]
        return candidates[0] if len(candidates) == 1 else None

    def _start(self) -> asyncio.Task[None] | None:
        """The attempt that is being made; None where none may be made yet."""
        if self._running is None and self._clock() - self._tried_at >= self._refetch_seconds:
            self._tried_at = self._clock()
            self._running = asyncio.get_running_loop().create_task(self._try())
        return self._running

    async def _wait(self, running: asyncio.Task[None]) -> None:
        if self._waiting >= _MOST_WAITING:
            raise ProviderAwayError
        self._waiting += 1
        try:
            await asyncio.shield(running)  # who hangs up does not end it for others
        finally:
            self._waiting -= 1

    async def _try(self) -> None:
        try:
            async with asyncio.timeout(2 * _TIMEOUT_SECONDS):
                keys = select_usable_keys(await self._fetch(), self._algorithms)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, TypeError, RecursionError) as error:
            metrics.KEY_FETCHES.labels("failed").inc()
            log.warning("the identity provider's keys could not be fetched", why=type(error).__name__)
        else:
            metrics.KEY_FETCHES.labels("done").inc()
            self._keys, self._fetched_at = keys, self._clock()
        finally:
            self._running = None
