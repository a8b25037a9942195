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
from typing import Annotated, Any, Generic, TypeVar

from cachetools import LRUCache, cached
from fastapi import Depends, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import Headers
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
    """A body as bytes, until `validated` is asked for."""

    __slots__ = ("_bytes", "_headers", "_model", "_optional", "_path")

    def __init__(self, model: type[Model], path: str, headers: Headers, body: bytes, *, optional: bool) -> None:
        self._model, self._path, self._headers, self._bytes, self._optional = model, path, headers, body, optional

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


def json_body(model: type[Model], *, optional: bool = False) -> Any:  # noqa: ANN401 - FastAPI's marker
    """A dependency that reads the body and leaves it to the route to validate; none is the model's defaults."""

    async def read(request: Request) -> JsonBody[Model]:
        return JsonBody(model, request.scope["path"], request.headers, await read_json(request), optional=optional)

    return Depends(read)


@dataclass(frozen=True, slots=True)
class Page:
    """The query of a list, until `limit` and `after` are asked for."""

    raw_limit: str | None
    after: str | None

    @property
    def limit(self) -> int:
        """How many to list.

        Raises:
            InvalidRequestError: it is no whole number from 1 to 1,000.
        """
        if self.raw_limit is None:
            return DEFAULT_PAGE
        if re.fullmatch("[0-9]{1,4}", self.raw_limit) and 1 <= int(self.raw_limit) <= LARGEST_PAGE:
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


async def _read_page(request: Request) -> Page:
    """The query of a list."""
    query = request.query_params
    return Page(query.get("limit"), query.get("after"))


PageOf = Annotated[Page, Depends(_read_page)]


async def _read_key_headers(request: Request) -> list[str]:
    """The headers that may hold an idempotency key."""
    return request.headers.getlist("idempotency-key")


KeyHeaders = Annotated[list[str], Depends(_read_key_headers)]


def idempotency_key(headers: list[str], body: JsonBody[Any]) -> Key | None:
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
    """A route whose parameters are those of its path and what this module takes in, each from the request alone.

    They are taken in here: FastAPI's way through any kind of dependency costs as much as a plan does.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request: the parameters, then the route itself in a thread."""
        wanted: list[tuple[str, Any]] = [(str(each.name), each.call) for each in self.dependant.dependencies]
        if len(wanted) + len(self.dependant.path_params) != len(signature(self.endpoint).parameters):
            raise TypeError(f"{self.endpoint.__name__} has parameters that are not taken in here")

        async def handle(request: Request) -> Response:
            taken = {name: await take(request) for name, take in wanted}
            response: Response = await request.app.state.answer(self.endpoint, **request.path_params, **taken)
            return response

        return handle
