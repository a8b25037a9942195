"""The dashboard's sign-on at `/sign-on`: the way to the provider and back, access tokens for the page, and sign-out.

Cookies are encrypted, `HttpOnly`, and of no use under `/v1`, which takes bearer tokens alone. So no other site can make
a browser call the interface. Every redirect leads to the provider's configured pages or to the dashboard itself.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Final, TypeVar

import structlog
from fastapi import FastAPI, Request
from starlette.responses import RedirectResponse, Response

from app.api import problems
from app.api.responses import json_response
from app.config import Settings
from app.errors import ForbiddenError, ProviderAwayError, UnauthenticatedError
from app.services.context import Services
from app.services.identity.sealed_values import ValueSealer
from app.services.identity.sign_on import (
    CALLBACK_PATH,
    Attempt,
    Session,
    SignOn,
    SignOnDeniedError,
    SignOnInterruptedError,
)
from app.services.identity.tokens import NO_NAME, NO_ROLE

START_PATH: Final = "/sign-on/start"
_ATTEMPT, _SESSION = "attempt", "session"
_MAX_SECONDS: Final = {_ATTEMPT: 600, _SESSION: 86_400}
_SAME_SITE: Final = {_ATTEMPT: "Lax", _SESSION: "Strict"}  # the provider's answer comes from another site
_MAX_COOKIE_CHARACTERS: Final = 3_900
_SEE_OTHER: Final = 303

Kept = TypeVar("Kept", Attempt, Session)

log = structlog.stdlib.get_logger("snapledger.sign_on")


class _Cookies:
    """Reads and writes the two cookies. Over HTTPS no other host can set them (`__Host-`)."""

    def __init__(self, settings: Settings) -> None:
        self._is_secure = str(settings.public_url).startswith("https://")
        self._prefix = "__Host-snapledger-" if self._is_secure else "snapledger-"

    def _read(self, request: Request, purpose: str, kind: Callable[..., Kept]) -> Kept | None:
        text = request.cookies.get(self._prefix + purpose)
        members = None if text is None else _sealer(request).unseal(purpose, text, _MAX_SECONDS[purpose])
        try:
            return None if members is None else kind(**members)
        except TypeError:  # another version of the service has sealed it
            return None

    def read_attempt(self, request: Request) -> Attempt | None:
        return self._read(request, _ATTEMPT, Attempt)

    def read_session(self, request: Request) -> Session | None:
        return self._read(request, _SESSION, Session)

    def write_attempt(self, request: Request, response: Response, attempt: Attempt) -> None:
        self._write(response, _ATTEMPT, _sealer(request).seal(_ATTEMPT, asdict(attempt)))

    def write_session(self, request: Request, response: Response, session: Session) -> None:
        """Write the session, without the hint for the provider's sign-out if that makes it too large for a cookie."""
        members, seal = asdict(session), _sealer(request).seal
        sealed = seal(_SESSION, members)
        if len(sealed) > _MAX_COOKIE_CHARACTERS:
            sealed = seal(_SESSION, members | {"hint": None})
        if len(sealed) > _MAX_COOKIE_CHARACTERS:
            log.warning("the identity provider's refresh token is too large for a cookie", characters=len(sealed))
        self._write(response, _SESSION, sealed)

    def _write(self, response: Response, purpose: str, text: str) -> None:
        response.headers.append("Set-Cookie", f"{self._prefix}{purpose}={text}; {self._attributes(purpose)}")

    def delete(self, response: Response, purpose: str) -> None:
        response.headers.append("Set-Cookie", f"{self._prefix}{purpose}=; Max-Age=0; {self._attributes(purpose)}")

    def _attributes(self, purpose: str) -> str:
        secure = "; Secure" if self._is_secure else ""
        return f"Path=/; HttpOnly; SameSite={_SAME_SITE[purpose]}{secure}"


def _sealer(request: Request) -> ValueSealer:
    services: Services = request.app.state.services
    return ValueSealer(services.keyring.cookie_keys)


def _require_own_page(request: Request, settings: Settings) -> None:
    if request.headers.get("origin") != settings.public_url:
        raise ForbiddenError(f"Only the dashboard at {settings.public_url} may do this.")


def _redirect(url: str) -> Response:
    return RedirectResponse(url, _SEE_OTHER)


class _Routes:
    """The four routes. None waits for a database, so none needs a thread."""

    def __init__(self, settings: Settings, sign_on: SignOn) -> None:
        self._settings, self._sign_on, self._cookies = settings, sign_on, _Cookies(settings)

    async def start(self, request: Request) -> Response:
        """Lead to the provider's page; `?account=another` makes it ask who signs on."""
        try:
            url, attempt = await self._sign_on.begin(another_account=request.query_params.get("account") == "another")
        except ProviderAwayError:
            return self._to_dashboard("away")
        response = _redirect(url)
        self._cookies.write_attempt(request, response, attempt)
        return response

    async def callback(self, request: Request) -> Response:
        """Begin a session with the provider's answer, and lead to the dashboard, which says what went wrong."""
        try:
            session = await self._sign_on.finish(
                request.query_params.multi_items(), self._cookies.read_attempt(request)
            )
        except SignOnInterruptedError:
            return self._to_dashboard("interrupted")
        except SignOnDeniedError:
            response = self._to_dashboard("denied")
        except ProviderAwayError:
            response = self._to_dashboard("away")
        except UnauthenticatedError as error:
            response = self._to_dashboard("no-access" if str(error) in {NO_ROLE, NO_NAME} else "failed")
        else:
            response = self._to_dashboard("done")
            self._cookies.write_session(request, response, session)
        self._cookies.delete(response, _ATTEMPT)
        return response

    def _to_dashboard(self, outcome: str) -> Response:
        return _redirect(f"{self._settings.public_url}/#sign-on={outcome}")

    async def token(self, request: Request) -> Response:
        """Give the page an access token; 204 if nobody is signed on, 401 if the session has ended."""
        _require_own_page(request, self._settings)
        session = self._cookies.read_session(request)
        if session is None:
            return Response(status_code=204)
        try:
            renewal = await self._sign_on.renew(session)
        except UnauthenticatedError as error:
            response = problems.render_error(error)
            self._cookies.delete(response, _SESSION)
            return response
        response = json_response({"access_token": renewal.access, "expires_in": renewal.expires_in})
        self._cookies.write_session(request, response, renewal.session)
        return response

    async def end(self, request: Request) -> Response:
        """End the session, here in any case; `url` is the provider's own sign-out, or null."""
        _require_own_page(request, self._settings)
        session, url = self._cookies.read_session(request), None
        if session is not None:
            try:
                url = await self._sign_on.end(session)
            except ProviderAwayError:
                log.warning("a session was ended here, and not at the identity provider")
        response = json_response({"url": url})
        self._cookies.delete(response, _SESSION)
        return response


def install(app: FastAPI, settings: Settings, sign_on: SignOn | None) -> None:
    """Serve the routes, if the settings say how people sign on."""
    if sign_on is None:
        return
    routes = _Routes(settings, sign_on)
    app.add_api_route(START_PATH, routes.start, include_in_schema=False)
    app.add_api_route(CALLBACK_PATH, routes.callback, include_in_schema=False)
    app.add_api_route("/sign-on/token", routes.token, methods=["POST"], include_in_schema=False)
    app.add_api_route("/sign-on/end", routes.end, methods=["POST"], include_in_schema=False)
