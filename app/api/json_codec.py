"""A JSON decoder for requests that keeps every number as the decimal that was written.

A number becomes a `JsonNumber`, which holds its text. It is never converted to a float, so it loses no digits.
"""

import hashlib
import json
import re
from typing import Any, Final, NoReturn

from app.errors import InvalidRequestError, MalformedJsonError

MAX_JSON_VALUES: Final = 100_000
"""The limit for one body: each value takes about sixty bytes of memory, however short its text is."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # possessive: no backtracking, so the time is linear


class JsonNumber(str):
    """The text of a JSON number; its type distinguishes it from a JSON string."""

    __slots__ = ()


def _refuse_constant(_: str) -> NoReturn:
    raise MalformedJsonError("NaN and Infinity are not JSON numbers.")


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedJsonError("An object has the same member twice.")
    return members


_decoder = json.JSONDecoder(
    parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=_refuse_constant, object_pairs_hook=_build_object
)


def _require_few_values(body: bytes) -> None:
    """Refuse a body with too many values. It counts commas outside strings, so no value is built before the check."""
    if body.count(b",") >= MAX_JSON_VALUES and _STRING.sub(b"", body).count(b",") >= MAX_JSON_VALUES:
        raise InvalidRequestError(("body", f"has too many values: at most {MAX_JSON_VALUES:,} are allowed"))


def decode(body: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    """Parse a body of UTF-8 JSON (RFC 8259; a duplicate member is an error).

    Raises:
        MalformedJsonError: the body is not JSON, is nested too deeply, or contains NaN or Infinity.
        InvalidRequestError: the body has too many values.
    """
    _require_few_values(body)
    try:
        return _decoder.decode(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedJsonError("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"Syntax error at line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise MalformedJsonError("The body is nested too deeply.") from None


def _canonical_number(text: str) -> str:
    """Return the same text for equal decimals: 1.0, 10e-1 and 1 become `1e0`. Exponents are never expanded."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.lstrip("+-").partition(".")
    digits = (whole + decimals).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"
    power = int(exponent or 0) - len(decimals) + len(digits) - len(significant)
    return f"{'-' if mantissa.startswith('-') else ''}{significant}e{power}"


def canonical_text(value: Any) -> str:  # noqa: ANN401 - JSON is any value
    """Return the same text for equal JSON values, whatever the order of members and the form of numbers."""
    if isinstance(value, JsonNumber):
        return _canonical_number(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{canonical_text(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    return json.dumps(value)


def fingerprint(path: str, canonical_body: str) -> bytes:
    """Return the SHA-256 of a request's path and its canonical body (`canonical_text`)."""
    return hashlib.sha256(f"{path}\n{canonical_body}".encode()).digest()
