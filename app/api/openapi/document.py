"""The OpenAPI document and its page.

Bodies and queries are declared here, since routes read them late (`app.api.dependencies`).
"""

from functools import cache
from typing import Any

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from app.api import dependencies, problems
from app.api.openapi import examples
from app.api.responses import MEDIA_TYPE, SharedResponse
from app.api.schemas import responses as answers
from app.api.schemas.administration import AdjustmentRequest, AllowanceRequest, KeyRequest, PrincipalRequest
from app.api.schemas.batches import BatchRequest
from app.api.schemas.datasets import DatasetRequest, SourcedDatasetRequest
from app.api.schemas.derived import DerivedRequest
from app.api.schemas.planning import FreePlanRequest, PlanRequest
from app.api.schemas.releases import ReleaseRequest
from app.json_text import encode_json

DESCRIPTION = """A REST service for differentially private statistics with a privacy budget ledger.

* **Numbers.** Every number in a request is read as the decimal that was written. A string of the same form is accepted
  wherever a number is. An ε is a whole number of units of 10⁻⁹; answers give it as a decimal string.
* **Order of errors.** 401 comes first, then 404 (also for what a key may not see), then 403, then errors in the body.
* **Lists.** `limit` is from 1 to 1,000 (100 by default), oldest first. `next` is the `after` of the following page.
* **Errors.** `application/problem+json` (RFC 9457). No error depends on the values of a table.
* **Retries.** After a 503 or a lost answer, send the request again with the same `Idempotency-Key`. It is never charged
  twice.
"""

_BODIES = (
    AdjustmentRequest,
    AllowanceRequest,
    BatchRequest,
    DatasetRequest,
    DerivedRequest,
    FreePlanRequest,
    KeyRequest,
    PlanRequest,
    PrincipalRequest,
    ReleaseRequest,
    SourcedDatasetRequest,
)
_ALWAYS, _OF_BODY, _OF_PAGE = (401, 429, 503), (400, 408, 413, 415, 422), (422,)
_REFERENCE = "#/components/schemas/{model}"
_ASSETS = "/docs/assets"
_OF_PAGE_ITSELF = {
    # Swagger UI starts by a script in the page, and styles its parts by attributes.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
}

_PAGE = [
    {
        "name": "limit",
        "in": "query",
        "description": "How many to list.",
        "schema": {
            "type": "integer",
            "minimum": 1,
            "maximum": dependencies.LARGEST_PAGE,
            "default": dependencies.DEFAULT_PAGE,
        },
    },
    {
        "name": "after",
        "in": "query",
        "description": "The `next` of the page before; exclusive.",
        "schema": {"type": "string"},
    },
]
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "Binds this request's answer to the key: sent again with the same path and body, the stored answer comes back "
        "byte for byte, with `Idempotency-Replayed: true` and at no cost. Required with `reuse: false`."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": dependencies.LONGEST_KEY},
}


def _problem_response(status: int) -> dict[str, Any]:
    kinds = sorted({problem.slug for problem in problems.PROBLEMS.values() if problem.status == status})
    schema = {"$ref": _REFERENCE.format(model=answers.Problem.__name__)}
    return {"description": ", ".join(kinds), "content": {problems.MEDIA_TYPE: {"schema": schema}}}


