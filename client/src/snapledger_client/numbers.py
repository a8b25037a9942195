"""Converts numbers to exact decimal texts for requests, since the service reads ε, bounds and edges exactly."""

import numbers
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Protocol, cast, runtime_checkable


@runtime_checkable
class Scalar(Protocol):
    """A number of numpy or pandas."""

    def item(self) -> Any: ...  # noqa: ANN401, D102 - numpy's own


Number = str | int | Decimal | float | Scalar
"""The accepted types of numbers. A float stands for its shortest decimal, as Python or numpy prints it.

Examples:
    >>> from decimal import Decimal
    >>> [decimal_text(number) for number in ("0.10", 1, Decimal("1e-9"), 0.1)]
    ['0.10', '1', '1E-9', '0.1']
"""


Value = Number | date
"""The accepted types of bounds, edges and values of filters: numbers, or dates and times, also those of pandas.

Examples:
    >>> from datetime import date
    >>> from snapledger_client import Value, mean
    >>> first: Value = date(2024, 1, 1)
    >>> mean("admitted", (first, "2024-12-31"))["bounds"]
    ['2024-01-01', '2024-12-31']
"""


def value_text(value: Value) -> str:
    """Return the decimal that a number stands for, or a date or a time in ISO 8601.

    Raises:
        TypeError: it is neither.
        ValueError: it is NaN, infinite or no time.
    """
    found: Any = value.item() if isinstance(value, Scalar) and type(value).__name__ == "datetime64" else value
    if not isinstance(found, date):
        return decimal_text(found)
    if found != found:  # noqa: PLR0124 - pandas' NaT is a datetime that equals nothing
        raise ValueError("NaT is no time")
    return found.isoformat()


def list_numbers(given: Number | Iterable[Number]) -> list[Number]:
    """Return one number or several as a list."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


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
    if isinstance(number, str):
        return number
    if isinstance(number, numbers.Integral) and not isinstance(number, bool):
        return str(int(number))
    if isinstance(number, numbers.Rational) or not isinstance(number, Decimal | numbers.Real):
        raise TypeError(f"a number must be a str, an int, a Decimal or a float, not {type(number).__name__}")
    if not Decimal(str(number)).is_finite():
        raise ValueError("a number must be finite")
    return repr(float(number)) if isinstance(number, float) else str(number)


def json_value(value: object) -> object:
    """Return a JSON value for what the json module does not write: a decimal, a numpy scalar, an array or a series.

    Raises:
        TypeError: it has none.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):
        return value_text(value)
    if isinstance(value, Iterable) and getattr(value, "shape", True) != ():
        return list(value)
    if isinstance(value, Decimal | numbers.Real) and not isinstance(value, numbers.Integral):
        return decimal_text(cast("Number", value))
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a JSON value")
