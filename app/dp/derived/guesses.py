"""Reads guesses of numbers of the table: those of columns of dates are dates."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from app.dp.derived.base import Guesses
from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.statistics.base import find_column, parse_number
from app.dp.table.columns import Column

_PLACES = {"mean_x": 0, "mean_y": 1}


def read_guesses(
    spec: Mapping[str, Any], guesses: Mapping[str, Rational | date], columns: Mapping[str, Column]
) -> Guesses:
    """Return the guesses as numbers, in the units of their columns.

    Args:
        spec: the request for the derived statistic, which is valid.
        guesses: by name; the mean of a column of dates is a date.
        columns: the dataset's declared columns by name.

    Raises:
        InvalidStatistic: at a guess that is a date although its column holds numbers, or the reverse.
    """
    found = {}
    for name, guess in guesses.items():
        where = f"guesses.{name}"
        if name == "mean" and spec.get("column") is not None:
            found[name] = parse_number(find_column(columns, spec["column"], "column"), guess, where)
        elif name in _PLACES and spec.get("columns") is not None:
            column = find_column(columns, spec["columns"][_PLACES[name]], "columns")
            found[name] = parse_number(column, guess, where)
        elif isinstance(guess, date):
            raise InvalidStatistic(where, "must be a number")
        else:
            found[name] = guess
    return found
