"""JSON as it was written, and fingerprints that equal values share."""

import pytest

from app.api.json_codec import JsonNumber, canonical_text, decode, fingerprint
from app.errors import MalformedJsonError


def test_numbers_keep_their_text() -> None:
    value = decode(b'{"a": 0.10, "b": [1e400, -0, 12345678901234567890123], "c": "0.10", "d": true}')
    assert value == {"a": "0.10", "b": ["1e400", "-0", "12345678901234567890123"], "c": "0.10", "d": True}
    assert isinstance(value["a"], JsonNumber)
    assert not isinstance(value["c"], JsonNumber)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"{",
        b"{'a': 1}",
        b'{"a": 1, "a": 1}',
        b"\xff",
        b"[" * 100_000,
        b"01",
        b"+1",
    ],
)
def test_what_is_no_json(body: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        decode(body)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a": 1, "b": 2}', b'{ "b":2, "a":1 }'),
        (b"1", b"1.0"),
        (b"1", b"10e-1"),
        (b"100", b"1E+2"),
        (b"0", b"-0.000e7"),
        (b"-0.5", b"-5e-1"),
        (b'"\\u00e9"', b'"\xc3\xa9"'),
    ],
)
def test_equal_values_share_a_fingerprint(one: bytes, other: bytes) -> None:
    assert fingerprint("/path", canonical_text(decode(one))) == fingerprint("/path", canonical_text(decode(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"1", b'"1"'),
        (b"1", b"true"),
        (b"0", b"false"),
        (b"null", b'"null"'),
        (b"[1, 2]", b"[2, 1]"),
        (b'{"a": null}', b"{}"),
        (b"1", b"-1"),
        (b"1e999", b"1e998"),
        (b'["a", "b"]', b'["a,b"]'),
    ],
)
def test_other_values_have_another(one: bytes, other: bytes) -> None:
    assert fingerprint("/path", canonical_text(decode(one))) != fingerprint("/path", canonical_text(decode(other)))


def test_another_path_has_another() -> None:
    assert fingerprint("/path", canonical_text(decode(b"1"))) != fingerprint("/other", canonical_text(decode(b"1")))
