"""Decides when a call is sent again, and after how long. Both clients use these functions.

A repeatable call is sent again if its response was lost (in the network, or with a proxy's 502 or 504) or was a 503.
Every release is repeatable, since it has an idempotency key. Any other call is sent again only if it certainly had no
effect: it was never sent, or the response was a 429. Any other error is final.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from snapledger_client.calls import Call
from snapledger_client.problems import Unreachable

MAX_BACKOFF = 10.0  # seconds
MAX_RETRY_AFTER = 120.0  # seconds; for a longer wait the call fails, and the caller decides
_LOST_STATUSES = frozenset({502, 503, 504})

Outcome = httpx.Response | httpx.RequestError


@dataclass(frozen=True)
class RetryPolicy:
    """The maximum number of retries, and the first pause in seconds; each further pause is twice as long."""

    retries: int
    backoff: float

    def find_pause(self, call: Call[Any], attempt: int, outcome: Outcome) -> float | None:
        """Return the seconds to wait after attempt number `attempt` (from 0), or None if the outcome is final."""
        if attempt >= self.retries or not (call.can_be_sent_again and _is_retryable(call, outcome)):
            return None
        retry_after = _read_retry_after(outcome)
        if retry_after > MAX_RETRY_AFTER:
            return None
        jitter = random.uniform(0.5, 1)  # noqa: S311 - it spreads the retries of many callers, not for security
        backoff = min(self.backoff * 2.0**attempt, MAX_BACKOFF)
        return max(retry_after, backoff * jitter)


def _is_retryable(call: Call[Any], outcome: Outcome) -> bool:
    if isinstance(outcome, httpx.Response):
        return outcome.status_code == httpx.codes.TOO_MANY_REQUESTS or (
            call.repeatable and outcome.status_code in _LOST_STATUSES
        )
    never_sent = isinstance(outcome, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return not isinstance(outcome, httpx.UnsupportedProtocol) and (call.repeatable or never_sent)


def _read_retry_after(outcome: Outcome) -> float:
    """Return the seconds that `Retry-After` asks for, as a number or a date; 0 without the header."""
    text = outcome.headers.get("Retry-After", "") if isinstance(outcome, httpx.Response) else ""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return max((until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def make_unreachable(call: Call[Any], error: httpx.RequestError) -> Unreachable:
    """Return the error for a call that received no response."""
    at = _find_address(error)
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
        told = f"had no answer within the client's `timeout`{at and f' from {at}'}"
    elif isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        advice = "check the address (SNAPLEDGER_URL), the network, and whether the service runs"
        told = f"was not answered, since {at or 'the service'} was not reached ({_describe(error)}): {advice}"
    else:
        told = f"was not answered: the connection{at and f' to {at}'} failed ({_describe(error)}); try again"
    problem = Unreachable(f"{call.method} {call.path} {told}")
    problem.idempotency_key = call.key
    return problem


def _find_address(error: httpx.RequestError) -> str:
    """Return where a request was sent to, without a user's name and password; empty if that is not known."""
    try:
        url = error.request.url
    except RuntimeError:
        return ""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _describe(error: httpx.RequestError) -> str:
    return str(error) or type(error).__name__
