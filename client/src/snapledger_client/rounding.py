"""Rounds numbers for people: two significant digits of the error or whole numbers, promises outwards.

The dashboard and the service's sentences round in the same way, so that one release reads alike everywhere.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from math import ceil, floor, isfinite, log10

ERROR_DIGITS = 2
EPSILON_DIGITS = 3
LEFT_DECIMALS = 2
MAX_WHOLE = 1e15  # a double beyond has no units
MIN_PLACE = -12


def find_place(error: float) -> int | None:
    """Return the exponent of the last digit to show beside an error, or None if rounding makes no sense."""
    if not (0 < error < MAX_WHOLE and isfinite(error)):
        return None
    place = min(0, floor(log10(error)) + 1 - ERROR_DIGITS)
    return place if place >= MIN_PLACE else None


def round_to(number: float, place: int, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    """Return a number rounded to a place, such as -1 for tenths."""
    return Decimal(repr(float(number))).quantize(Decimal(1).scaleb(place), rounding)


def write(number: Decimal) -> str:
    """Return a rounded number with its decimals and with thousands separators."""
    return f"{number or abs(number):,f}"  # no minus before a zero


def round_measured(value: float, error: float) -> tuple[str, str] | None:
    """Return a value and its error as texts; the error covers how far the value was rounded."""
    place = find_place(error)
    if place is None or abs(value) >= MAX_WHOLE:
        return None
    shown = round_to(value, place)
    moved = abs(Fraction(repr(float(value))) - Fraction(shown))
    steps = ceil((Fraction(repr(float(error))) + moved) * 10**-place)
    return write(shown), write(Decimal(steps).scaleb(place))


def round_interval(lower: float, upper: float, *, whole: bool = False) -> tuple[str, str] | None:
    """Return the ends of an interval as texts, rounded outwards: to two digits of half its width, or to whole ones."""
    place = 0 if whole else find_place((upper - lower) / 2)
    if place is None or max(abs(lower), abs(upper)) >= MAX_WHOLE:
        return None
    return write(round_to(lower, place, ROUND_FLOOR)), write(round_to(upper, place, ROUND_CEILING))


def round_value(value: float, lower: float | None, upper: float | None) -> str | None:
    """Return a value to the place of its interval as a text."""
    place = None if lower is None or upper is None else find_place((upper - lower) / 2)
    return None if place is None or abs(value) >= MAX_WHOLE else write(round_to(value, place))


def format_epsilon(epsilon: Decimal, *, up: bool = True) -> str:
    """Return an ε with three significant digits: what is spent rounded up, to the unit at least, what is left down.

    What is left is told to hundredths at least, so that it shows what was paid of a large budget.
    """
    place = min(epsilon.adjusted() + 1 - EPSILON_DIGITS, 0 if up else -LEFT_DECIMALS)
    exponent = epsilon.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= place:
        return f"{epsilon:f}"
    rounded = epsilon.quantize(Decimal(1).scaleb(place), ROUND_CEILING if up else ROUND_FLOOR)
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
