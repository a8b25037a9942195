"""Rounds numbers for people: two significant digits of the error, the value to the same place, intervals outwards."""

import math

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, json_number, to_nearest_double

_ERROR_DIGITS = 2
_MAX_WHOLE = 10**15  # larger numbers are written with an exponent
MAX_DECIMALS = 15
_SMALL_ALPHA = mpq(1, 10**4)


def round_up_to(size: Rational, step: Rational) -> Rational:
    """Return the smallest multiple of the step that is not below the size."""
    return (size / step).__ceil__() * step


def round_down_to(size: Rational, step: Rational) -> Rational:
    """Return the largest multiple of the step that is not above the size."""
    return (size / step).__floor__() * step


def round_to(size: Rational, step: Rational) -> Rational:
    """Return the multiple of the step that is nearest to the size."""
    return round(size / step) * step


def rounding_step(error: Rational) -> Rational:
    """Return the place of an error's second significant digit as a power of ten, at most 1 for errors below 10¹⁵."""
    place = math.floor(math.log10(to_nearest_double(error))) + 1 - _ERROR_DIGITS
    return mpq(10) ** (place if error >= _MAX_WHOLE else min(place, 0))


def confidence_text(alpha: Rational) -> str:
    """Return 1 - α in percent, rounded down: `95 %`; with two decimals, or with eight above 99.99 %."""
    unit = mpq(1, 10**8 if alpha < _SMALL_ALPHA else 100)
    return f"{json_number(round_down_to(100 * (1 - alpha), unit))} %"


def number_text(number: Rational, step: Rational) -> str:
    """Return a multiple of the step with all its decimals and with commas between thousands: `4,209` or `0.30`."""
    decimals = len(str(step.denominator)) - 1
    if abs(number) >= _MAX_WHOLE or decimals > MAX_DECIMALS:
        return str(json_number(number))
    whole, part = divmod(abs(int(number / step)), 10**decimals)
    return f"{'-' if number < 0 else ''}{whole:,}" + (f".{part:0{decimals}d}" if decimals else "")
