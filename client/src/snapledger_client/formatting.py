"""Formats numbers, intervals and statistics as text. `display` renders whole answers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

from snapledger_client.rounding import MAX_WHOLE, round_interval, round_measured, round_to, round_value, write

MAX_LISTED = 4  # values of a list that are shown in a line
ENDS = ("at_least", "above", "at_most", "below")
SHOWN_DIGITS = 6
BINNED_KINDS = frozenset({"histogram", "adaptive_histogram", "quantile_search"})


REHEARSAL = "Rehearsal with made-up data"
"""How an answer of made-up data is marked."""


def format_number(number: float) -> str:
    """Return a number for reading: six significant digits or all whole ones, with thousands separators."""
    return f"{number:,.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:,.6g}"


def format_radius_number(radius: float) -> str:
    """Return a bound of an error for reading, rounded up."""
    rounded = round_measured(0.0, radius)
    return format_number(radius) if rounded is None else rounded[1]


def format_measured(
    value: float, radius: float, alpha: float, unit: str | None = None, *, separators: bool = True
) -> str:
    """Return a value with its error: `4,204 ± 44 g (95 %)`."""
    rounded = round_measured(value, radius)
    shown, error = (format_number(value), format_number(radius)) if rounded is None else rounded
    if float(value).is_integer() and abs(value) < MAX_WHOLE:
        shown = f"{value:,.0f}"  # a count is whole
    if not separators:
        shown = shown.replace(",", "")
    return f"{shown} ± {append_unit(error, unit)} ({format_level(alpha)})"


def format_column_value(number: float | str) -> str:
    """Return a value of a column with all its digits and without separators, since it may be a year, or a date."""
    if isinstance(number, str):
        return number
    return f"{number:.0f}" if number == int(number) and abs(number) <= 1e15 else repr(number)


def format_person(name: str | None, display_name: str | None) -> str:
    """Return the name of a principal, after how people call it if an admin has set that."""
    return f"{display_name} ({name})" if display_name else name or ""


def describe_missing(column: Mapping[str, Any]) -> str:
    """Return whether values of a declared column may be missing, and what a missing one counts as in a mean or sum."""
    if not column.get("nullable", True):
        return "no"
    value = column.get("null_value", False if column["kind"] == "boolean" else None)
    if isinstance(value, bool):
        return f"as {str(value).lower()}"
    bounds = column.get("bounds")
    if value is None and bounds is not None and all(isinstance(bound, int | float) for bound in bounds):
        unit = 10 ** column.get("scale", 0)
        value = sum(bounds) / 2 if column["kind"] == "real" else ceil(sum(bounds) * unit / 2) / unit
    return "yes" if value is None else f"as {format_column_value(value)}"


def format_value(
    value: float | None, lower: float | None = None, upper: float | None = None, *, separators: bool = True
) -> str:
    """Return a value to the place of its interval; `no value` for None."""
    if value is None:
        return "no value"
    text = round_value(value, lower, upper) or format_number(value)
    return text if separators else text.replace(",", "")


def format_level(alpha: float) -> str:
    """Return the confidence level of an alpha, rounded down: `95 %`; with two decimals, or eight above 99.99 %."""
    decimals = 8 if alpha < 1e-4 else 2
    level = floor(10 ** (2 + decimals) * (1 - Fraction(repr(float(alpha)))))
    return f"{Decimal(level).scaleb(-decimals).normalize():f} %"


def append_unit(number: str, unit: str | None) -> str:
    """Return a number with its unit, if there is one."""
    return f"{number} {unit}" if unit else number


def format_radius(radius: float, alpha: float, unit: str | None = None, *, each: bool = False) -> str:
    """Return an error bar: `± 50 g (95 %)`, or `each ± 50 g (95 %)` if it holds for each of several numbers."""
    bar = f"± {append_unit(format_radius_number(radius), unit)} ({format_level(alpha)})"
    return f"each {bar}" if each else bar


def format_promise(radius: float, alpha: float, unit: str | None = None, *, each: bool = False) -> str:
    """Return a promised error bar: `within ± 50 g (95 %)`, or `each within …`."""
    return f"{'each ' if each else ''}within {format_radius(radius, alpha, unit)}"


def has_several(statistic: Mapping[str, Any]) -> bool:
    """Return whether a released statistic has a number for each bin or group, each with a radius of its own."""
    return statistic["kind"] in BINNED_KINDS or statistic.get("group_by") is not None


def format_ends(
    lower: float | None, upper: float | None, *, separators: bool = True, whole: bool = False
) -> tuple[str | None, str | None]:
    """Return both ends of an interval as text, rounded outwards; None if an end is unknown."""
    ends: tuple[str | None, str | None]
    if lower is not None and upper is not None:
        ends = round_interval(lower, upper, whole=whole) or (format_number(lower), format_number(upper))
    else:
        ends = _format_end(lower, ROUND_FLOOR), _format_end(upper, ROUND_CEILING)
    least, most = (each if each is None or separators else each.replace(",", "") for each in ends)
    return least, most


def _format_end(end: float | None, rounding: str) -> str | None:
    """Return the only known end of an interval."""
    if end is None:
        return None
    if MAX_WHOLE > abs(end) >= 10**SHOWN_DIGITS:
        return write(round_to(end, 0, rounding))
    return format_number(float(Context(SHOWN_DIGITS, rounding).plus(Decimal(repr(float(end))))))


def format_interval(lower: float | None, upper: float | None, *, separators: bool = True, whole: bool = False) -> str:
    """Return an interval as text, rounded outwards; an end may be unknown (None)."""
    least, most = format_ends(lower, upper, separators=separators, whole=whole)
    if least is None and most is None:
        return "anything"
    if least is None or most is None:
        return f"at least {least}" if most is None else f"at most {most}"
    return f"{least} to {most}"


def format_date(value: date | None) -> str:
    """Return a date or a time for reading."""
    return "unknown" if value is None else str(value)


def format_dates(value: date | None, lower: date | None, upper: date | None) -> str:
    """Return a date or a time and its interval for reading."""
    around = "anything" if lower is None else f"{format_date(lower)} to {format_date(upper)}"
    return f"{'no value' if value is None else format_date(value)} ({around})"


def shorten_edge(edge: float | str) -> str:
    """Return an edge of a bin with six significant digits or all whole ones, as text in a picture or a table."""
    if isinstance(edge, str) or edge == int(edge) or abs(edge) >= 10**SHOWN_DIGITS:
        return format_column_value(edge if isinstance(edge, str) else float(round(edge)))
    return f"{edge:.{SHOWN_DIGITS}g}"


def label_intervals(edges: Sequence[float] | Sequence[str]) -> list[str]:
    """Return the label of each interval between edges; the last one is closed."""
    texts = [format_column_value(edge) for edge in edges]
    pairs = list(pairwise(texts))
    return [f"[{lower}, {upper}{']' if at == len(pairs) else ')'}" for at, (lower, upper) in enumerate(pairs, 1)]


def name_kind(kind: str) -> str:
    """Return a kind of statistic as it is spoken: `standard deviation`."""
    return kind.replace("_", " ")


def describe_statistic(statistic: Mapping[str, Any]) -> str:
    """Return a statistic in words: `mean of body_mass_g`, `count by species where year between 2007 and 2008`."""
    columns = statistic.get("columns") or [statistic.get("column")]
    names = " and ".join(str(column) for column in columns if column is not None)
    if statistic["kind"] == "regression":
        names = " on ".join(map(str, reversed(columns)))
    if statistic["kind"] == "margin":
        names = f"{statistic['column']} in the table of {names}"
    is_median = statistic["kind"] == "quantile" and [float(each) for each in statistic["probabilities"]] == [0.5]
    parts = ["median" if is_median else name_kind(statistic["kind"])]
    if names:
        parts.append(f"of {names}")
    if statistic.get("category") is not None:
        parts.append(f"= {statistic['category']}")
    if statistic.get("weight") is not None:
        parts.append(f"weighted by {statistic['weight']}")
    if statistic.get("group_by") is not None:
        parts.append(f"by {_describe_groups(statistic['group_by'])}")
    if statistic.get("where"):
        parts.append(f"where {' and '.join(_describe_conditions(statistic['where']))}")
    words = " ".join(parts)
    return f"{words}, known values" if statistic.get("missing") is not None else words


def _describe_groups(group_by: str | Mapping[str, Any]) -> str:
    """Return what a statistic is grouped by: a column, or the calendar period of a column of dates."""
    if isinstance(group_by, str):
        return group_by
    return f"{str(group_by['bins']).removeprefix('iso_')} of {group_by['column']}"


def _describe_conditions(where: Mapping[str, Any]) -> Iterable[str]:
    for column, condition in where.items():
        yield f"{column} {_describe_condition(condition)}"


def _describe_condition(condition: Any) -> str:  # noqa: ANN401 - a condition, or a value or a list as its shorthand
    if not isinstance(condition, Mapping):
        condition = {"in": condition if isinstance(condition, list | tuple) else [condition]}
    if condition.get("not") is not None:
        return f"not {_describe_condition(condition['not'])}"
    if condition.get("is_missing") is not None:
        return "is missing" if condition["is_missing"] else "is not missing"
    if condition.get("between") is not None:
        least, most = condition["between"]
        return f"between {least} and {most}"
    ends = [f"{end.replace('_', ' ')} {condition[end]}" for end in ENDS if condition.get(end) is not None]
    if ends:
        return " and ".join(ends)
    values = list(map(str, condition.get("in") or ()))
    more = f" and {len(values) - MAX_LISTED} more" if len(values) > MAX_LISTED else ""
    return f"in {', '.join(values[:MAX_LISTED])}{more}"
