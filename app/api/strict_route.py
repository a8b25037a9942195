"""Routes that refuse a query with a name that they do not take, or that they take once but get twice."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.responses import Response

from app.errors import InvalidRequestError
from app.spelling import suggest_name

_WHERE = "query"


def parameters_of(dependant: Dependant) -> list[str]:
    """Return the names of the query parameters that a route or its dependencies take."""
    names = [parameter.alias for parameter in dependant.query_params]
    return names + [name for each in dependant.dependencies for name in parameters_of(each)]


def require_known(query: bytes, known: Sequence[str]) -> None:
    """Refuse a query with an unknown or a repeated name, since a misspelt option must not be ignored.

    Raises:
        InvalidRequestError: the query has such a name. Only the near miss of a valid name is repeated.
    """
    given = [name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)]
    for name in given:
        if name not in known:
            raise InvalidRequestError((_WHERE, _describe(name, known)))
    for name in known:
        if given.count(name) > 1:
            raise InvalidRequestError((name, "must be sent once"))


def _describe(name: str, known: Sequence[str]) -> str:
    if not known:
        return "must be empty: this path has no query parameters"
    meant = suggest_name(name, known)
    named = f" '{name}'" if meant else ""
    return f"has an unknown parameter{named}: the parameters of this path are {', '.join(known)}{meant}"


class StrictRoute(APIRoute):
    """A route that refuses unknown query parameters before it does anything else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that looks at the query first."""
        answer, known = super().get_route_handler(), parameters_of(self.dependant)

        async def handle(request: Request) -> Response:
            if request.scope["query_string"]:
                require_known(request.scope["query_string"], known)
            return await answer(request)

        return handle
