"""The identity provider's public keys, fetched when needed and cached for a while.

Nothing here blocks a thread, so requests with the service's own keys continue while the provider does not answer. Each
process asks the provider at most once in `refetch_seconds`, however many tokens with unknown keys arrive.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError

from app import metrics
from app.errors import ProviderAwayError, UnauthenticatedError
from app.services.identity import provider_requests

_MAX_WAITING: Final = 64
_USABLE_SECONDS: Final = 3_600  # how long cached keys are trusted if fetching fails
_MIN_RSA_BITS: Final = 2_048
_KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}

log = structlog.stdlib.get_logger("snapledger.tokens")

Fetch = Callable[[], Awaitable[Mapping[str, Any]]]


async def fetch_key_set(issuer: str, jwks_url: str | None) -> Mapping[str, Any]:
    """Fetch the provider's key set from `jwks_url`, or from the URL in the provider's configuration if it is None.

    Raises:
        ValueError, TypeError, httpx.HTTPError: the request failed or the response is not valid.
    """
    async with provider_requests.open_client() as client:
        if jwks_url is None:
            jwks_url = provider_requests.read_url(await provider_requests.fetch_metadata(client, issuer), "jwks_uri")
        return await provider_requests.fetch_json(client, jwks_url)


def select_usable_keys(document: Mapping[str, Any], algorithms: tuple[str, ...]) -> dict[tuple[str | None, str], PyJWK]:
    """Return the keys of a set that can verify signatures, by key id and algorithm.

    Keys with another use, with a type that does not fit the algorithm, or with too few bits are left out.
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
                continue  # such as an elliptic curve of another algorithm
            if not isinstance(key.key, RSAPublicKey) or key.key.key_size >= _MIN_RSA_BITS:
                kid = data.get("kid")
                found.setdefault((kid if isinstance(kid, str) else None, algorithm), key)
    return found


class SigningKeys:
    """The cached keys that verify signatures.

    Args:
        fetch: returns the provider's key set or raises an error.
        algorithms: the accepted algorithms.
        keys_seconds: the age at which the keys are fetched again.
        refetch_seconds: the minimum time between two attempts.
        clock: returns the time in seconds; tests replace it.
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
        """Return the key with an id. For a token without a key id, the set must have exactly one key of the algorithm.

        Raises:
            UnauthenticatedError: the keys that were fetched last contain no such key.
            ProviderAwayError: the keys are needed but cannot be fetched now.
        """
        key = self._find_known(kid, algorithm)
        if key is not None:
            if self._age() > self._keys_seconds:
                self._start()  # nobody waits for it
            return key
        if (running := self._start()) is not None:
            await self._wait(running)
        if (key := self._find_known(kid, algorithm)) is not None:
            return key
        raise ProviderAwayError if self._fetched_at < self._tried_at else UnauthenticatedError

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _find_known(self, kid: str | None, algorithm: str) -> PyJWK | None:
        if self._age() > _USABLE_SECONDS:
            return None
        if kid is not None:
            return self._keys.get((kid, algorithm))
        candidates = [key for (_, of), key in self._keys.items() if of == algorithm]
        return candidates[0] if len(candidates) == 1 else None

    def _start(self) -> asyncio.Task[None] | None:
        """Return the running attempt to fetch the keys, start one if it is time, or return None."""
        if self._running is None and self._clock() - self._tried_at >= self._refetch_seconds:
            self._tried_at = self._clock()
            self._running = asyncio.get_running_loop().create_task(self._try())
        return self._running

    async def _wait(self, running: asyncio.Task[None]) -> None:
        if self._waiting >= _MAX_WAITING:
            raise ProviderAwayError
        self._waiting += 1
        try:
            await asyncio.shield(running)  # a disconnected client does not cancel it for others
        finally:
            self._waiting -= 1

    async def _try(self) -> None:
        try:
            async with asyncio.timeout(2 * provider_requests.TIMEOUT_SECONDS):
                keys = select_usable_keys(await self._fetch(), self._algorithms)
        except provider_requests.FAILURES as error:
            metrics.KEY_FETCHES.labels("failed").inc()
            log.warning("the identity provider's keys could not be fetched", why=type(error).__name__)
        else:
            metrics.KEY_FETCHES.labels("done").inc()
            self._keys, self._fetched_at = keys, self._clock()
        finally:
            self._running = None
