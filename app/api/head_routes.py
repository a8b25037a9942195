"""`HEAD` wherever `GET` is answered."""

from copy import copy

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts


def add_head_routes(app: FastAPI) -> None:
    """Let each route of `app` that answers `GET` answer `HEAD` too, as Starlette's own routes do.

    FastAPI's routes do not, and with a second method they would be described twice. The server drops the body.
    """
    routes = app.router.routes
    for context in iter_route_contexts(tuple(routes)):
        route = context.original_route
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            head = copy(route)
            head.methods = {"HEAD"}
            head.include_in_schema = False
            # Before a mounted folder that has its path too; those of the interface last, since they are rarely asked.
            routes.insert(routes.index(route) + 1 if route in routes else len(routes), head)
