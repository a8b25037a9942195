"""Numbers of stored requests, shown as people write them and with all the digits that were sent."""

from decimal import Decimal

from app.json_text import NumberText

MAX_DIGITS = 40
"""The maximum number of digits before and after the decimal point of a number in a request."""

MAX_EXPONENT = 999
"""The largest exponent of a number in a request, of either sign."""


def read_canonical_number(number: str) -> float | NumberText:
    """Return a number of canonical JSON for a document: `5e1` as 50, `5e-2` as 0.05, and `1e50` as 1e+50.

    A request reads what is shown as the same number: what neither an `int` nor a `float` shows so keeps its digits.
    """
    mantissa, _, exponent = number.partition("e")
    digits, power = mantissa.lstrip("-"), int(exponent or 0)
    if power >= 0 and len(digits) + power <= MAX_DIGITS:
        return int(mantissa + "0" * power)
    double = float(number)
    if Decimal(repr(double)) == Decimal(number):
        return double
    is_plain = -MAX_DIGITS <= power < 0 and len(digits) + power <= MAX_DIGITS
    decimals = -power if is_plain else max(0, len(digits) - MAX_DIGITS, min(MAX_DIGITS, -MAX_EXPONENT - power))
    padded = digits.zfill(decimals + 1)
    place, rest = len(padded) - decimals, power + decimals
    point, scale = "." if decimals else "", f"e{rest}" if rest else ""
    return NumberText(f"{'-' * mantissa.startswith('-')}{padded[:place]}{point}{padded[place:]}{scale}")
