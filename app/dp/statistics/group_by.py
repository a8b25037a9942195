"""Parses `group_by`: each declared category of a column is a component of the statistic."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from app.dp.errors import InvalidStatistic
from app.dp.statistics.base import find_column
from app.dp.table.bins import CategoryBins
from app.dp.table.columns import Column, Kind

Groups: TypeAlias = tuple[str, CategoryBins]
"""A category column and its groups: the declared categories, `other`, and `missing` if a row may lack a value."""


def parse_groups(spec: Mapping[str, Any], columns: Mapping[str, Column]) -> Groups | None:
    """Return the groups that a request asks for, or None; raise InvalidStatistic at `group_by` if they are invalid."""
    if spec.get("group_by") is None:
        return None
    column = find_column(columns, spec["group_by"], "group_by")
    if column.kind is not Kind.CATEGORY:
        raise InvalidStatistic("group_by", "must be a category column")
    return column.name, CategoryBins(column.categories, column.nullable)


def describe_groups(groups: Groups | None) -> dict[str, Any]:
    """Return the member `group_by` of a request, or no member if there are no groups."""
    return {} if groups is None else {"group_by": groups[0]}
