"""The headers of a change that is made only under a condition: If-Match and If-None-Match (RFC 9110)."""

import re
from typing import Annotated

from fastapi import Header
from pydantic import WithJsonSchema

from app.errors import InvalidRequestError
from app.services.preconditions import EntityTags, Precondition

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
