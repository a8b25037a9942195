"""JSON in, with every number in a request kept as the decimal that was written.

A JSON number arrives as `JsonNumber`, its own text: no float is made of it, and no digits are lost or invented.
"""

import hashlib
import json
import re
from typing import Any, Final, NoReturn

from app.errors import InvalidRequestError, MalformedJsonError

MAX_JSON_VALUES: Final = 100_000
"""In one body: each takes some sixty bytes of memory, however short it is written."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # never tried twice, closed or not


class JsonNumber(str):
    """The text of a number literal, told apart from a JSON string."""

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
    """Refuse a body with more values than it may have, by the commas between them, before any value is made."""
    if body.count(b",") >= MAX_JSON_VALUES and _STRING.sub(b"", body).count(b",") >= MAX_JSON_VALUES:
        raise InvalidRequestError(("body", f"has too many values: at most {MAX_JSON_VALUES:,} are allowed"))


def decode(body: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    """Parse a body of UTF-8 JSON (RFC 8259; a member given twice is refused).

    Raises:
        MalformedJsonError: it is no JSON, is nested too deep, or holds NaN or Infinity.
        InvalidRequestError: it has too many values.
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
    """A form that equal decimals share: 1.0, 10e-1 and 1 are `1e0`, without writing an exponent out in zeros."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.lstrip("+-").partition(".")
    digits = (whole + decimals).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"
    power = int(exponent or 0) - len(decimals) + len(digits) - len(significant)
    return f"{'-' if mantissa.startswith('-') else ''}{significant}e{power}"


def canonical_text(value: Any) -> str:  # noqa: ANN401 - JSON is any value
    """A text that equal JSON values share, members in any order, numbers however they are written."""
    if isinstance(value, JsonNumber):
        return _canonical_number(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{canonical_text(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_text, value)) + "]"
    return json.dumps(value)


def fingerprint(path: str, canonical_body: str) -> bytes:
    """SHA-256 of a request at one path, by its body as `canonical` has it."""
    return hashlib.sha256(f"{path}\n{canonical_body}".encode()).digest()
