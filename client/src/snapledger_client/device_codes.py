"""The code that somebody enters at the provider to sign a program in (RFC 8628)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from snapledger_client.problems import SignInError
from snapledger_client.providers import is_private_url

_MIN_INTERVAL, _DEFAULT_INTERVAL, _MAX_INTERVAL = 1.0, 5.0, 60.0
_SLOW_DOWN_SECONDS = 5.0
_MAX_LASTS = 3_600.0
_MAX_CODE_LENGTH = 64


@dataclass(frozen=True)
class DeviceCode:
    """Where to enter which code to sign in, and until when.

    Examples:
        >>> from snapledger_client import DeviceCode
        >>> print(DeviceCode("WDJB-MJHT", "https://id.example.org/device", None, 600))
        To sign in, open https://id.example.org/device and enter the code WDJB-MJHT (within 10 minutes).
    """

    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in: float
    interval: float = field(default=_DEFAULT_INTERVAL, repr=False)
    secret: str = field(default="", repr=False)
    began: float = field(default_factory=time.monotonic, repr=False)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Self:
        """Return the code in a provider's answer.

        Raises:
            SignInError: the answer has none, or one that must not be shown.
        """
        shown, address, secret = (document.get(name) for name in ("user_code", "verification_uri", "device_code"))
        complete = document.get("verification_uri_complete")
        is_shown = isinstance(shown, str) and shown.isprintable() and 0 < len(shown) <= _MAX_CODE_LENGTH
        if not (is_shown and _is_shown(address) and isinstance(secret, str)):
            raise SignInError("The provider's answer has no code to sign in with.")
        lasts, interval = _seconds(document, "expires_in", 600.0), _seconds(document, "interval", _DEFAULT_INTERVAL)
        return cls(
            str(shown),
            str(address),
            complete if _is_shown(complete) else None,
            min(lasts, _MAX_LASTS),
            min(max(interval, _MIN_INTERVAL), _MAX_INTERVAL),
            secret,
        )

    @property
    def has_expired(self) -> bool:
        """Whether it is too late to enter the code.

        Examples:
            >>> DeviceCode("WDJB-MJHT", "https://id.example.org/device", None, expires_in=600).has_expired
            False
        """
        return time.monotonic() - self.began > self.expires_in

    def __str__(self) -> str:
        minutes = max(1, round(self.expires_in / 60))
        within = f"within {minutes} minute{'' if minutes == 1 else 's'}"
        return f"To sign in, open {self.verification_uri} and enter the code {self.user_code} ({within})."


def print_code(code: DeviceCode) -> None:
    """Print where to enter which code, at once, even if the output is a pipe."""
    print(code, flush=True)  # noqa: T201 - the person who waits for it reads the output


def _is_shown(url: object) -> bool:
    return isinstance(url, str) and url.isprintable() and " " not in url and is_private_url(url)


def _seconds(document: Mapping[str, Any], name: str, default: float) -> float:
    value = document.get(name)
    return float(value) if isinstance(value, int | float) and 0 <= value < float("inf") else default


def next_interval(interval: float, error: str) -> float:
    """Return the seconds until the next poll after an error that says to wait.

    `slow_down` adds five seconds; without an answer (an empty text), the interval doubles (RFC 8628, section 3.5).

    Raises:
        SignInError: nobody will allow it any more.
    """
    if error == "authorization_pending":
        return interval
    if error == "slow_down":
        return interval + _SLOW_DOWN_SECONDS
    if error == "":
        return min(interval * 2, _MAX_INTERVAL)
    if error == "access_denied":
        raise SignInError("The sign-in was refused or cancelled at the provider.")
    if error == "expired_token":
        raise expired()
    raise SignInError(f"The provider does not let this program sign anybody in: {error}.")


def expired() -> SignInError:
    """Return the error for a code that nobody entered in time."""
    return SignInError("Nobody entered the code in time: sign in again.")
