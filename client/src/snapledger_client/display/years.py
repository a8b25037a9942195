"""Finds calendar years, which people write without separators: 2020, not 2,020."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from snapledger_client.models.releases import ColumnTexts

FIRST, LAST = 1000, 2999
NAMES = re.compile(r"(?:(?<![A-Za-z])y|Y)ears?(?![a-z])|(?<![A-Za-z])YEARS?(?![A-Za-z])")


def has_separators(statistic: Mapping[str, Any], columns: Mapping[str, ColumnTexts]) -> bool:
    """Return whether the numbers of a statistic have thousands separators: they do unless they are years.

    The rule is that of the service's sentences: the bounds or edges of the column are within 1000 to 2999, and its
    unit is "year", or it has none and its name says year.
    """
    column = statistic.get("column")
    if statistic["kind"] not in {"mean", "quantile"} or not isinstance(column, str):
        return True
    texts = columns.get(column)
    unit = None if texts is None else texts.unit
    says_year = unit == "year" if unit else NAMES.search(column) is not None
    return not (says_year and _are_years(statistic.get("edges") or statistic.get("bounds") or ()))


def _are_years(ends: Iterable[Any]) -> bool:
    try:
        numbers = list(map(float, ends))
    except (TypeError, ValueError):  # dates
        return False
    return bool(numbers) and all(FIRST <= each <= LAST for each in numbers)
