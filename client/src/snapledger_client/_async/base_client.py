"""Sends calls to the service, repeats them after failures, and reads lists page by page."""

import asyncio
from typing import Any, Self, TypeVar

import httpx

from snapledger_client import connection
from snapledger_client._async.account import AsyncAccount
from snapledger_client._async.listing import AsyncListing
from snapledger_client.calls import Call, Pages, read_response
from snapledger_client.models.base import Answer
from snapledger_client.problems import SnapledgerError
from snapledger_client.retries import RetryPolicy, make_unreachable

T = TypeVar("T")
A = TypeVar("A", bound=Answer)


class AsyncBaseClient:
    """The connections to a service, with one principal's key."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 60,
        retries: int = 6,
        backoff: float = 0.2,
        rehearse: bool = False,
        anonymous: bool = False,
    ) -> None:
        self._http = httpx.AsyncClient(**connection.make_client_options(url, key, timeout, anonymous=anonymous))
        self._timeout, self._retry_policy = timeout, RetryPolicy(retries, backoff)
        self._rehearses = rehearse
        self._account: AsyncAccount | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections.

        Examples:
            >>> another = AsyncClient()
            >>> await another.close()
        """
        await self._http.aclose()

    async def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.RequestError
            try:
                outcome = await self._request(call)
            except httpx.RequestError as error:
                outcome = error
            pause = self._retry_policy.find_pause(call, attempt, outcome)
            if pause is None:
                break
            await asyncio.sleep(pause)
            attempt += 1
        if isinstance(outcome, httpx.RequestError):
            raise make_unreachable(call, outcome) from outcome
        return read_response(call, outcome)

    async def _request(self, call: Call[Any]) -> httpx.Response:
        """Send a call once; but again with a new token if the service refuses a token, which has no effect."""
        options = connection.make_request_options(call, self._timeout)
        if self._account is None:
            return await self._http.request(**options)
        try:
            token = await self._account.find_token()
            answer = await self._http.request(**connection.with_token(options, token))
            if answer.status_code != httpx.codes.UNAUTHORIZED or not call.can_be_sent_again:
                return answer
            token = await self._account.find_token(refused=token)
        except SnapledgerError as error:
            error.idempotency_key = call.key
            raise
        return await self._http.request(**connection.with_token(options, token))

    def _list(self, pages: Pages[A], name: str) -> AsyncListing[A]:
        return AsyncListing(self._send, pages, name)
