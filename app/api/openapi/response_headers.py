"""The headers of responses in the OpenAPI document: by rules, since routes share them."""

from typing import Any, Final

_TEXT: Final = {"type": "string"}

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "ETag": {
        "description": "The entity tag of what the answer shows, for `If-Match` or `If-None-Match`.",
        "schema": _TEXT,
    },
    "Idempotency-Replayed": {
        "description": "`true` if the answer was stored under the same `Idempotency-Key` before.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Link": {
        "description": "The first page (`first`) and, if there is one, the following page (`next`): RFC 8288.",
        "schema": _TEXT,
    },
    "Location": {"description": "The path of what was made.", "schema": {"type": "string", "format": "uri-reference"}},
    "RateLimit": {
        "description": (
            "For each limit how many more requests are allowed now (`r`), and in how many seconds it is one more (`t`):"
            " draft-ietf-httpapi-ratelimit-headers. Absent if the operator sets no limit."
        ),
        "schema": _TEXT,
    },
    "RateLimit-Policy": {
        "description": "The limits: so many requests (`q`) in so many seconds (`w`). Absent if there is none.",
        "schema": _TEXT,
    },
    "Retry-After": {
        "description": "In how many seconds to send the request again.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "WWW-Authenticate": {
        "description": '`Bearer`, with `error="invalid_token"` if a key or token was sent and is not valid: RFC 6750.',
        "schema": _TEXT,
    },
    "X-Request-Id": {
        "description": "The id of the request: the caller's own `X-Request-Id` if it sent one, otherwise a new one.",
        "schema": {"type": "string", "pattern": "^[0-9A-Za-z._-]{1,64}$"},
    },
}

_WITH_ENTITY_TAG: Final = frozenset(
    {
        "/v1/collections/{name}",
        "/v1/datasets/{name}/allowances/{principal}",
        "/v1/datasets/{name}/budget/limit",
        "/v1/datasets/{name}/figures/{figure}",
        "/v1/datasets/{name}/figures/{figure}/versions/{version}",
        "/v1/datasets/{name}/reports/{report}",
        "/v1/figures.atom",
    },
)


def add_response_headers(document: dict[str, Any]) -> None:
    """Add to each response of the document the headers that it may have."""
    document["components"]["headers"] = HEADERS
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                names = sorted(_names(path, method, operation, int(status)))
                response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _names(path: str, method: str, operation: dict[str, Any], status: int) -> set[str]:
    sent = {parameter["name"] for parameter in operation.get("parameters", ())}
    names = {"X-Request-Id"}
    if path.startswith("/v1/") and status != 401:
        names |= {"RateLimit", "RateLimit-Policy"}
    if status == 401:
        names.add("WWW-Authenticate")
    if status in {408, 409, 429, 503}:
        names.add("Retry-After")
    if status == 201:
        names.add("Location")
    if status in {200, 201} and "Idempotency-Key" in sent:
        names |= {"Idempotency-Replayed", "Location"}
    if status == 200 and "after" in sent:
        names.add("Link")
    if status in {200, 304} and method == "get" and path in _WITH_ENTITY_TAG:
        names.add("ETag")
    return names
