"""Values that a browser keeps for the service and can neither read nor change: encrypted, and with a time of expiry."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

_MAX_BYTES: Final = 2**16


class ValueSealer:
    """Encrypts values with the first of its keys, and decrypts with any of them (Fernet: AES-128-CBC and HMAC-SHA-256).

    Args:
        keys: of 32 bytes each, the current one first.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._fernet = MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])

    def seal(self, purpose: str, members: Mapping[str, Any]) -> str:
        """Return the members as an encrypted text."""
        return self._fernet.encrypt(zlib.compress(json.dumps([purpose, members]).encode())).decode()

    def unseal(self, purpose: str, text: str, max_age_seconds: int) -> dict[str, Any] | None:
        """Return the members of a text that `seal` returned for the same purpose; None if it is another or too old."""
        try:
            packed = zlib.decompressobj()
            plain = packed.decompress(self._fernet.decrypt(text.encode(), ttl=max_age_seconds), _MAX_BYTES)
            sealed_for, members = json.loads(plain)
        except (InvalidToken, ValueError, zlib.error, RecursionError):
            return None
        return members if sealed_for == purpose else None
