"""The OpenAPI document and its page.

FastAPI generates the document from the routes' signatures. This module adds what all routes share, and the examples.
The service answers what `make openapi` wrote.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import fastapi_offline
from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import PlainTextResponse, Response

from app.api import problems
from app.api.openapi import examples, response_headers, schemas
from app.api.pages.dashboard import WithHeaders
from app.api.pages.static_content import REVALIDATED, CompressedFiles, StaticContent
from app.api.responses import MEDIA_TYPE
from app.api.schemas import responses as answers
from app.api.schemas.datasets import DatasetUpload, SourcedDatasetRequest
from app.api.schemas.drafts import DraftUpload, SourcedDraftRequest
from app.json_text import encode_json

_MODELS: tuple[type[BaseModel], ...] = (
    *(DatasetUpload, SourcedDatasetRequest, DraftUpload, SourcedDraftRequest),
    answers.Problem,
)
"""The models that no route declares as a parameter or an answer."""

READERS_ACCESS: dict[str, Any] = {"security": [{}, {"key": []}, {"password": []}]}
"""What routes that read figures add to their description: no key, a key, or a key as a password."""

_PASSWORD = {
    "type": "http",
    "scheme": "basic",
    "description": "A principal's key as the password, with any name. It is accepted where figures are read.",
}
_OF_QUERY = 422
_ALWAYS, _OF_BODY = (401, 429, 503), (400, 408, 413, 415)
_REFERENCE = "#/components/schemas/{model}"
_ASSETS = "/docs/assets"
_OF_PAGE_ITSELF = {
    # Swagger UI starts with an inline script, and uses style attributes.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
}


def _problem_response(status: int) -> dict[str, Any]:
    all_problems = (*problems.PROBLEMS.values(), problems.BAD_REQUEST)
    kinds = sorted({problem.slug for problem in all_problems if problem.status == status})
    schema = {"$ref": _REFERENCE.format(model=answers.Problem.__name__)}
    return {"description": ", ".join(kinds), "content": {problems.MEDIA_TYPE: {"schema": schema}}}


def probe_responses(model: type[BaseModel], description: str, *refusals: int) -> dict[str, Any]:
    """Return the arguments of a public health route's decorator that describe its responses."""
    success: dict[int, dict[str, Any]] = {200: {"model": model, "description": description}}
    refused = {status: _problem_response(status) for status in (400, *refusals)}
    return {"responses": success | refused, "openapi_extra": {"security": []}}


def metrics_response() -> dict[str, Any]:
    """Return the arguments of the metrics route's decorator that describe its response."""
    text = '# TYPE snapledger_refusals_total counter\nsnapledger_refusals_total{reason="not-found"} 1.0\n'
    examples_ = {"a counter": {"value": text}}
    exposition = {"description": "The text format of Prometheus.", "content": {"text/plain": {"examples": examples_}}}
    responses = {200: exposition, **{status: _problem_response(status) for status in (400, 401, 403, 503)}}
    security: dict[str, Any] = {"security": [{}, {"key": []}]}
    return {"responses": responses, "response_class": PlainTextResponse, "openapi_extra": security}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a body that a route reads itself, as JSON."""
    return {"required": True, "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(model=model.__name__)}}}}


def upload_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a body that is an upload with metadata."""
    schema = {"$ref": _REFERENCE.format(model=model.__name__)}
    encoding = {"metadata": {"contentType": MEDIA_TYPE}}
    return {"required": True, "content": {"multipart/form-data": {"schema": schema, "encoding": encoding}}}


def describe_responses(
    success: Mapping[int, tuple[type[BaseModel] | None, str]], *refusals: int
) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route under `/v1`.

    `_add_common_problems` adds the problems that all routes or all bodies share.

    Args:
        success: the model and the description of each successful status.
        refusals: the statuses of the problems that are specific to the route.
    """
    responses: dict[int | str, dict[str, Any]] = {}
    for status, (model, description) in success.items():
        responses[status] = {"description": description} | ({"model": model} if model else {})
    return responses | {status: _problem_response(status) for status in refusals}


def _add_common_problems(document: dict[str, Any]) -> None:
    """Add the problems that all keys, bodies and queries share. Remove FastAPI's own 422: FastAPI validates nothing."""
    for operations in document["paths"].values():
        for operation in operations.values():
            responses = operation["responses"]
            if "application/json" in responses.get("422", {}).get("content", {}):
                del responses["422"]
            needed = operation.get("security", [])
            statuses = {_OF_QUERY, *(_ALWAYS if {"key": []} in needed else ())}
            if needed == [{"key": []}]:
                statuses.add(403)  # a viewer reads figures, and nothing else
            if "requestBody" in operation:
                statuses.update(_OF_BODY)
            responses |= {str(status): _problem_response(status) for status in sorted(statuses)}
    for schema in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(schema, None)


def _build_document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            tags=app.openapi_tags,
            servers=app.servers,
            contact=app.contact,
            license_info=app.license_info,
        )
        _, definitions = models_json_schema(
            [(model, "validation") for model in _MODELS],
            ref_template=_REFERENCE,
        )
        components = document["components"]
        components["schemas"] |= definitions["$defs"]
        components["securitySchemes"]["password"] = _PASSWORD
        _add_common_problems(document)
        schemas.tidy_schemas(document)
        response_headers.add_response_headers(document)
        examples.add_examples(document)
        app.openapi_schema = document
    return app.openapi_schema


@cache
def _read_document() -> StaticContent:
    written = json.loads((files("app.api.openapi") / "openapi.json").read_bytes())
    return StaticContent(encode_json(written), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Serve `/openapi.json` and `/docs` from our own files, so that the page makes no request to another host."""
    app.openapi = lambda: _build_document(app)  # type: ignore[method-assign]

    @app.get("/openapi.json", include_in_schema=False)
    def openapi(request: Request) -> Response:
        return _read_document().respond(request.headers)

    swagger = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title=f"{app.title}: the interface",
        swagger_js_url=f"{_ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{_ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{_ASSETS}/favicon.png",
    )
    page = StaticContent(bytes(swagger.body), "text/html")

    @app.get("/docs", include_in_schema=False)
    def docs(request: Request) -> Response:
        response = page.respond(request.headers)
        response.headers.update(_OF_PAGE_ITSELF)
        return response

    assets = CompressedFiles(packages=[(fastapi_offline.__name__, "static")])
    app.mount(_ASSETS, WithHeaders(assets, REVALIDATED), name="assets")
