"""Converts numbers to exact decimal texts for requests, since the service reads ε, bounds and edges exactly."""

from decimal import Decimal

Number = str | int | Decimal | float
"""The accepted types of numbers. A float stands for its shortest decimal, as Python prints it.

Examples:
    >>> from decimal import Decimal
    >>> [decimal_text(number) for number in ("0.10", 1, Decimal("1e-9"), 0.1)]
    ['0.10', '1', '1E-9', '0.1']
"""


def decimal_text(number: Number) -> str:
    """Return the decimal that a number stands for.

    Raises:
        TypeError: it is not a number; a bool is not one either.
        ValueError: it is NaN or infinite.

    Examples:
        >>> from snapledger_client import decimal_text
        >>> decimal_text(0.1)
        '0.1'
    """
    if isinstance(number, bool) or not isinstance(number, str | int | Decimal | float):
        raise TypeError(f"a number must be a str, an int, a Decimal or a float, not {type(number).__name__}")
    if isinstance(number, str):
        return number
    if not Decimal(number).is_finite():
        raise ValueError("a number must be finite")
    return repr(float(number)) if isinstance(number, float) else str(number)
