"""The dashboard at `/`: static files. Those under `vendor/` are as npm has them (docs/decisions/0033-charts.md)."""

from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI, Request
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.pages.static_content import REVALIDATED, CompressedFiles

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "X-Frame-Options": "DENY",
    **REVALIDATED,
}


class WithHeaders:
    """Adds headers to every response of another application, including errors."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its response."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, guarded)


def install(app: FastAPI) -> None:
    """Serve the dashboard. Its files are public; all data comes from `/v1`, with the user's own key."""
    static = CompressedFiles(packages=[("app", "web")])

    @app.get("/", include_in_schema=False)
    async def dashboard(request: Request) -> Response:
        response = await static.get_response("index.html", request.scope)
        response.headers.update(HEADERS)
        return response

    app.mount("/web", WithHeaders(static, HEADERS), name="web")
