"""The number of rows that meet a filter's conditions, in total or for each group."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.statistics.base import find_column
from app.dp.statistics.count_base import Counts, SharedCounts
from app.dp.statistics.group_by import Groups, describe_groups, groups_identity, parse_groups
from app.dp.table.bins import CategoryBins, IntervalBins
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition, describe_conditions
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import Answer, CellSums


@dataclass(frozen=True)
class Count(Counts):
    """The number of rows that meet all conditions.

    Replacing a row changes the count by at most 1, so Δ₁ = 1. Between none and all rows can meet the conditions, so the
    range is [0, n].
    """

    conditions: tuple[Condition, ...]

    kind: ClassVar[str] = "count"
    members: ClassVar[frozenset[str]] = frozenset({"where", "group_by"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the count that a request asks for; raise InvalidStatistic if it is invalid."""
        conditions = parse_conditions(spec.get("where"), columns)
        if not conditions:
            raise InvalidStatistic(
                "where", "is missing: the number of all rows is public, so a count needs `where` or `group_by`"
            )
        return cls(n, rows_per_unit, conditions)

    @property
    def needs(self) -> CellSums:
        """The number of rows inside and outside the filter."""
        return CellSums((), self.conditions)

    def describe(self) -> dict[str, Any]:
        """Return the request for this count, ready for JSON."""
        return {"kind": self.kind} | describe_conditions(self.conditions)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        if len(answer) != 2:
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)[:1]

    def _distinction(self) -> list[Any]:
        return [[each.distinction() for each in self.conditions]]


@dataclass(frozen=True)
class MissingCount(Count):
    """The number of rows without a value of a column: the count of a filter, in a question of its own."""

    kind: ClassVar[str] = "missing"
    members: ClassVar[frozenset[str]] = frozenset({"column"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the count that a request asks for; raise InvalidStatistic if it is invalid."""
        column = find_column(columns, spec.get("column"), "column")
        if not column.nullable:
            raise InvalidStatistic("column", "is declared without missing values: none are missing")
        return cls(n, rows_per_unit, parse_conditions({column.name: {"is_missing": True}}, columns))

    def describe(self) -> dict[str, Any]:
        """Return the request for this count, ready for JSON."""
        return {"kind": self.kind, "column": self.conditions[0].column}


@dataclass(frozen=True)
class GroupedCount(SharedCounts):
    """The number of rows of each group that meet all conditions.

    Each row is in at most one group, so replacing one changes at most two groups' counts by 1 each. The L1 sensitivity
    is 2, as for a histogram. Each group has the range [0, n].
    """

    groups: Groups
    conditions: tuple[Condition, ...]

    kind: ClassVar[str] = "count"
    members: ClassVar[frozenset[str]] = Count.members

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the counts that a request asks for; raise InvalidStatistic if it is invalid."""
        groups = parse_groups(spec, columns)
        if groups is None:
            raise InvalidStatistic("group_by", "must be a category column")
        return cls(n, rows_per_unit, groups, parse_conditions(spec.get("where"), columns))

    @property
    def needs(self) -> CellSums:
        """The count of each group, and the number of rows outside the filter."""
        return CellSums((self.groups,), self.conditions)

    @property
    def components(self) -> int:
        """The number of groups."""
        return self.bins.count

    @property
    def bins(self) -> CategoryBins | IntervalBins:
        """The groups."""
        return self.groups[1]

    @property
    def has_all_rows(self) -> bool:
        """Whether there is no filter: each row is in a group."""
        return not self.conditions

    def describe(self) -> dict[str, Any]:
        """Return the request for these counts, ready for JSON."""
        return {"kind": self.kind} | describe_conditions(self.conditions) | describe_groups(self.groups)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        if len(answer) != self.components + 1:
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)[: self.components]

    def _distinction(self) -> list[Any]:
        conditions = [each.distinction() for each in self.conditions]
        return [conditions, groups_identity(self.groups), *self._one_draw()]
