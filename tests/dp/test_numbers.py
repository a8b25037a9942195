"""Exact numbers become doubles, decimals and MPFR numbers in the direction that the function names."""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.numbers.exact import (
    decimal_text,
    down,
    half_ulp,
    json_number,
    json_probability,
    log_up,
    real,
    round_down,
    round_up,
    to_nearest_double,
    up,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
RATIONALS = st.builds(
    lambda numerator, denominator, exponent: mpq(numerator, denominator) * mpq(10) ** exponent,
    st.integers(-(10**30), 10**30),
    st.integers(1, 10**30),
    st.integers(-200, 200),
)


@given(RATIONALS)
def test_the_directions_bracket_the_number_with_neighbouring_doubles(q: mpq) -> None:
    lower, upper = round_down(q), round_up(q)
    assert mpq(lower) <= q <= mpq(upper)
    assert upper in {lower, math.nextafter(lower, math.inf)}
    assert to_nearest_double(q) == float(Fraction(int(q.numerator), int(q.denominator)))


@given(FINITE)
def test_a_double_is_its_own_rounding_in_every_direction(x: float) -> None:
    assert to_nearest_double(mpq(x)) == round_down(mpq(x)) == round_up(mpq(x)) == x


def test_subnormal_numbers_round_once() -> None:
    smallest = mpq(1, 2**1074)
    assert to_nearest_double(smallest * mpq(3, 2)) == 2 * 5e-324  # a tie, to the even one
    assert (round_down(smallest / 3), round_up(smallest / 3)) == (0.0, 5e-324)


def test_zero_is_positive() -> None:
    assert math.copysign(1, to_nearest_double(mpq(-1, 10**400))) == 1


@given(RATIONALS)
def test_half_an_ulp_bounds_what_rounding_moves_any_smaller_number(q: mpq) -> None:
    for smaller in (q, q * mpq(2, 3), -q / 7):
        assert abs(mpq(to_nearest_double(smaller)) - smaller) <= half_ulp(q)


def test_half_an_ulp_is_no_more_than_it_must_be() -> None:
    assert half_ulp(mpq(3)) == mpq(1, 2**52)
    assert half_ulp(mpq(-(2**53)) - 2) == 1


@pytest.mark.parametrize(
    ("q", "text"),
    [
        (mpq(0), "0"),
        (mpq(-7, 2), "-3.5"),
        (mpq(10) ** 40, "1" + 40 * "0"),
        (mpq(100), "100"),
        (mpq(1, 3), "0." + 50 * "3"),
        (mpq(2, 3), "0." + 49 * "6" + "7"),
        (mpq(1, 1024), "0.0009765625"),
        (mpq(1, 10**30), "0." + 29 * "0" + "1"),
        (mpq(10**50 + 5, 10), "1" + 49 * "0"),  # fifty-one digits: a tie, to the even one
        (mpq(10**50 + 15, 10), "1" + 48 * "0" + "2"),
    ],
)
def test_decimal_text(q: mpq, text: str) -> None:
    assert decimal_text(q) == text


@given(RATIONALS, st.integers(1, 60))
def test_decimal_text_is_rounded_to_its_digits(q: mpq, digits: int) -> None:
    text = decimal_text(q, digits)
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    assert Decimal(text) == context.divide(Decimal(int(q.numerator)), Decimal(int(q.denominator)))
    assert "E" not in text
    assert "." not in text or text[-1] not in "0."


def test_json_numbers_are_whole_where_they_are() -> None:
    assert repr([json_number(mpq(x)) for x in (5, 2**53, mpq(1, 2))]) == repr([5, 2**53, 0.5])
    assert isinstance(json_number(mpq(2**53 + 2)), float)


@given(RATIONALS, RATIONALS, st.integers(20, 300))
def test_mpfr_rounds_a_number_and_a_sum_with_it_in_the_direction_of_the_context(x: mpq, y: mpq, precision: int) -> None:
    below, above = down(precision), up(precision)
    start = real(x, below)
    assert mpq(start) <= x <= mpq(real(x, above))
    assert mpq(below.add(start, y)) <= mpq(start) + y <= mpq(above.add(start, y))


def test_the_context_of_the_thread_does_not_matter() -> None:
    import gmpy2  # noqa: PLC0415  this test alone touches the thread's context

    wide = log_up(mpq(3), 300)
    with gmpy2.context(precision=20, round=gmpy2.RoundDown):
        assert log_up(mpq(3), 300) == wide


def test_a_probability_is_never_shown_as_certain() -> None:
    assert json_probability(mpq(1, 20)) == 0.05
    assert json_probability(mpq(1)) == 1
    assert json_probability(mpq(1, 10**999)) == 5e-324
    assert json_probability(1 - mpq(1, 10**40)) == math.nextafter(1, 0)
