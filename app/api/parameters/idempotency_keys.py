"""The header Idempotency-Key."""

from typing import Annotated, Any

from fastapi import Header
from pydantic import WithJsonSchema

from app.api.parameters.json_bodies import JsonBody
from app.errors import InvalidRequestError
from app.services.releasing.replays import IdempotencyKey

MAX_KEY_LENGTH = 255

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
