"""The dashboard at `/`: static files. Those under `vendor/` are as npm has them (docs/decisions/0033-charts.md).

Browsers ask for all modules of a page at once, and keep them (docs/decisions/0047-first-paint.md).
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final

from fastapi import FastAPI, Request
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.pages.import_graph import list_needed, list_pages
from app.api.pages.static_content import REVALIDATED, StaticContent
from app.api.pages.web_files import WebFiles
from app.json_text import encode_json

_FOLDER: Final = files("app") / "web"
_FIRST: Final = "main.js"
_ROUTES: Final = "routes.js"  # it imports each page when it is opened
_NO_MODULES: Final = b"MODULES = {}"

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
_GUARDS: Final = {name: value for name, value in HEADERS.items() if name != "Cache-Control"}


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
    contents = _read_files()
    index, contents["preload.js"] = contents["index.html"].decode(), _fill_preload(contents)
    files = WebFiles(contents)
    linked = _link_modules(index, _list_shell(contents)).replace('="/web/', f'="/web/{files.version}/')
    page = StaticContent(linked.encode(), "text/html")

    @app.get("/", include_in_schema=False)
    async def dashboard(request: Request) -> Response:
        response = page.respond(request.headers)
        response.headers.update(HEADERS)
        return response

    app.mount("/web", WithHeaders(files, _GUARDS), name="web")


def _read_files(folder: Traversable = _FOLDER, within: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.is_dir():
            found |= _read_files(each, f"{within}{each.name}/")
        else:
            found[f"{within}{each.name}"] = each.read_bytes()
    return found


def _read_modules(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {path: content.decode() for path, content in contents.items() if path.endswith(".js")}


def _list_shell(contents: Mapping[str, bytes]) -> list[str]:
    """Return the modules that every page needs."""
    return list_needed(_read_modules(contents), _FIRST)


def _link_modules(index: str, modules: Sequence[str]) -> str:
    """Return the page with links that let a browser ask for these modules at once."""
    links = "".join(f'  <link rel="modulepreload" href="/web/{path}">\n' for path in modules)
    return index.replace("</head>", f"{links}</head>")


def _fill_preload(contents: Mapping[str, bytes]) -> bytes:
    """Return the script that preloads the modules of each page, with the modules that the page adds to the shell."""
    modules = _read_modules(contents)
    shell = _list_shell(contents)
    pages = {
        PurePosixPath(page).stem: [path for path in list_needed(modules, page) if path not in shell]
        for page in list_pages(modules, _ROUTES)
    }
    files = list(dict.fromkeys(path for paths in pages.values() for path in paths))
    graph = {"files": files, "pages": {page: [files.index(path) for path in paths] for page, paths in pages.items()}}
    before, placeholder, after = contents["preload.js"].partition(_NO_MODULES)
    if not placeholder:
        raise ValueError("preload.js has no place for the modules")
    return before + b"MODULES = " + encode_json(graph) + after
