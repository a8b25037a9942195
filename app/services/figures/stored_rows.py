"""Completes the stored rows of figures from before a column was added. What is stored stays as it was sealed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from gmpy2 import mpq

from app.dp.table.columns import Kind
from app.dp.table.dates import EPOCH, format_range
from app.services.figures.figure_rows import Row

_TIMES: Final = (Kind.HOURS, Kind.MINUTES, Kind.SECONDS)


def complete_rows(stored: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with all columns, in their order."""
    return [_complete_row(each) for each in stored]


def _complete_row(stored: Mapping[str, Any]) -> dict[str, Any]:
    row = {"conditions": "", **stored}
    if "interval_lower_as_date" not in stored:
        row["interval_lower_as_date"], row["interval_upper_as_date"] = _date_interval(stored)
    return {name: row[name] for name in Row._fields}


def _date_interval(stored: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the interval of a date as dates, or None twice if the value is no date, or an end is unknown."""
    lower, upper = stored["interval_lower"], stored["interval_upper"]
    kind = None if lower is None or upper is None else _find_kind(stored["value"], stored["value_as_date"])
    if kind is None:
        return None, None
    first, last = format_range(mpq(lower), mpq(upper), kind)
    return first, last


def _find_kind(value: float | None, date: str | None) -> Kind | None:
    """Return the kind of date of a number that is known as a date too, which says in what unit the number is."""
    if value is None or date is None or date.endswith("infinity"):
        return None
    if "T" not in date:
        return Kind.DATE
    seconds = (datetime.fromisoformat(date) - EPOCH).total_seconds()
    return next((kind for kind in _TIMES if abs(seconds / kind.seconds - value) <= 1), None)
