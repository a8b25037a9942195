"""What was sent is shown as people write it, and is the same number when it is sent again."""

import json
import re
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.api.json_codec import canonical_text, decode
from app.dp.numbers.exact import NUMBER
from app.json_text import encode_json
from app.services.rendering.written_numbers import read_canonical_number

sent = st.from_regex(
    re.compile(r"-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?", re.ASCII), fullmatch=True
)


def show(number: str) -> str:
    stored = canonical_text(decode(number.encode()))
    return encode_json({"bounds": [json.loads(stored, parse_float=read_canonical_number)]}).decode()[11:-2]


@given(sent)
def test_what_is_shown_is_read_as_the_same_number(number: str) -> None:
    assume(abs(Decimal(number)) < Decimal("1e900"))  # larger ones are refused
    shown = show(number)
    assert NUMBER.fullmatch(shown), shown
    assert canonical_text(decode(shown.encode())) == canonical_text(decode(number.encode()))


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("50.0", "50"),
        ("5e-2", "0.05"),
        ("-0.0", "0"),
        ("1e-7", "1e-07"),
        ("12345678901234567890", "12345678901234567890"),
        ("-1e39", "-1" + "0" * 39),
        ("1e50", "1e+50"),
        ("99.99999999999999999", "99.99999999999999999"),
        ("-0.10000000000000000000000001", "-0.10000000000000000000000001"),
        ("9" * 40 + "." + "9" * 40, "9" * 40 + "." + "9" * 40),
        ("0." + "0" * 39 + "1e-999", "0." + "0" * 39 + "1e-999"),
    ],
)
def test_numbers_are_shown_as_people_write_them(number: str, shown: str) -> None:
    assert show(number) == shown
