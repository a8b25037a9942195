"""`group_by`: the declared categories of a column, each a component of its own."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from app.dp.bins import CategoryBins
from app.dp.columns import Column, Kind
from app.dp.errors import InvalidStatistic
from app.dp.statistics.shape import column_named

Groups: TypeAlias = tuple[str, CategoryBins]
"""A category column and its groups: the declared categories, `other`, and `missing` if a row may lack a value."""


def groups_of(spec: Mapping[str, Any], columns: Mapping[str, Column]) -> Groups | None:
    """The groups that a request asks for, None for none, or InvalidStatistic at `group_by`."""
    if spec.get("group_by") is None:
        return None
    column = column_named(columns, spec["group_by"], "group_by")
    if column.kind is not Kind.CATEGORY:
        raise InvalidStatistic("group_by", "only a category column has declared groups")
    return column.name, CategoryBins(column.categories, column.nullable)


def described_groups(groups: Groups | None) -> dict[str, Any]:
    """The member `group_by` of a request, if there are groups."""
    return {} if groups is None else {"group_by": groups[0]}
