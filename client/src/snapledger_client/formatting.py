"""Numbers, intervals and statistics as text. What an answer says as a whole is in `display`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

MAX_LISTED = 4  # values of a list, in a line


def format_number(number: float) -> str:
    """A number as people read it: six digits or all whole ones, thousands apart; an exponent only if it is needed."""
    return f"{number:,.0f}" if 1e6 <= abs(number) < 1e15 else f"{number:,.6g}"


def format_column_value(number: float) -> str:
    """A value of a column with all its digits and no separators: a year is one too."""
    return f"{number:.0f}" if number == int(number) and abs(number) <= 1e15 else repr(number)


def choose_number_format(kind: str) -> Callable[[float], str]:
    """The format for the numbers of a statistic: quantiles are values of a column, some of which are years."""
    return (lambda number: format_number(number).replace(",", "")) if kind == "quantile" else format_number


def format_level(alpha: float) -> str:
    """A confidence level: `95 %`."""
    return f"{100 * (1 - alpha):.10g} %"


def format_radius(radius: float, alpha: float) -> str:
    """An error bar: `± 50 (95 %)`."""
    return f"± {format_number(radius)} ({format_level(alpha)})"


def format_interval(
    lower: float | None, upper: float | None, number_format: Callable[[float], str] = format_number
) -> str:
    """An interval; an end may be unknown."""
    if lower is None and upper is None:
        return "anything"
    if lower is None or upper is None:
        return f"at most {number_format(upper)}" if upper is not None else f"at least {number_format(lower or 0)}"
    return f"{number_format(lower)} to {number_format(upper)}"


def label_intervals(edges: Sequence[float]) -> list[str]:
    """The name of each interval between edges; the last one is closed."""
    pairs = [(format_column_value(lower), format_column_value(upper)) for lower, upper in pairwise(edges)]
    return [f"[{lower}, {upper}{']' if at == len(pairs) else ')'}" for at, (lower, upper) in enumerate(pairs, 1)]


def describe_statistic(statistic: Mapping[str, Any]) -> str:
    """A statistic's document in words: `mean of body_mass_g`, `count by species where year between 2007 and 2008`."""
    columns = statistic.get("columns") or [statistic.get("column")]
    names = " and ".join(str(column) for column in columns if column is not None)
    if statistic["kind"] == "margin":
        names = f"{statistic['column']} in the table of {names}"
    parts = [str(statistic["kind"])]
    if names:
        parts.append(f"of {names}")
    if statistic.get("category") is not None:
        parts.append(f"= {statistic['category']}")
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
