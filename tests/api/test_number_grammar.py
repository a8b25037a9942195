"""The number grammar, against Python's own exact numbers."""

import json
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from gmpy2 import mpq
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from app.api.json_codec import JsonNumber, canonical_text, decode, fingerprint
from app.api.schemas.field_types.numbers import Epsilon, EpsilonLimit, Number, to_exact
from app.ledger.units import MAX_EPSILON_NANO, epsilon_text

GRAMMAR = r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?"
numbers = st.from_regex(re.compile(GRAMMAR, re.ASCII), fullmatch=True)
json_numbers = st.from_regex(
    re.compile(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?", re.ASCII), fullmatch=True
)
almost = st.text(alphabet="0123456789+-.eE_ \n\u0663\uff11xnaif", max_size=100)
units = st.integers(min_value=0, max_value=MAX_EPSILON_NANO)
EPSILON, LIMIT, BOUND = TypeAdapter(Epsilon), TypeAdapter(EpsilonLimit), TypeAdapter(Number)


def as_fraction(text: str) -> Fraction:
    with localcontext(prec=200):
        return Fraction(Decimal(text))


def accepts(adapter: TypeAdapter[int], value: object) -> int | None:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None


@given(numbers)
@example("0e999")
@example("-0.0")
@example("9" * 40 + "." + "9" * 40 + "e-999")
def test_a_number_is_the_decimal_that_was_written(text: str) -> None:
    assert to_exact(text) == to_exact(JsonNumber(text)) == mpq(as_fraction(text))


@given(
    st.one_of(
        almost,
        st.text(max_size=50),
        numbers,
        numbers.map(lambda text: text + "\n"),
        numbers.map(lambda text: "1" + text),
    )
)
@example("1" * 41)
@example("1." + "1" * 41)
@example("1e1000")
@example("1.")
@example(".1")
def test_a_text_is_a_number_if_it_matches_whole(text: str) -> None:
    if re.compile(GRAMMAR, re.ASCII).fullmatch(text):
        assert to_exact(text) == mpq(as_fraction(text))
    else:
        with pytest.raises(Exception, match="must be a number"):
            to_exact(text)


@given(st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.lists(st.integers()), st.binary()))
def test_nothing_else_is_a_number(value: object) -> None:
    """`true` is no number; and no float ever gets this far."""
    with pytest.raises(Exception, match="must be a number"):
        to_exact(value)


@given(json_numbers)
def test_json_numbers_arrive_as_they_were_written(text: str) -> None:
    found = decode(f'{{"a": [{text}, "{text}"]}}'.encode())["a"]
    assert found == [text, text]
    assert [isinstance(one, JsonNumber) for one in found] == [True, False]


@given(json_numbers, json_numbers)
def test_equal_numbers_share_a_fingerprint_and_others_do_not(one: str, other: str) -> None:
    same = fingerprint("/p", canonical_text(decode(one.encode()))) == fingerprint(
        "/p", canonical_text(decode(other.encode()))
    )
    assert same == (as_fraction(one) == as_fraction(other))


@given(st.integers(-(10**30), 10**30), st.integers(-900, 900), st.integers(1, 9))
def test_every_spelling_of_a_number_has_its_fingerprint(mantissa: int, exponent: int, shift: int) -> None:
    spellings = [
        f"{mantissa}e{exponent}",
        f"{mantissa}.{'0' * shift}E{exponent:+}",
        f"{mantissa * 10**shift}e{exponent - shift}",
    ]
    assert len({fingerprint("/p", canonical_text(decode(spelling.encode()))) for spelling in spellings}) == 1


@given(units)
@example(0)
@example(1)
@example(10**9)
@example(MAX_EPSILON_NANO)
def test_an_epsilon_is_printed_and_read_exactly(nano: int) -> None:
    """A response gives every ε as a decimal string without exponent or trailing zeros."""
    text = epsilon_text(nano)
    assert re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", text)
    assert Fraction(text) == Fraction(nano, 10**9)
    assert LIMIT.validate_python(text) == LIMIT.validate_python(JsonNumber(text)) == nano
    assert accepts(EPSILON, text) == (nano or None)


@given(numbers)
@example("1e6")
@example("1000000.000000001")
@example("-0")
@example("1e-9")
@example("1e-10")
def test_an_epsilon_is_a_whole_number_of_units_in_its_range(text: str) -> None:
    """An ε is a whole number of units in (0, 10⁶], a limit in [0, 10⁶]."""
    nano = as_fraction(text) * 10**9
    in_range = nano.denominator == 1 and 0 <= nano <= 10**15
    assert accepts(LIMIT, text) == (nano if in_range else None)
    assert accepts(EPSILON, text) == (nano if in_range and nano else None)


@given(numbers)
def test_bounds_are_at_most_a_googol_in_size(text: str) -> None:
    """Bounds and edges: at most 10¹⁰⁰ in size."""
    number = as_fraction(text)
    assert accepts(BOUND, text) == (mpq(number) if abs(number) <= 10**100 else None)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_is_read_as_python_reads_it(value: object) -> None:
    assume(all(not 0xD800 <= ord(character) <= 0xDFFF for character in json.dumps(value, ensure_ascii=False)))
    assert decode(json.dumps(value).encode()) == value
    assert decode(json.dumps(value, ensure_ascii=False).encode()) == value
