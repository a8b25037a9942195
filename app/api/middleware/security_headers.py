"""The security headers of every response."""

from typing import Final

_HEADERS: Final = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
_UNLESS_SAID: Final = (  # pages set their own; an error response instead of a page does not
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-site"),  # browsers send a known password with pictures of other pages
)


def list_missing_headers(own: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the security headers that a response with the headers `own` does not set itself."""
    said = {name for name, _ in own}
    return [*_HEADERS, *(header for header in _UNLESS_SAID if header[0] not in said)]
