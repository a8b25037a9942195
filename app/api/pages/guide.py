"""The guide at `/guide`: the site that `make docs` builds from `docs/`, public as the dashboard's files are."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.responses import RedirectResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api import problems
from app.api.pages import dashboard

# The form is that of the search, which leads to another page of the guide.
HEADERS: Final = dashboard.HEADERS | {
    "Content-Security-Policy": dashboard.HEADERS["Content-Security-Policy"].replace(
        "form-action 'none'", "form-action 'self'"
    )
}

_NOT_BUILT: Final = problems.Problem(
    404,
    "not-found",
    "The guide is not built",
    "Run `make docs` in a checkout, or set SNAPLEDGER_GUIDE_DIRECTORY to a built guide; the interface is at /docs.",
)


class _Guide:
    """Answers from the folder as it is now, so that a guide is there as soon as it is built."""

    def __init__(self, folder: Path) -> None:
        self._index = folder / "index.html"
        self._files = StaticFiles(directory=folder, html=True, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file, or say how to have one."""
        answer: ASGIApp = self._files if self._index.is_file() else problems.render_problem(_NOT_BUILT, None)
        await answer(scope, receive, send)


def install(app: FastAPI, folder: Path) -> None:
    """Serve the guide that is in `folder`, whose links are relative to `/guide/`."""

    @app.get("/guide", include_in_schema=False)
    def to_the_index() -> RedirectResponse:
        return RedirectResponse("guide/", headers=HEADERS)

    app.mount("/guide", dashboard.WithHeaders(_Guide(folder), HEADERS), name="guide")
