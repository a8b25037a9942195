"""Entity tags, and what a change requires of the present state (If-Match and If-None-Match, RFC 9110)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from app.errors import AlreadyExistsError, PreconditionFailedError
from app.json_text import encode_json
from app.services.rendering.documents import Document

EntityTags: TypeAlias = Sequence[str]
"""Entity tags with their quotes."""


def entity_tag(document: Document) -> str:
    """Return the strong entity tag of a document: equal documents have equal tags."""
    return content_tag(encode_json(document))


def content_tag(content: bytes) -> str:
    """Return the strong entity tag of these bytes."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


@dataclass(frozen=True, slots=True)
class Precondition:
    """What a change requires of the present state. It is checked in the transaction that makes the change.

    Attributes:
        tags: of the states that may be changed, where `*` alone matches whatever exists; None if any may.
        is_new: whether the thing must not exist yet.
    """

    tags: EntityTags | None = None
    is_new: bool = False

    def require_document(self, document: Document | None) -> None:
        """Check a thing that is this document, or does not exist.

        Raises:
            PreconditionFailedError: it has none of the wanted tags.
            AlreadyExistsError: it exists, and must not.
        """
        if self.tags is not None or self.is_new:
            self.require_tags(() if document is None else (entity_tag(document),))

    def require_tags(self, present: EntityTags) -> None:
        """Do the same with the tags of the present state, one for each of its forms; none if it does not exist."""
        if self.tags is not None and not (present and ("*" in self.tags or not set(self.tags).isdisjoint(present))):
            raise PreconditionFailedError
        self.require_new(exists=bool(present))

    def require_new(self, *, exists: bool) -> None:
        """Check a thing that has no entity tag.

        Raises:
            AlreadyExistsError: it exists, and must not.
        """
        if self.is_new and exists:
            raise AlreadyExistsError


ANY_STATE: Final = Precondition()
"""Requires nothing."""
