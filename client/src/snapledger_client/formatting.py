"""Formats numbers, intervals and statistics as text. `display` renders whole answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

MAX_LISTED = 4  # values of a list that are shown in a line


def format_number(number: float) -> str:
    """Return a number for reading: six significant digits or all whole ones, with thousands separators."""
    return f"{number:,.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:,.6g}"


def format_column_value(number: float) -> str:
    """Return a value of a column with all its digits and without separators, since it may be a year."""
    return f"{number:.0f}" if number == int(number) and abs(number) <= 1e15 else repr(number)


def choose_number_format(kind: str) -> Callable[[float], str]:
    """Return the format function for a kind of statistic. Quantiles are values of a column, which may be years."""
    return (lambda number: format_number(number).replace(",", "")) if kind == "quantile" else format_number


def format_level(alpha: float) -> str:
    """Return the confidence level of an alpha: `95 %`."""
    return f"{100 * (1 - alpha):.10g} %"


def format_radius(radius: float, alpha: float) -> str:
    """Return an error bar: `± 50 (95 %)`."""
    return f"± {format_number(radius)} ({format_level(alpha)})"


def format_interval(
    lower: float | None, upper: float | None, number_format: Callable[[float], str] = format_number
) -> str:
    """Return an interval as text; an end may be unknown (None)."""
    if lower is None and upper is None:
        return "anything"
    if lower is None or upper is None:
        return f"at most {number_format(upper)}" if upper is not None else f"at least {number_format(lower or 0)}"
    return f"{number_format(lower)} to {number_format(upper)}"


def label_intervals(edges: Sequence[float]) -> list[str]:
    """Return the label of each interval between edges; the last one is closed."""
    pairs = [(format_column_value(lower), format_column_value(upper)) for lower, upper in pairwise(edges)]
    return [f"[{lower}, {upper}{']' if at == len(pairs) else ')'}" for at, (lower, upper) in enumerate(pairs, 1)]


def describe_statistic(statistic: Mapping[str, Any]) -> str:
    """Return a statistic in words: `mean of body_mass_g`, `count by species where year between 2007 and 2008`."""
    columns = statistic.get("columns") or [statistic.get("column")]
    names = " and ".join(str(column) for column in columns if column is not None)
    if statistic["kind"] == "margin":
        names = f"{statistic['column']} in the table of {names}"
    parts = [str(statistic["kind"])]
    if names:
        parts.append(f"of {names}")
    if statistic.get("category") is not None:
        parts.append(f"= {statistic['category']}")
    if statistic.get("weight") is not None:
        parts.append(f"weighted by {statistic['weight']}")
    if statistic.get("group_by") is not None:
        parts.append(f"by {statistic['group_by']}")
    if statistic.get("where"):
        parts.append(f"where {' and '.join(_describe_conditions(statistic['where']))}")
    return " ".join(parts)


def _describe_conditions(where: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    for column, condition in where.items():
        if condition.get("between") is not None:
            least, most = condition["between"]
            yield f"{column} between {least} and {most}"
            continue
        values = list(map(str, condition.get("in") or ()))
        more = f" and {len(values) - MAX_LISTED} more" if len(values) > MAX_LISTED else ""
        yield f"{column} in {', '.join(values[:MAX_LISTED])}{more}"
