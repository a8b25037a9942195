"""The dashboard at `/`: static files. Those under `vendor/` are as npm has them (docs/decisions/0033-charts.md)."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FOLDER: Final = files("app") / "web"

MIN_COMPRESSED_BYTES: Final = 1024
COMPRESSION: Final = 5  # of 9: a millisecond for the largest file, to a third of its size

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
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


def install(app: FastAPI) -> None:
    """Serve the dashboard. Its files are public; all data comes from `/v1`, with the user's own key."""

    @app.get("/", include_in_schema=False)
    def dashboard() -> FileResponse:
        return FileResponse(str(_FOLDER / "index.html"), headers=HEADERS, media_type="text/html")

    static = StaticFiles(packages=[("app", "web")])
    compressed = GZipMiddleware(static, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=COMPRESSION)
    app.mount("/web", WithHeaders(compressed, HEADERS | {"Vary": "Accept-Encoding"}), name="web")
