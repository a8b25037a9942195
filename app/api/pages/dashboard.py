"""The dashboard at `/`: our static files, and the bundle from the plotly package."""

import gzip
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from threading import Condition
from typing import Final

import plotly
from cachetools import cached
from fastapi import FastAPI, Request
from starlette.datastructures import MutableHeaders
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.responses import SharedResponse

_FOLDER: Final = files("app") / "web"
_PLOTLY: Final = files(plotly.__name__) / "package_data" / "plotly.min.js"
PLOTLY_PATH: Final = "/web/plotly.min.js"

HEADERS: Final = {
    # Only plotly needs 'unsafe-inline': it adds a style element and style attributes.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",  # cached, but revalidated each time, so that a new version shows at once
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


@cached({}, condition=Condition())
def _plotly_bytes() -> bytes:
    return _PLOTLY.read_bytes()


@cached({}, condition=Condition())
def _compress_plotly() -> bytes:
    """Return the bundle of 4.8 MB compressed to a third. Each process does this once, however many ask first."""
    return gzip.compress(_plotly_bytes(), mtime=0)


def _serve_plotly(request: Request) -> Response:
    tag = f'"plotly-{version(plotly.__name__)}"'
    headers = {**HEADERS, "ETag": tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return SharedResponse(_plotly_bytes(), headers=headers, media_type="text/javascript")
    headers["Content-Encoding"] = "gzip"
    return SharedResponse(_compress_plotly(), headers=headers, media_type="text/javascript")


def install(app: FastAPI) -> None:
    """Serve the dashboard. Its files are public; all data comes from `/v1`, with the user's own key."""

    @app.get("/", include_in_schema=False)
    def dashboard() -> FileResponse:
        return FileResponse(str(_FOLDER / "index.html"), headers=HEADERS, media_type="text/html")

    app.add_api_route(PLOTLY_PATH, _serve_plotly, include_in_schema=False)
    app.mount("/web", WithHeaders(StaticFiles(packages=[("app", "web")]), HEADERS), name="web")
