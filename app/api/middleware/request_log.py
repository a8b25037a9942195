"""ASGI middleware that gives every request an id, a line in the log and metrics, and its response security headers."""

import os
import re
import time
from typing import Any, Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import metrics, traces
from app.api.middleware.security_headers import list_missing_headers
from app.logs import request_id

PRINCIPAL: Final = "snapledger.principal"
RATE_HEADERS: Final = "snapledger.rate-headers"
_REQUEST_ID: Final = re.compile(rb"[0-9A-Za-z._-]{1,64}")
_UNROUTED: Final = "unrouted"
_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})

log = structlog.stdlib.get_logger("snapledger.requests")


def _request_id_of(scope: Scope) -> str:
    """Return the caller's request id if it is valid, so that a proxy's id can be followed here; else a new id."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value, "ascii")
    return os.urandom(16).hex()


class RequestLog:
    """The outermost middleware: it sees every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity, started, status = _request_id_of(scope), time.perf_counter(), 0
        token = request_id.set(identity)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = [*message["headers"], (b"x-request-id", identity.encode()), *scope.get(RATE_HEADERS, ())]
                message["headers"] = [*own, *list_missing_headers(own)]
            await send(message)

        metrics.IN_FLIGHT.inc()
        try:
            with traces.span("request", server=True, parent=_header(scope, b"traceparent")) as span:
                try:
                    await self._app(scope, receive, watched)
                finally:
                    _finish_span(span, scope, identity, status)
        finally:
            metrics.IN_FLIGHT.dec()
            request_id.reset(token)
            _log_request(scope, identity, status, time.perf_counter() - started)


def _header(scope: Scope, wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None)


def _finish_span(span: Any, scope: Scope, identity: str, status: int) -> None:  # noqa: ANN401 - OpenTelemetry is optional
    """Add a request's attributes to its span; like the log and the metrics, the route and never the path."""
    if span is None:
        return
    method, route = _method(scope), _route_template(scope)
    span.update_name(f"{method} {route}")
    told: dict[str, str | int] = {"http.request.method": method, "http.route": route}
    told["snapledger.request_id"] = identity
    if status:  # none if the client disconnected
        told["http.response.status_code"] = status
    traces.finish(span, told, failed=status >= 500)


def _method(scope: Scope) -> str:
    """Return the request's method, or a fixed word for an unknown one, because a caller can send any text."""
    return scope["method"] if scope["method"] in _METHODS else "other"


def _log_request(scope: Scope, identity: str, status: int, seconds: float) -> None:
    """Log and count a request under its route's template, because a path reveals what somebody asked about."""
    route, method = _route_template(scope), _method(scope)
    metrics.REQUESTS.labels(method, route, str(status or "none")).inc()
    metrics.SECONDS.labels(method, route).observe(seconds)
    log.info(
        "request",
        request_id=identity,
        method=method,
        route=route,
        status=status or None,
        seconds=round(seconds, 6),
        principal=scope.get(PRINCIPAL),
    )


def _route_template(scope: Scope) -> str:
    route: Any = scope.get("route")
    path = getattr(route, "path_format", None) or getattr(route, "path", None)
    return path if isinstance(path, str) else _UNROUTED
