"""Entity tags, and the precondition of a change that it was made from the present state (If-Match, RFC 9110)."""

import hashlib
from collections.abc import Sequence
from typing import TypeAlias

from app.errors import PreconditionFailedError
from app.json_text import encode_json
from app.services.rendering.documents import Document

EntityTags: TypeAlias = Sequence[str]
"""The tags of an If-Match header, with their quotes; `*` alone matches whatever exists."""


def entity_tag(document: Document) -> str:
    """Return the strong entity tag of a document: equal documents have equal tags."""
    return f'"{hashlib.sha256(encode_json(document)).hexdigest()[:32]}"'


def require_match(wanted: EntityTags | None, document: Document | None) -> None:
    """Check the present state, in the transaction that changes it.

    Args:
        wanted: the tags of the states that may be changed; None if any may.
        document: the present state; None if the thing does not exist.

    Raises:
        PreconditionFailedError: the present state is another one.
    """
    if wanted is not None:
        require_tag(wanted, () if document is None else (entity_tag(document),))


def require_tag(wanted: EntityTags | None, present: EntityTags) -> None:
    """Do the same with the tags of the present state, one for each of its forms; none if the thing does not exist."""
    if wanted is not None and not (present and ("*" in wanted or not set(wanted).isdisjoint(present))):
        raise PreconditionFailedError
