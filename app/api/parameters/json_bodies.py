"""JSON bodies that stay bytes until their route validates them.

A route decides 401, 404 and 403 first, so a refusal never reveals more than the caller may know.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar, get_args

from cachetools import LRUCache, cached
from fastapi import Request
from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from app.api.json_codec import canonical_text, decode, fingerprint
from app.api.request_bodies import require_media_type
from app.api.schemas.base import validate
from app.errors import InvalidRequestError, MalformedJsonError
from app.services.access import Access

Model = TypeVar("Model", bound=BaseModel)

MAX_CACHE_BYTES = 2**25
"""The limit on all cached bodies together, parsed values included."""

LARGE_BODY_BYTES = 2**16
"""Each process parses longer bodies one at a time, so that a short body waits for at most one of them."""

_large_bodies = Lock()
_BYTES_PER_BODY, _BYTES_PER_BYTE = 6_000, 100  # two bytes of JSON, such as `1,`, become a text and a fraction


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
