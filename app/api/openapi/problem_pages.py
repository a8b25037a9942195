"""A page for each problem, at the path that is its `type`: what it means, what to do, and its members."""

from html import escape
from typing import Final

from fastapi import FastAPI
from starlette.responses import HTMLResponse

from app.api.openapi.problem_schemas import MODELS, explain
from app.api.pages import dashboard
from app.api.problems import OF_HTTP, PROBLEMS, Problem
from app.errors import NotFoundError

_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<h1>{title}</h1>
<p><code>/problems/{slug}</code>, status {status}</p>
<p>{meaning}</p>
<dl>
{members}
</dl>
<p><a href="/docs">The interface</a> · <a href="/guide/">The guide</a></p>
</html>
"""


def _list_members(slug: str) -> str:
    fields = MODELS[slug].model_fields if slug in MODELS else {}
    described = ((name, field.description or "") for name, field in fields.items())
    return "\n".join(f"<dt><code>{escape(name)}</code></dt><dd>{escape(text)}</dd>" for name, text in described)


def _render_page(problem: Problem) -> bytes:
    facts = {"title": problem.title, "slug": problem.slug, "status": str(problem.status), "meaning": explain(problem)}
    escaped = {name: escape(fact) for name, fact in facts.items()}
    return _PAGE.format(**escaped, members=_list_members(problem.slug)).encode()


def install(app: FastAPI) -> None:
    """Serve the pages; like the guide, they are public."""
    pages = {problem.slug: _render_page(problem) for problem in (*OF_HTTP, *PROBLEMS.values())}

    @app.get("/problems/{slug}", include_in_schema=False)
    def problem_page(slug: str) -> HTMLResponse:
        if slug not in pages:
            raise NotFoundError
        return HTMLResponse(pages[slug], headers=dashboard.HEADERS)
