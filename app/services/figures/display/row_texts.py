"""A row's number and interval as people read them."""

from collections.abc import Mapping, Sequence
from typing import Any

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.services.rendering.rounded_numbers import number_text, round_down_to, round_to, round_up_to, rounding_step

_EXACT = mpq(1, 10**6)
UNDEFINED = "undefined"


def _step_of(row: Mapping[str, Any]) -> Rational:
    """Return the place to round to: of the second digit of half the interval; counts are whole."""
    if row["measure"] == "count":
        return mpq(1)
    lower, upper = row["interval_lower"], row["interval_upper"]
    half = None if lower is None or upper is None else (mpq(upper) - mpq(lower)) / 2
    return rounding_step(half or max(abs(mpq(row["value"] or 1)) / 1000, _EXACT))


def value_text(row: Mapping[str, Any]) -> str:
    """Return the value: `4,209`, `2024-05-01`, `2024-05-01 14:00:00` or `undefined`."""
    if row["value"] is None:
        return UNDEFINED
    if row["value_as_date"] is not None:
        return _date_text(row["value_as_date"])
    step = _step_of(row)
    return number_text(round_to(mpq(row["value"]), step), step)


def unit_text(row: Mapping[str, Any]) -> str:
    """Return the unit of the value, or nothing if there is no value, or a date."""
    return "" if row["value"] is None or row["value_as_date"] is not None else row["unit"] or ""


def interval_text(row: Mapping[str, Any]) -> str:
    """Return the interval, rounded outwards: `4,093 to 4,326`, `at least 3`, or nothing if it is unbounded.

    That of a date has dates: `2024-07-02 to 2024-07-04`.
    """
    first, last = row["interval_lower_as_date"], row["interval_upper_as_date"]
    if row["value_as_date"] is not None or first is not None:
        return "" if first is None else f"{_date_text(first)} to {_date_text(last)}"
    lower, upper, step = row["interval_lower"], row["interval_upper"], _step_of(row)
    low = None if lower is None else number_text(round_down_to(mpq(lower), step), step)
    high = None if upper is None else number_text(round_up_to(mpq(upper), step), step)
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""


def shared_conditions(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the conditions of all rows, which may be empty, or None if they are not the same."""
    found = {row["conditions"] for row in rows} or {""}
    return found.pop() if len(found) == 1 else None


def _date_text(date: str) -> str:
    return date.replace("T", " ")


def label_of(row: Mapping[str, Any]) -> str:
    """Return the row's label, after its group if it has another one."""
    group, label = row["group"], row["label"]
    return label if group in {None, label} else f"{group} · {label}"
