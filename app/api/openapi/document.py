"""The OpenAPI document and its page.

FastAPI generates the document from the routes' signatures. This module adds what all routes share, and the examples.
The service answers what `make openapi` wrote.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import fastapi_offline
from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import Response

from app.api.openapi import examples, problem_schemas, response_headers, schemas
from app.api.openapi.operations import REFERENCE, complete_responses
from app.api.pages.dashboard import WithHeaders
from app.api.pages.static_content import REVALIDATED, CompressedFiles, StaticContent
from app.api.responses import MEDIA_TYPE
from app.api.schemas.datasets import DatasetUpload, SourcedDatasetRequest
from app.api.schemas.drafts import DraftUpload, SourcedDraftRequest
from app.json_text import encode_json

_MODELS: tuple[type[BaseModel], ...] = (
    *(DatasetUpload, SourcedDatasetRequest, DraftUpload, SourcedDraftRequest),
    *problem_schemas.MODELS.values(),
)
"""The models that no route declares as a parameter or an answer."""

_PASSWORD = {
    "type": "http",
    "scheme": "basic",
    "description": "A principal's key as the password, with any name. It is accepted where figures are read.",
}
_ASSETS = "/docs/assets"
_OF_PAGE_ITSELF = {
    # Swagger UI starts with an inline script, and uses style attributes.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
}


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
            ref_template=REFERENCE,
        )
        components = document["components"]
        components["schemas"] |= definitions["$defs"]
        components["securitySchemes"]["password"] = _PASSWORD
        for operations in document["paths"].values():
            for operation in operations.values():
                complete_responses(operation)
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
