"""Numbers that people read: two digits of the error, the value to the same place, promises outwards."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapledger_client.formatting import format_level, format_value
from snapledger_client.rounding import format_epsilon, round_interval, round_measured

NUMBERS = st.floats(-1e12, 1e12)


def exact(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (4209.4, 115.2, ("4,209", "116")),
        (4204.05, 43.5569, ("4,204", "44")),
        (0.3141, 0.0123, ("0.314", "0.013")),
        (-0.0001, 0.5, ("0.00", "0.51")),
        (1.0, 0.0, None),
        (1.0, 1e300, None),
    ],
)
def test_a_value_has_the_place_of_its_error(value: float, error: float, shown: tuple[str, str] | None) -> None:
    assert round_measured(value, error) == shown


@given(NUMBERS, st.floats(1e-9, 1e9))
def test_what_is_shown_covers_what_is_promised(value: float, error: float) -> None:
    shown = round_measured(value, error)
    assert shown is not None
    middle, radius = map(exact, shown)
    assert middle - radius <= Fraction(repr(value)) - Fraction(repr(error))
    assert middle + radius >= Fraction(repr(value)) + Fraction(repr(error))


@given(NUMBERS, NUMBERS)
def test_an_interval_is_rounded_outwards(one: float, other: float) -> None:
    lower, upper = min(one, other), max(one, other)
    shown = round_interval(lower, upper)
    if shown is not None:
        assert exact(shown[0]) <= Fraction(repr(lower))
        assert exact(shown[1]) >= Fraction(repr(upper))


@pytest.mark.parametrize(
    ("epsilon", "up", "down"),
    [
        ("0.871099697", "0.872", "0.871"),
        ("5.128900303", "5.13", "5.12"),
        ("0.5", "0.5", "0.5"),
        ("1000", "1000", "1000"),
        ("9999.999999999", "10000", "9999.99"),
        ("499.9", "500", "499.9"),
        ("0.000000001", "0.000000001", "0.000000001"),
        ("0", "0", "0"),
        ("0.000", "0.000", "0.000"),
    ],
)
def test_a_cost_is_rounded_up_and_what_is_left_down(epsilon: str, up: str, down: str) -> None:
    assert format_epsilon(Decimal(epsilon)) == up
    assert format_epsilon(Decimal(epsilon), up=False) == down


def test_a_level_is_rounded_down() -> None:
    levels = [format_level(alpha) for alpha in (0.05, 0.01, 1 / 60, 1e-4, 1e-9, 1e-300)]
    assert levels == ["95 %", "99 %", "98.33 %", "99.99 %", "99.9999999 %", "99.99999999 %"]


def test_a_value_without_an_interval_is_shown_whole() -> None:
    assert [format_value(value) for value in (None, 1234.5)] == ["no value", "1,234.5"]
