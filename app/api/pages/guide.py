"""The guide at `/guide`: the site that `make docs` builds from `docs/`. Like the dashboard's files, it is public."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api import problems
from app.api.pages import dashboard
from app.api.pages.static_content import CompressedFiles

# The search form leads to another page of the guide, and Sphinx's theme has style attributes.
HEADERS: Final = dashboard.HEADERS | {
    "Content-Security-Policy": dashboard.HEADERS["Content-Security-Policy"]
    .replace("form-action 'none'", "form-action 'self'")
    .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
}

_START: Final = frozenset({"/guide/", "/guide/index.html"})
_NOT_BUILT: Final = problems.Problem(
    404, "not-found", "The guide is not built", "See /guide/ for where to read it; the interface is described at /docs."
)
_HOW_TO_BUILD: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The guide is not built</title>
<h1>The guide is not built</h1>
<p>To see it here, run <code>make docs</code> in the checkout that this service runs from, then reload this page.
If the guide was built elsewhere, set <code>SNAPLEDGER_GUIDE_DIRECTORY</code> to its folder and restart the service.</p>
<p>The same pages are Markdown files in the checkout: begin with <code>docs/index.md</code>.</p>
<p><a href="/docs">The interface</a> and <a href="/">the dashboard</a> need no guide.</p>
</html>
"""


class _Guide:
    """Serves the folder as it is at each request, so that a new guide needs no restart."""

    def __init__(self, folder: Path) -> None:
        self._index = folder / "index.html"
        self._files = CompressedFiles(directory=folder, html=True, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file, or with a page that says how to build the guide."""
        answer: ASGIApp = self._files
        if not self._index.is_file():
            is_start = scope["path"] in _START and scope["method"] in {"GET", "HEAD"}
            answer = HTMLResponse(_HOW_TO_BUILD) if is_start else problems.render_problem(_NOT_BUILT, None)
        await answer(scope, receive, send)


def install(app: FastAPI, folder: Path) -> None:
    """Serve the guide in `folder`; its links are relative to `/guide/`."""

    @app.get("/guide", include_in_schema=False)
    def to_the_index() -> RedirectResponse:
        return RedirectResponse("guide/", headers=HEADERS)

    app.mount("/guide", dashboard.WithHeaders(_Guide(folder), HEADERS), name="guide")
