"""`HEAD` for every route that answers `GET`."""

from copy import copy

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts


def add_head_routes(app: FastAPI) -> None:
    """Let each route of `app` that answers `GET` answer `HEAD` too, as Starlette's own routes do.

    FastAPI does not do this. A second method on the same route would appear twice in the OpenAPI document, so each
    `HEAD` is a route of its own that is not in the document. The server drops the body.
    """
    routes = app.router.routes
    for context in iter_route_contexts(tuple(routes)):
        route = context.original_route
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            head = copy(route)
            head.methods = {"HEAD"}
            head.include_in_schema = False
            # A mounted folder may match the same path, so the new route must come before it. Those under /v1 come last,
            # because clients rarely use them.
            routes.insert(routes.index(route) + 1 if route in routes else len(routes), head)
