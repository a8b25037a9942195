"""Somebody's session with the provider of a service: signing in, renewing tokens, signing out."""

import asyncio
from asyncio import Lock
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn, Self

import httpx

from snapledger_client import token_files
from snapledger_client.device_codes import DeviceCode, expired, next_interval
from snapledger_client.private_files import try_lock
from snapledger_client.problems import SignInError, Unreachable
from snapledger_client.providers import (
    DEVICE_GRANT,
    Provider,
    Session,
    Tokens,
    find_issuer,
    is_private_url,
    read_object,
    read_tokens,
)

_TIMEOUT = 10.0
_LOCK_PAUSE, _MAX_LOCK_PAUSES = 0.1, 300
ENDED = "Your session has ended: sign in again."


def _open() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, headers={"User-Agent": "snapledger-client"})


async def _fetch(url: str, what: str) -> Mapping[str, Any]:
    try:
        async with _open() as http:
            answer = await http.get(url)
    except httpx.RequestError as error:
        raise Unreachable(f"{what} was not reached: {type(error).__name__}") from error
    if answer.status_code != httpx.codes.OK:
        raise SignInError(f"{what} did not say how to sign in (HTTP status {answer.status_code}).")
    return read_object(answer, what)


async def find_provider(url: str) -> Provider:
    """Return the provider of a service."""
    if not is_private_url(url):
        raise SignInError("Sign in only to a service at an https:// URL: others can change what http:// answers.")
    told = find_issuer(await _fetch(f"{url}/v1/sign-on", f"The service at {url}"), url)
    issuer = str(told["issuer"])
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    return Provider.parse(told, await _fetch(address, f"The provider {issuer}"))


async def _post(url: str, form: Mapping[str, str]) -> httpx.Response | None:
    """Send a form, and return the answer, or None if the provider was not reached."""
    try:
        async with _open() as http:
            return await http.post(url, data=form, headers={"Accept": "application/json"})
    except httpx.RequestError:
        return None


async def enter_code(provider: Provider, show: Callable[[DeviceCode], object]) -> Tokens:
    """Show somebody a code, and wait until it is entered at the provider."""
    answer = await _post(provider.device_endpoint, provider.form | {"scope": provider.scopes})
    if answer is None:
        raise Unreachable(f"The provider {provider.issuer} was not reached.")
    if answer.status_code != httpx.codes.OK:
        next_interval(0, str(read_tokens(answer)) or f"HTTP status {answer.status_code}")
    code = DeviceCode.parse(read_object(answer, "the provider"))
    show(code)
    interval = code.interval
    while True:
        await asyncio.sleep(interval)
        if code.has_expired:
            raise expired()
        form = provider.form | {"grant_type": DEVICE_GRANT, "device_code": code.secret}
        answer = await _post(provider.token_endpoint, form)
        outcome = "" if answer is None else read_tokens(answer)
        if isinstance(outcome, Tokens):
            return outcome
        interval = next_interval(interval, outcome)


class AsyncAccount:
    """The session of somebody who signed in to a service. Tasks may share it."""

    def __init__(self, url: str, session: Session, path: Path | None) -> None:
        self._url, self._session, self._path = url, session, path
        self._lock, self._has_ended = Lock(), False

    @classmethod
    async def sign_in(cls, url: str, path: Path | None, show: Callable[[DeviceCode], object] | None) -> Self:
        """Return the stored session for a service if it goes on, or sign somebody in.

        Raises:
            SignInError: nobody signed in; `show` is None and no session is stored.
            Unreachable: the service or the provider did not answer.
        """
        stored = None if path is None else token_files.read_session(path, url)
        if stored is not None:
            account = cls(url, stored, path)
            try:
                await account.find_token()
            except SignInError:
                stored = None
            else:
                return account
        if show is None:
            raise SignInError(f"Nobody is signed in to {url}, or the session has ended: sign in again.")
        provider = await find_provider(url)
        account = cls(url, Session(provider, await enter_code(provider, show)), path)
        account._store()
        return account

    def _store(self) -> None:
        if self._path is not None:
            token_files.write_session(self._path, self._url, None if self._has_ended else self._session)

    async def find_token(self, refused: str | None = None) -> str:
        """Return an access token, renewed if it is about to expire, or if it is the one that the service refused.

        Raises:
            SignInError: the session has ended.
            Unreachable: the provider did not answer, and the token has expired.
        """
        async with self._lock:
            if self._has_ended:
                raise SignInError(ENDED)
            if self._session.tokens.access == refused:
                self._session = Session(self._session.provider, self._session.tokens.stale())
            if not self._session.tokens.is_fresh:
                await self._renew_once()
            return self._session.tokens.access

    async def _renew_once(self) -> None:
        """Renew the tokens, unless another process has just done so: a refresh token can be used once."""
        if self._path is None:
            await self._renew()
            return
        for _ in range(_MAX_LOCK_PAUSES):
            with ExitStack() as until_renewed:
                if until_renewed.enter_context(try_lock(self._path)):
                    stored = token_files.read_session(self._path, self._url)
                    if stored is not None and stored.tokens.access != self._session.tokens.access:
                        self._session = stored
                    if not self._session.tokens.is_fresh:
                        await self._renew()
                    return
            await asyncio.sleep(_LOCK_PAUSE)
        raise Unreachable(f"Another process holds the lock of {self._path}.")

    async def _renew(self) -> None:
        provider, tokens = self._session.provider, self._session.tokens
        if tokens.refresh is None:
            if tokens.is_valid:
                return
            self._end()
        form = provider.form | {"grant_type": "refresh_token", "refresh_token": str(tokens.refresh)}
        answer = await _post(provider.token_endpoint, form)
        outcome = "" if answer is None else read_tokens(answer, tokens)
        if isinstance(outcome, Tokens):
            self._session = Session(provider, outcome)
            self._store()
        elif outcome == "invalid_grant":
            self._end()
        elif not tokens.is_valid:
            raise Unreachable(f"The provider {provider.issuer} did not renew the token: {outcome or 'no answer'}.")

    def _end(self) -> NoReturn:
        self._has_ended = True
        self._store()
        raise SignInError(ENDED)

    async def sign_out(self) -> None:
        """Forget the tokens, and revoke them at the provider if it can do that.

        Raises:
            Unreachable: the provider did not answer; the tokens are forgotten here.
        """
        async with self._lock:
            provider, tokens = self._session.provider, self._session.tokens
            self._has_ended = True
            self._store()
            if provider.revocation_endpoint is None or tokens.refresh is None:
                return
            form = {"client_id": provider.client_id, "token": tokens.refresh, "token_type_hint": "refresh_token"}
            if await _post(provider.revocation_endpoint, form) is None:
                raise Unreachable(f"The provider {provider.issuer} did not answer; the tokens are forgotten here.")
