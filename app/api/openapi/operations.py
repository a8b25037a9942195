"""What each route says of its bodies and responses."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel
from starlette.responses import PlainTextResponse

from app import errors
from app.api import problems
from app.api.openapi import problem_schemas
from app.errors import SnapledgerError

REFERENCE: Final = "#/components/schemas/{model}"

NOT_OPEN: Final = (errors.DatasetClosedError, errors.DatasetStaleError)
"""The conflicts of a dataset that does not answer."""

PLANNING: Final = (
    *NOT_OPEN,
    *(errors.AccuracyTrivialError, errors.AccuracyUnattainableError, errors.EpsilonTooLargeError),
)
RELEASING: Final = (
    *PLANNING,
    *(errors.BudgetExhaustedError, errors.StorageExhaustedError, errors.KeyRequiredError, errors.KeyReusedError),
)
"""The problems of routes that plan, and of those that release."""

READERS_ACCESS: Final[dict[str, Any]] = {"security": [{}, {"key": []}, {"password": []}]}
"""What routes that read figures add to their description: no key, a key, or a key as a password."""

_SLUGS = "x-problems"
_MALFORMED: Final[dict[int | str, dict[str, Any]]] = {400: {"description": "", _SLUGS: []}}
"""A request that is not valid HTTP, to which every path answers 400."""

_OF_CALLERS = (errors.UnauthenticatedError, errors.RateLimitedError)
_OF_SERVICE = (errors.OverloadedError, errors.UnavailableError, errors.SealBrokenError)
_OF_BODY = (
    *(errors.MalformedJsonError, errors.BodyTooSlowError, errors.BodyTooLargeError, errors.UnsupportedMediaError),
)


def _problem_responses(refusals: Iterable[int | type[SnapledgerError]]) -> dict[int | str, dict[str, Any]]:
    """Return the responses of problems, with their slugs, which `complete_responses` replaces by their schemas."""
    slugs: dict[int | str, list[str]] = {}
    for refusal in refusals:
        if isinstance(refusal, int):
            slugs.setdefault(refusal, []).extend(problem_schemas.list_slugs(refusal))
        else:
            status, slug = problem_schemas.slug_of(refusal)
            slugs.setdefault(status, []).append(slug)
    return {status: {"description": "", _SLUGS: of_status} for status, of_status in slugs.items()}


def probe_responses(model: type[BaseModel], description: str, *refusals: int) -> dict[str, Any]:
    """Return the arguments of a public health route's decorator that describe its responses."""
    success: dict[int | str, dict[str, Any]] = {200: {"model": model, "description": description}}
    return {"responses": success | _MALFORMED | _problem_responses(refusals), "openapi_extra": {"security": []}}


def metrics_response() -> dict[str, Any]:
    """Return the arguments of the metrics route's decorator that describe its response."""
    text = '# TYPE snapledger_refusals_total counter\nsnapledger_refusals_total{reason="not-found"} 1.0\n'
    content = {"text/plain": {"schema": {"type": "string"}, "examples": {"a counter": {"value": text}}}}
    exposition = {"description": "The text format of Prometheus.", "content": content}
    responses = {200: exposition, **_MALFORMED, **_problem_responses((401, 403, 503))}
    security: dict[str, Any] = {"security": [{}, {"key": []}]}
    return {"responses": responses, "response_class": PlainTextResponse, "openapi_extra": security}


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a body that a route reads itself, as JSON."""
    schema = {"$ref": REFERENCE.format(model=model.__name__)}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def upload_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a body that is an upload with metadata."""
    schema = {"$ref": REFERENCE.format(model=model.__name__)}
    encoding = {"metadata": {"contentType": "application/json"}}
    return {"required": True, "content": {"multipart/form-data": {"schema": schema, "encoding": encoding}}}


def describe_responses(
    success: Mapping[int, tuple[type[BaseModel] | None, str]], *refusals: int | type[SnapledgerError]
) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route under `/v1`.

    `complete_responses` adds the problems that all routes or all bodies share.

    Args:
        success: the model and the description of each successful status.
        refusals: the problems that are specific to the route: errors, or a status for all of its problems.
    """
    responses: dict[int | str, dict[str, Any]] = {}
    for status, (model, description) in success.items():
        responses[status] = {"description": description} | ({"model": model} if model else {})
    return responses | _problem_responses(refusals)


def _list_shared_refusals(operation: Mapping[str, Any]) -> list[int | type[SnapledgerError]]:
    """Return the problems that all operations, keys and bodies share."""
    refusals: list[int | type[SnapledgerError]] = [errors.InvalidRequestError]  # an unknown query parameter
    needed = operation.get("security", [])
    if {"key": []} in needed:
        refusals += [*_OF_CALLERS, *_OF_SERVICE]
    if needed == [{"key": []}]:
        refusals.append(errors.ForbiddenError)  # a viewer reads figures, and nothing else
    if "requestBody" in operation:
        refusals += _OF_BODY
    return refusals


def complete_responses(operation: dict[str, Any]) -> None:
    """Add the problems that routes share to an operation, and describe all problems."""
    responses = operation["responses"]
    if _SLUGS not in responses.get("422", {_SLUGS: []}):
        del responses["422"]  # FastAPI's own, which validates nothing here
    for status, shared in _problem_responses(_list_shared_refusals(operation)).items():
        own = responses.setdefault(str(status), {"description": "", _SLUGS: []})
        own[_SLUGS] = [*own[_SLUGS], *shared[_SLUGS]]
    for status, response in responses.items():
        slugs = sorted({*response.pop(_SLUGS, ()), *(["bad-request"] if status == "400" else [])})
        if slugs:
            response["description"] = ", ".join(slugs)
            response["content"] = {problems.MEDIA_TYPE: {"schema": problem_schemas.union_of(slugs)}}
