"""What a route takes in: who calls, and a body or a query that is read but not yet judged.

A route decides 401, 404 and 403 first and only then asks for the validated body, so a refusal never depends on more
than the caller may know. Nothing here blocks: the routes themselves run in threads.
"""

import re
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from threading import Lock
from typing import Annotated, Any, Generic, TypeVar, cast, get_args

from cachetools import LRUCache, cached
from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema
from starlette.responses import Response

from app.api.json_codec import canonical_text, decode, fingerprint
from app.api.middleware.authentication import CREDENTIAL
from app.api.request_bodies import read_json, require_form
from app.api.schemas.base import validate
from app.errors import InvalidRequestError
from app.services import access
from app.services.access import Access, Credential
from app.services.context import Services
from app.services.names import NAME_PATTERN, RELEASE_ID_PATTERN
from app.services.releasing.replays import Key

Model = TypeVar("Model", bound=BaseModel)

DEFAULT_PAGE, LARGEST_PAGE = 100, 1_000
LONGEST_KEY = 255
MAX_CACHE_BYTES = 2**25
"""Of all bodies that are cached, with what is made of them."""

LARGE_BODY_BYTES = 2**16
"""Longer bodies are read one at a time, by process: others, which are short, then wait for one of them at most."""

_large_bodies = Lock()
_BYTES_PER_BODY, _BYTES_PER_BYTE = 6_000, 100  # a number of two bytes is a text and a fraction


@dataclass(frozen=True, slots=True)
class Caller:
    """By what the caller is known, and the services it calls."""

    credential: Credential
    services: Services

    def enter(self, name: str) -> Access:
        """Find a dataset as the caller sees it (401, 404)."""
        with self.services.database.ask() as session:
            return access.enter(session, self.credential, name)


async def _read_caller(request: Request) -> Caller:
    return Caller(request.scope[CREDENTIAL], request.app.state.services)


CallerOf = Annotated[Caller, Depends(_read_caller)]

BEARER = Depends(
    HTTPBearer(scheme_name="key", description="A principal's key, or a token of its provider.", auto_error=False)
)
"""Tells the OpenAPI document how a caller is known; `AuthenticationGate` has answered 401 before any route is asked."""


@dataclass(frozen=True)
class _ParsedBody(Generic[Model]):
    """A body as its model and as what was written."""

    model: Model
    value: Any
    size: int

    @cached_property
    def canonical(self) -> str:
        """What bodies of equal JSON values share."""
        return canonical_text(self.value)


@cached(
    LRUCache(MAX_CACHE_BYTES, getsizeof=lambda read: _BYTES_PER_BODY + _BYTES_PER_BYTE * read.size),
    key=lambda *asked: asked,
    lock=Lock(),
)
def _parse_body(model: type[Model], body: bytes) -> _ParsedBody[Model]:
    """Parse and validate. What is asked again, byte for byte, as dashboards do, is read once."""
    with _large_bodies if len(body) > LARGE_BODY_BYTES else nullcontext():
        value = decode(body)
        return _ParsedBody(validate(model, value), value, len(body))


class JsonBody(Generic[Model]):
    """A route's body as bytes, until `validated` is asked for. To FastAPI's document it is a body of the model."""

    __slots__ = ("_bytes", "_headers", "_model", "_optional", "_path")

    def __init__(self, model: type[Model], request: Request, body: bytes, *, optional: bool) -> None:
        self._model, self._path, self._headers = model, request.scope["path"], request.headers
        self._bytes, self._optional = body, optional

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """The schema of the model."""
        return handler(get_args(source)[0])

    def validated(self) -> Model:
        """The body as its model.

        Raises:
            UnsupportedMediaError: it is not announced as plain JSON.
            MalformedJsonError: it is no JSON.
            InvalidRequestError: it does not fit the model.
        """
        if self._optional and not self._bytes:
            return self._model()
        require_form(self._headers, "application/json")
        model: Model = _parse_body(self._model, self._bytes).model
        return model

    def fingerprint(self) -> bytes:
        """What an idempotency key is bound to: the path and the JSON value of a validated body."""
        return fingerprint(self._path, _parse_body(self._model, self._bytes).canonical)


