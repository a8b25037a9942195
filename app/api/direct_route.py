"""Routes that read their parameters themselves and run in a thread. Nothing in this module blocks the event loop."""

from collections.abc import Callable, Coroutine
from inspect import signature
from typing import Any, cast, get_args

from fastapi import Request
from fastapi.dependencies.models import Dependant
from starlette.responses import Response

from app.api.parameters.json_bodies import JsonBody
from app.api.request_bodies import read_json
from app.api.strict_route import StrictRoute, parameters_of, require_known


class DirectRoute(StrictRoute):
    """A route that declares its parameters to FastAPI as usual, but receives them before they are validated.

    It reads the parameters itself for two reasons. FastAPI's dependency resolution takes a large part of a plan's
    time. FastAPI also validates a body before the route can answer 404, and does so on the event loop.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that reads the parameters on the event loop, then runs the route in a thread."""
        endpoint, declared = self.endpoint, self.dependant
        dependencies = [(str(each.name), _take_in(each)) for each in declared.dependencies if each.name is not None]
        headers = [(each.name, each.alias) for each in declared.header_params]
        bodies = [
            (each.name, get_args(each.field_info.annotation)[0], not each.field_info.is_required())
            for each in declared.body_params
        ]
        taken_in = len(declared.path_params) + len(headers) + len(bodies) + len(dependencies)
        if taken_in != len(signature(endpoint).parameters):
            raise TypeError(f"{endpoint.__name__} has a parameter that DirectRoute cannot read")

        known = parameters_of(declared)

        async def handle(request: Request) -> Response:
            if request.scope["query_string"]:
                require_known(request.scope["query_string"], known)
            values: dict[str, Any] = dict(request.path_params)
            for name, take in dependencies:
                values[name] = await take(request)
            for name, alias in headers:
                values[name] = request.headers.getlist(alias)
            for name, model, optional in bodies:
                values[name] = JsonBody(model, request, await read_json(request), optional=optional)
            response: Response = await request.app.state.answer(endpoint, **values)
            return response

        return handle


def _take_in(dependency: Dependant) -> Callable[[Request], Coroutine[Any, Any, Any]]:
    """Return a function that calls an asynchronous dependency with the request, or with its query parameters."""
    call = cast("Callable[..., Coroutine[Any, Any, Any]]", dependency.call)
    if not dependency.query_params:
        return call
    query = [(each.name, each.alias, each.default) for each in dependency.query_params]
    whole = dependency.request_param_name

    def take(request: Request) -> Coroutine[Any, Any, Any]:
        given = {name: request.query_params.get(alias, default) for name, alias, default in query}
        return call(**given) if whole is None else call(**given, **{whole: request})

    return take
