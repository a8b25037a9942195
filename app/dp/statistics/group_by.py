"""`group_by`: the declared categories of a column, each a component of its own."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from app.dp.errors import InvalidStatistic
from app.dp.statistics.base import find_column
from app.dp.table.bins import CategoryBins
from app.dp.table.columns import Column, Kind

Groups: TypeAlias = tuple[str, CategoryBins]
"""A category column and its groups: the declared categories, `other`, and `missing` if a row may lack a value."""


def parse_groups(spec: Mapping[str, Any], columns: Mapping[str, Column]) -> Groups | None:
    """The groups that a request asks for, None for none, or InvalidStatistic at `group_by`."""
    if spec.get("group_by") is None:
        return None
    column = find_column(columns, spec["group_by"], "group_by")
    if column.kind is not Kind.CATEGORY:
        raise InvalidStatistic("group_by", "must be a category column")
    return column.name, CategoryBins(column.categories, column.nullable)


def describe_groups(groups: Groups | None) -> dict[str, Any]:
    """The member `group_by` of a request, if there are groups."""
    return {} if groups is None else {"group_by": groups[0]}
