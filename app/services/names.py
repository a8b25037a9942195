"""The grammar of names and ids. Text that does not match it is never used in a query."""

import re

from app.errors import NotFoundError

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,62}$"
NAMES_IN_WORDS = "a name has up to 63 lower-case letters, digits, - and _, and begins with a letter or a digit"
_is_name = re.compile(NAME_PATTERN).fullmatch
RELEASE_ID_PATTERN = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_is_release_id = re.compile(RELEASE_ID_PATTERN).fullmatch


def is_name(text: str) -> bool:
    """Whether the text may name a dataset or a principal."""
    return _is_name(text) is not None


def is_release_id(text: str) -> bool:
    """Whether the text may be the id of a release."""
    return _is_release_id(text) is not None


def require_name(text: str) -> str:
    """Return the text if it is a valid name of a dataset or a principal.

    Raises:
        NotFoundError: it is not a valid name.
    """
    return _require(NAME_PATTERN, text, NAMES_IN_WORDS)


def require_release_id(text: str) -> str:
    """Return the text if it is a valid id of a release.

    Raises:
        NotFoundError: it is not a valid id.
    """
    return _require(RELEASE_ID_PATTERN, text)


def _require(pattern: str, text: str, told: str = "") -> str:
    if re.fullmatch(pattern, text) is None:
        raise NotFoundError(told)
    return text