def probe_responses(model: type[BaseModel], description: str) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that anybody may ask whether the service is well."""
    return {200: {"model": model, "description": description}, 503: _problem_response(503)}


def metrics_response() -> dict[str, Any]:
    """What the route of the metrics answers, as arguments of its decorator."""
    text = '# TYPE snapledger_refusals_total counter\nsnapledger_refusals_total{reason="not-found"} 1.0\n'
    examples_ = {"a counter": {"value": text}}
    exposition = {"description": "The text format of Prometheus.", "content": {"text/plain": {"examples": examples_}}}
    responses = {200: exposition, **{status: _problem_response(status) for status in (401, 403, 503)}}
    security: dict[str, Any] = {"security": [{}, {"key": []}]}
    return {"responses": responses, "response_class": PlainTextResponse, "openapi_extra": security}


def _json_content(model: type[BaseModel], *, required: bool) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(model=model.__name__)}
    return {"required": required, "content": {"application/json": {"schema": schema}}}


UPLOAD: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["metadata", "file"],
                "properties": {
                    "metadata": {"$ref": _REFERENCE.format(model=DatasetRequest.__name__)},
                    "file": {"type": "string", "format": "binary", "description": "CSV or Parquet, by its content."},
                },
            },
            "encoding": {"metadata": {"contentType": "application/json"}},
        },
        "application/json": {"schema": {"$ref": _REFERENCE.format(model=SourcedDatasetRequest.__name__)}},
    },
}


def describe_route(
    success: dict[int, tuple[type[BaseModel] | None, str]],
    *refusals: int,
    body: type[BaseModel] | dict[str, Any] | None = None,
    paged: bool = False,
    keyed: bool = False,
    body_required: bool = True,
) -> dict[str, Any]:
    """What FastAPI cannot see of a route under `/v1`, as arguments of its decorator.

    Args:
        success: what it answers, by status.
        refusals: the statuses of its problems, beside those that every route, every body and every page has.
        body: the model of its JSON body, or the description of another body.
        paged: whether it lists.
        keyed: whether it takes an idempotency key.
        body_required: whether it needs its body.
    """
    responses: dict[int, dict[str, Any]] = {}
    for status, (model, description) in success.items():
        responses[status] = {"description": description} | ({"model": model} if model else {})
    of_body, of_page = (_OF_BODY if body else ()), (_OF_PAGE if paged else ())
    responses |= {status: _problem_response(status) for status in sorted({*_ALWAYS, *refusals, *of_body, *of_page})}
    extra: dict[str, Any] = {"security": [{"key": []}]}
    if parameters := [*(_PAGE if paged else ()), *([_KEY] if keyed else ())]:
        extra["parameters"] = parameters
    if body is not None:
        extra["requestBody"] = body if isinstance(body, dict) else _json_content(body, required=body_required)
    return {"responses": responses, "openapi_extra": extra}


def _remove_fastapi_validation(document: dict[str, Any]) -> None:
    """FastAPI tells of a 422 of its own wherever a path has a parameter; here nothing is validated by it."""
    for operations in document["paths"].values():
        for operation in operations.values():
            if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                del operation["responses"]["422"]
    for schema in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(schema, None)


def _build_document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        _, definitions = models_json_schema(
            [(model, "validation") for model in (*_BODIES, answers.Problem)], ref_template=_REFERENCE
        )
        _remove_fastapi_validation(document)
        components = document["components"]
        components["schemas"] |= definitions["$defs"]
        components["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer", "description": "A principal's key, or a token of its provider."}
        }
        examples.add_examples(document)
        app.openapi_schema = document
    return app.openapi_schema


def install(app: FastAPI) -> None:
    """Serve `/openapi.json` and `/docs` from our own files: the page asks no other host."""
    app.openapi = lambda: _build_document(app)  # type: ignore[method-assign]
    description = cache(lambda: encode_json(app.openapi()))

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> Response:
        return SharedResponse(description(), media_type=MEDIA_TYPE)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        page = get_swagger_ui_html(
            openapi_url="/openapi.json",
            title=f"{app.title}: the interface",
            swagger_js_url=f"{_ASSETS}/swagger-ui-bundle.js",
            swagger_css_url=f"{_ASSETS}/swagger-ui.css",
            swagger_favicon_url=f"{_ASSETS}/favicon.png",
        )
        page.headers.update(_OF_PAGE_ITSELF)
        return page

    app.mount(_ASSETS, StaticFiles(packages=[(fastapi_offline.__name__, "static")]), name="assets")
