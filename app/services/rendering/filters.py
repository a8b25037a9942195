"""Describes filters in words, as the clients do."""

from collections.abc import Iterator, Mapping
from typing import Any

MAX_LISTED, MAX_CONDITIONS = 4, 10
"""The maximum number of values of a list, and of conditions, that are named; a filter may have thousands."""

MAX_VALUE = 60
"""The maximum number of characters of a value."""

_ENDS = ("at_least", "above", "at_most", "below")


def filter_in_words(where: Mapping[str, Any]) -> str:
    """Return a filter, as in an answer, in words: `region in East, West and year between 2007 and 2008`."""
    named = list(_list_conditions(where))
    more = len(where) - MAX_CONDITIONS
    return " and ".join([*named, f"{more} more conditions"] if more > 0 else named)


def _list_conditions(where: Mapping[str, Any]) -> Iterator[str]:
    for column, condition in list(where.items())[:MAX_CONDITIONS]:
        yield f"{column} {_describe(condition)}"


def _describe(condition: Mapping[str, Any]) -> str:
    if "not" in condition:
        return f"not {_describe(condition['not'])}"
    if "is_missing" in condition:
        return "is missing" if condition["is_missing"] else "is not missing"
    if "between" in condition:
        return "between {} and {}".format(*map(shorten_value, condition["between"]))
    if "in" in condition:
        values = condition["in"]
        more = f" and {len(values) - MAX_LISTED:,} more" if len(values) > MAX_LISTED else ""
        return f"in {', '.join(map(shorten_value, values[:MAX_LISTED]))}{more}"
    return " and ".join(
        f"{end.replace('_', ' ')} {shorten_value(condition[end])}" for end in _ENDS if condition.get(end) is not None
    )


def shorten_value(value: str | float) -> str:
    """Return a value of a column as text; numbers without separators, since they may be years."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
