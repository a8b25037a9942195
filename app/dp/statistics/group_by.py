"""Parses `group_by`: each declared category of a column, or each calendar period, is a component of the statistic."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from app.dp.errors import InvalidStatistic
from app.dp.statistics.base import find_column, parse_bounds
from app.dp.statistics.histogram import bins_identity, describe_bins
from app.dp.table.bins import CategoryBins, IntervalBins
from app.dp.table.calendar_bins import PERIODS, bins_by_period
from app.dp.table.columns import Column, Kind

Groups: TypeAlias = tuple[str, CategoryBins | IntervalBins]
"""A column and its groups, to which `missing` is added if a row may lack a value.

They are the declared categories and `other`, or the calendar periods of dates.
"""


def parse_groups(spec: Mapping[str, Any], columns: Mapping[str, Column]) -> Groups | None:
    """Return the groups that a request asks for, or None; raise InvalidStatistic at `group_by` if they are invalid.

    The request has the name of a category column, or the column, the period (`bins`) and the `bounds` of dates.
    """
    asked = spec.get("group_by")
    if asked is None:
        return None
    if not isinstance(asked, str) and asked.get("bins") is not None:
        return _parse_periods(asked, columns)
    column = find_column(columns, asked if isinstance(asked, str) else asked["column"], "group_by")
    if column.kind.temporal:
        example = {"column": column.name, "bins": "month"}
        raise InvalidStatistic("group_by", f"must name a period for a column of dates, such as {json.dumps(example)}")
    if column.kind is not Kind.CATEGORY:
        raise InvalidStatistic("group_by", "must be a category column, or a period of a column of dates")
    if not isinstance(asked, str) and asked.get("bounds") is not None:
        raise InvalidStatistic("group_by.bounds", "is for dates only: leave it out")
    return column.name, CategoryBins(column.categories, column.nullable)


def _parse_periods(asked: Mapping[str, Any], columns: Mapping[str, Column]) -> Groups:
    column = find_column(columns, asked["column"], "group_by.column")
    if asked["bins"] not in PERIODS:
        raise InvalidStatistic("group_by.bins", f"must be one of {', '.join(PERIODS)}")
    bounds = parse_bounds(column, asked.get("bounds"), "group_by.bounds")
    try:
        return column.name, bins_by_period(column, asked["bins"], bounds)
    except InvalidStatistic as error:
        raise InvalidStatistic(f"group_by.{error.where}", error.what) from None


def describe_groups(groups: Groups | None) -> dict[str, Any]:
    """Return the member `group_by` of a request, or no member if there are no groups."""
    if groups is None:
        return {}
    name, bins = groups
    return {"group_by": {"column": name} | describe_bins(bins, by_edges=False) if bins_identity(bins) else name}


def groups_identity(groups: Groups | None) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON value that distinguishes groups from others."""
    if groups is None:
        return None
    name, bins = groups
    return name if isinstance(bins, CategoryBins) else [name, bins_identity(bins)]