@dataclass(frozen=True, slots=True)
class Page:
    """The query of a list, until `limit` and `after` are asked for."""

    raw_limit: str | int
    after: str | None

    @property
    def limit(self) -> int:
        """How many to list.

        Raises:
            InvalidRequestError: it is no whole number from 1 to 1,000.
        """
        if re.fullmatch("[0-9]{1,4}", str(self.raw_limit)) and 1 <= int(self.raw_limit) <= LARGEST_PAGE:
            return int(self.raw_limit)
        raise InvalidRequestError(("limit", f"must be a whole number from 1 to {LARGEST_PAGE}"))

    @property
    def after_number(self) -> int:
        """`after` in a list that is numbered.

        Raises:
            InvalidRequestError: it is no number.
        """
        if self.after is None:
            return 0
        if re.fullmatch("[0-9]{1,18}", self.after):
            return int(self.after)
        raise InvalidRequestError(("after", "must be the `next` of an earlier page, a number"))

    @property
    def after_name(self) -> str | None:
        """`after` in a list of names.

        Raises:
            InvalidRequestError: it is no name.
        """
        if self.after is None or re.fullmatch(NAME_PATTERN, self.after):
            return self.after
        raise InvalidRequestError(("after", "must be the `next` of an earlier page, a name"))

    @property
    def after_id(self) -> str | None:
        """`after` in a list of releases.

        Raises:
            InvalidRequestError: it is no release's id.
        """
        if self.after is None or re.fullmatch(RELEASE_ID_PATTERN, self.after):
            return self.after
        raise InvalidRequestError(("after", "must be the `next` of an earlier page, the id of a release"))


async def _read_page(
    limit: Annotated[
        str | int,
        Query(description="How many to list."),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE}),
    ] = DEFAULT_PAGE,
    after: Annotated[
        str | None,
        Query(description="The `next` of the page before; exclusive."),
        WithJsonSchema({"type": "string"}),
    ] = None,
) -> Page:
    return Page(limit, after)


PageOf = Annotated[Page, Depends(_read_page)]

KeyHeaders = Annotated[
    list[str] | None,
    Header(
        alias="Idempotency-Key",
        description=(
            "Binds this request's answer to the key: sent again with the same path and body, the stored answer comes "
            "back byte for byte, with `Idempotency-Replayed: true` and at no cost. Required with `reuse: false`."
        ),
    ),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}),
]
"""Every header that may hold an idempotency key."""


def idempotency_key(headers: list[str] | None, body: JsonBody[Any]) -> Key | None:
    """The idempotency key with what it is bound to, if there is one.

    Raises:
        InvalidRequestError: it is not 1 to 255 printable ASCII characters.
    """
    if not headers:
        return None
    key = headers[0]
    if len(headers) > 1 or not 1 <= len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise InvalidRequestError(
            ("Idempotency-Key", f"must be sent once, with 1 to {LONGEST_KEY} printable ASCII characters")
        )
    return Key(key, body.fingerprint())


class DirectRoute(APIRoute):
    """A route whose parameters are declared to FastAPI as usual, and handed over unjudged, for the route to judge late.

    They are taken in here: FastAPI's way through dependencies takes a large part of a plan's time, and it would judge
    a body before the route could answer 404, on the event loop.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request: the parameters, then the route itself in a thread."""
        endpoint, declared = self.endpoint, self.dependant
        dependencies = [(str(each.name), _take_in(each)) for each in declared.dependencies if each.name is not None]
        headers = [(each.name, each.alias) for each in declared.header_params]
        bodies = [
            (each.name, get_args(each.field_info.annotation)[0], not each.field_info.is_required())
            for each in declared.body_params
        ]
        taken_in = len(declared.path_params) + len(headers) + len(bodies) + len(dependencies)
        if taken_in != len(signature(endpoint).parameters):
            raise TypeError(f"{endpoint.__name__} has parameters that are not taken in here")

        async def handle(request: Request) -> Response:
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
    """Call an asynchronous dependency, either of the request or of its query, as text."""
    call = cast("Callable[..., Coroutine[Any, Any, Any]]", dependency.call)
    if not dependency.query_params:
        return call
    query = [(each.name, each.alias, each.default) for each in dependency.query_params]

    def take(request: Request) -> Coroutine[Any, Any, Any]:
        return call(**{name: request.query_params.get(alias, default) for name, alias, default in query})

    return take
