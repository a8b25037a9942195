"""The parameters of routes: the caller, and a body or a query that is read but not yet validated.

A route decides 401, 404 and 403 before it validates the body, so a refusal never reveals more than the caller may
know. Nothing in this module blocks: the routes themselves run in threads.
"""

import re
from collections.abc import Callable, Coroutine, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from threading import Lock
from typing import Annotated, Any, Generic, TypeVar, cast, get_args

from cachetools import LRUCache, cached
from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPBearer
from pydantic import BaseModel, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema
from starlette.responses import Response

from app.api.json_codec import canonical_text, decode, fingerprint
from app.api.middleware.authentication import CREDENTIAL
from app.api.query_parameters import StrictRoute, parameters_of, require_known
from app.api.request_bodies import read_json, require_media_type
from app.api.schemas.base import validate
from app.errors import InvalidRequestError, MalformedJsonError, NotFoundError
from app.services import access
from app.services.access import Access, Credential
from app.services.context import Services
from app.services.preconditions import EntityTags, Precondition
from app.services.releasing.replays import IdempotencyKey

Model = TypeVar("Model", bound=BaseModel)

MAX_KEY_LENGTH = 255
MAX_SEARCH_LENGTH = 255
MAX_CACHE_BYTES = 2**25
"""The limit on all cached bodies together, parsed values included."""

LARGE_BODY_BYTES = 2**16
"""Each process parses longer bodies one at a time, so that a short body waits for at most one of them."""

_large_bodies = Lock()
_BYTES_PER_BODY, _BYTES_PER_BYTE = 6_000, 100  # two bytes of JSON, such as `1,`, become a text and a fraction


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads figures: the caller's credential, or None without a key; and the services."""

    credential: Credential | None
    services: Services


async def _read_reader(request: Request) -> Reader:
    return Reader(request.scope[CREDENTIAL], request.app.state.services)


ReaderOf = Annotated[Reader, Depends(_read_reader)]


async def _read_base_path(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


async def _read_base_address(request: Request) -> str:
    """Return the configured address and the path; the header Host is the caller's, so nothing follows from it."""
    services: Services = request.app.state.services
    return (services.settings.public_url or "") + await _read_base_path(request)


async def _read_frame_ancestors(request: Request) -> Sequence[str]:
    services: Services = request.app.state.services
    return services.settings.figures_frame_ancestors


BasePathOf = Annotated[str, Depends(_read_base_path)]
"""The path of the service on its host, empty at the root."""

FrameAncestorsOf = Annotated[Sequence[str], Depends(_read_frame_ancestors)]
"""The origins whose pages may show figures in a frame."""

BaseAddressOf = Annotated[str, Depends(_read_base_address)]
"""The service's configured address with its path, or the path alone, without a slash at its end."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller's credential, and the services that it calls."""

    credential: Credential
    services: Services

    def enter(self, name: str, keys: Sequence[str] | None = None) -> Access:
        """Return the caller's access to a dataset, and whether it has used the request's idempotency key before.

        Raises:
            UnauthenticatedError: the credential is not valid.
            NotFoundError: the dataset does not exist, or the caller may not see it.
        """
        with self.services.database.read_without_transaction() as session:
            return access.enter(session, self.credential, name, keys[0] if keys else None)


async def _read_caller(request: Request) -> Caller:
    return Caller(request.scope[CREDENTIAL], request.app.state.services)


CallerOf = Annotated[Caller, Depends(_read_caller)]

BEARER = Depends(
    HTTPBearer(scheme_name="key", description="A principal's key, or a token of its provider.", auto_error=False)
)
"""Describes authentication in the OpenAPI document; `AuthenticationGate` checks the credential before any route."""


@dataclass(frozen=True)
class _ParsedBody(Generic[Model]):
    """A body as its model and as its JSON value; `size` is in bytes."""

    model: Model
    value: Any
    size: int

    @cached_property
    def canonical(self) -> str:
        """The canonical text, which is the same for equal JSON values."""
        return canonical_text(self.value)


@cached(
    LRUCache(MAX_CACHE_BYTES, getsizeof=lambda read: _BYTES_PER_BODY + _BYTES_PER_BYTE * read.size),
    key=lambda *asked: asked,
    lock=Lock(),
)
def _parse_body(model: type[Model], body: bytes) -> _ParsedBody[Model]:
    """Parse and validate a body. The result is cached, because dashboards send the same bytes again and again."""
    with _large_bodies if len(body) > LARGE_BODY_BYTES else nullcontext():
        value = decode(body)
        return _ParsedBody(validate(model, value), value, len(body))


class JsonBody(Generic[Model]):
    """A body that stays bytes until the route calls `validate`. FastAPI documents it as a body of the model."""

    __slots__ = ("_bytes", "_headers", "_model", "_optional", "_path")

    def __init__(self, model: type[Model], request: Request, body: bytes, *, optional: bool) -> None:
        self._model, self._path, self._headers = model, request.scope["path"], request.headers
        self._bytes, self._optional = body, optional

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Return the schema of the model."""
        return handler(get_args(source)[0])

    def validate(self) -> Model:
        """Return the body as its model.

        Raises:
            UnsupportedMediaError: the Content-Type is not JSON, or the body is compressed.
            MalformedJsonError: the body is not JSON.
            InvalidRequestError: the body does not fit the model.
        """
        if self._optional and not self._bytes:
            return self._model()
        require_media_type(self._headers, "application/json")
        model: Model = _parse_body(self._model, self._bytes).model
        return model

    def value(self) -> Any:  # noqa: ANN401 - JSON is any value
        """Return the body's JSON value, in which numbers are the decimals that were written."""
        return _parse_body(self._model, self._bytes).value

    def asks_for_rehearsal(self) -> bool:
        """Return whether the body is an object with `"rehearse": true`, whatever else is in it."""
        try:
            value = decode(self._bytes)
        except (MalformedJsonError, InvalidRequestError):
            return False
        return isinstance(value, dict) and value.get("rehearse") is True

    def fingerprint(self) -> bytes:
        """Return the fingerprint that an idempotency key is bound to: of the path and the JSON value of the body."""
        return fingerprint(self._path, _parse_body(self._model, self._bytes).canonical)


def validate_question(entered: Access, body: JsonBody[Model]) -> Model:
    """Return the body of a request for releases, once the caller may make them, or may plan and asks for a rehearsal.

    Raises:
        ForbiddenError: the caller may not do what it asks for.
        As `JsonBody.validate`.
    """
    if entered.allowance is None and body.asks_for_rehearsal():
        entered.require_planning()
    else:
        entered.require_allowance()
    return body.validate()


NumberInPath = Annotated[str, WithJsonSchema({"type": "integer", "minimum": 1})]


def number_in_path(text: str) -> int:
    """Return the number of something in a numbered list.

    Raises:
        NotFoundError: it is not a number.
    """
    if re.fullmatch("[1-9][0-9]{0,17}", text):
        return int(text)
    raise NotFoundError


@dataclass(frozen=True, slots=True)
class Search:
    """What a list's items have to contain."""

    raw: str

    @property
    def text(self) -> str:
        """The text.

        Raises:
            InvalidRequestError: it is longer than 255 characters, or has control characters.
        """
        if len(self.raw) <= MAX_SEARCH_LENGTH and (self.raw.isprintable()):
            return self.raw
        raise InvalidRequestError(("search", f"must be at most {MAX_SEARCH_LENGTH} printable characters"))


async def _read_search(
    search: Annotated[
        str,
        Query(description="List only what has this text in its name or title, in any case."),
        WithJsonSchema({"type": "string", "maxLength": MAX_SEARCH_LENGTH}),
    ] = "",
) -> Search:
    return Search(search)


SearchOf = Annotated[Search, Depends(_read_search)]


MIN_REFRESH_SECONDS, MAX_REFRESH_SECONDS = 10, 86_400


@dataclass(frozen=True, slots=True)
class Refresh:
    """How often a page is to be loaded again."""

    raw: str

    @property
    def seconds(self) -> int | None:
        """The time between two loads; None if it is not to be loaded again.

        Raises:
            InvalidRequestError: it is not a whole number from 10 to 86,400.
        """
        if not self.raw:
            return None
        if re.fullmatch("[0-9]{1,5}", self.raw) and MIN_REFRESH_SECONDS <= int(self.raw) <= MAX_REFRESH_SECONDS:
            return int(self.raw)
        raise InvalidRequestError(
            ("refresh", f"must be a whole number of seconds from {MIN_REFRESH_SECONDS} to {MAX_REFRESH_SECONDS:,}")
        )


async def _read_refresh(
    refresh: Annotated[
        str,
        Query(description="After how many seconds a browser loads the page again."),
        WithJsonSchema({"type": "integer", "minimum": MIN_REFRESH_SECONDS, "maximum": MAX_REFRESH_SECONDS}),
    ] = "",
) -> Refresh:
    return Refresh(refresh)


RefreshOf = Annotated[Refresh, Depends(_read_refresh)]


REQUEST_STATES = ("open", "granted", "declined")


@dataclass(frozen=True, slots=True)
class RequestState:
    """Which requests for budget the caller wants to see."""

    raw: str

    @property
    def name(self) -> str | None:
        """The state, or None for all.

        Raises:
            InvalidRequestError: there is no such state.
        """
        if self.raw and self.raw not in REQUEST_STATES:
            raise InvalidRequestError(("state", f"must be one of {', '.join(REQUEST_STATES)}"))
        return self.raw or None


async def _read_request_state(
    state: Annotated[
        str,
        Query(description="List only the requests in this state; without it, all of them."),
        WithJsonSchema({"type": "string", "enum": list(REQUEST_STATES)}),
    ] = "",
) -> RequestState:
    return RequestState(state)


StateOf = Annotated[RequestState, Depends(_read_request_state)]


GRANTS = ("spend", "view")


@dataclass(frozen=True, slots=True)
class Grant:
    """What the caller wants to grant."""

    raw: str

    @property
    def is_view(self) -> bool:
        """Whether it is the sight of figures, and not an allowance.

        Raises:
            InvalidRequestError: nothing of that name is granted.
        """
        if self.raw not in GRANTS:
            raise InvalidRequestError(("to", f"must be one of {', '.join(GRANTS)}"))
        return self.raw == "view"


async def _read_grant(
    to: Annotated[
        str,
        Query(description="What is to be granted: `spend`, an allowance; or `view`, the sight of the figures."),
        WithJsonSchema({"type": "string", "enum": list(GRANTS)}),
    ] = "spend",
) -> Grant:
    return Grant(to)


GrantOf = Annotated[Grant, Depends(_read_grant)]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a ledger the caller wants to have verified."""

    entered: str | bool

    @property
    def incremental(self) -> bool:
        """Whether to check only what follows the latest verified entry.

        Raises:
            InvalidRequestError: it is neither true nor false.
        """
        if str(self.entered).lower() not in {"true", "false"}:
            raise InvalidRequestError(("incremental", "must be true or false"))
        return str(self.entered).lower() == "true"


async def _read_extent(
    *,
    incremental: Annotated[
        str | bool,
        Query(description="Check only what follows the latest verified entry."),
        WithJsonSchema({"type": "boolean"}),
    ] = False,
) -> Extent:
    return Extent(incremental)


ExtentOf = Annotated[Extent, Depends(_read_extent)]

KeyHeaders = Annotated[
    list[str] | None,
    Header(
        alias="Idempotency-Key",
        description=(
            "Stores the answer under this key. The same request with the same key gets the stored answer again, byte "
            "for byte, with `Idempotency-Replayed: true` and at no cost. Required with `reuse: false`. A rehearsal "
            "neither looks it up nor stores it."
        ),
    ),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH}),
]
"""All values of the header Idempotency-Key: more than one is refused."""


def idempotency_key(headers: list[str] | None, body: JsonBody[Any]) -> IdempotencyKey | None:
    """Return the idempotency key with the fingerprint of its request; None if no key was sent.

    Raises:
        InvalidRequestError: the header was sent twice, or is not 1 to 255 printable ASCII characters.
    """
    if not headers:
        return None
    key = headers[0]
    if len(headers) > 1 or not 1 <= len(key) <= MAX_KEY_LENGTH or not (key.isascii() and key.isprintable()):
        raise InvalidRequestError(
            ("Idempotency-Key", f"must be sent once, with 1 to {MAX_KEY_LENGTH} printable ASCII characters")
        )
    return IdempotencyKey(key, body.fingerprint())


IfMatchHeaders = Annotated[
    list[str] | None,
    Header(
        alias="If-Match",
        description=(
            "Changes it only if it still has this `ETag`; otherwise the answer is 412. With `*`, only if it exists."
        ),
    ),
    WithJsonSchema({"type": "string"}),
]
"""All values of the header If-Match."""

IfNoneMatchHeaders = Annotated[
    list[str] | None,
    Header(
        alias="If-None-Match",
        description="With `*`, makes it only if it does not exist; otherwise the answer is 412. Nothing else is valid.",
    ),
    WithJsonSchema({"type": "string", "const": "*"}),
]
"""All values of the header If-None-Match of a change."""

_ENTITY_TAG = r'(?:W/)?"[\x21\x23-\x7e]*"'


def read_precondition(if_match: list[str] | None, if_none_match: list[str] | None = None) -> Precondition:
    """Return what the headers of a change require. A weak tag (`W/"…"`) is one that never matches.

    Raises:
        InvalidRequestError: If-Match is neither `*` nor a list of entity tags, or If-None-Match is not `*`.
    """
    if if_none_match and ",".join(if_none_match).strip() != "*":
        raise InvalidRequestError(
            ("If-None-Match", "must be *, to make what does not exist; to change what you read, send If-Match")
        )
    return Precondition(_read_tags(if_match), is_new=bool(if_none_match))


def _read_tags(headers: list[str] | None) -> EntityTags | None:
    if not headers:
        return None
    text = ",".join(headers).strip()
    if text == "*":
        return ["*"]
    tags = [tag.strip() for tag in text.split(",")]
    if not all(re.fullmatch(_ENTITY_TAG, tag) for tag in tags):
        raise InvalidRequestError(("If-Match", "must be the `ETag` that you read, with its quotes, or *"))
    return tags


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
