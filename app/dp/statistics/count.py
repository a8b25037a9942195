"""The number of rows that meet a filter's conditions, or of each group's rows that do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.statistics.count_base import Counts, SharedCounts
from app.dp.statistics.group_by import Groups, describe_groups, parse_groups
from app.dp.table.bins import CategoryBins
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition, describe_conditions, parse_conditions
from app.dp.table.sums import Answer, CellSums


@dataclass(frozen=True)
class Count(Counts):
    """How many rows meet all conditions.

    Replacing a row changes the count by 1 if the row's old and new values differ in whether they meet them, else by 0:
    Δ₁ = 1. It may be that all rows meet them, or none: the range is [0, n].
    """

    conditions: tuple[Condition, ...]

    kind: ClassVar[str] = "count"
    members: ClassVar[frozenset[str]] = frozenset({"where", "group_by"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The count that a request asks for, or InvalidStatistic."""
        conditions = parse_conditions(spec.get("where"), columns)
        if not conditions:
            raise InvalidStatistic(
                "where", "is missing: the number of all rows is public, so a count needs `where` or `group_by`"
            )
        return cls(n, rows_per_unit, conditions)

    @property
    def needs(self) -> CellSums:
        """The number of rows inside, and outside."""
        return CellSums((), self.conditions)

    def describe(self) -> dict[str, Any]:
        """The request for this count."""
        return {"kind": self.kind} | describe_conditions(self.conditions)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        if len(answer) != 2:
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)[:1]

    def _distinction(self) -> list[Any]:
        return [[each.distinction() for each in self.conditions]]


@dataclass(frozen=True)
class GroupedCount(SharedCounts):
    """How many rows of each group meet all conditions.

    A row is in one group at most, so replacing one changes two groups' counts by 1 each at most: L1 sensitivity 2, the
    same as a histogram's. Each group has the range [0, n].
    """

    groups: Groups
    conditions: tuple[Condition, ...]

    kind: ClassVar[str] = "count"
    members: ClassVar[frozenset[str]] = Count.members

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The counts that a request asks for, or InvalidStatistic."""
        groups = parse_groups(spec, columns)
        if groups is None:
            raise InvalidStatistic("group_by", "must be a category column")
        return cls(n, rows_per_unit, groups, parse_conditions(spec.get("where"), columns))

    @property
    def needs(self) -> CellSums:
        """The count of each group, and the number of rows outside."""
        return CellSums((self.groups,), self.conditions)

    @property
    def components(self) -> int:
        """The number of groups."""
        return self.bins.count

    @property
    def bins(self) -> CategoryBins:
        """The groups."""
        return self.groups[1]

    def describe(self) -> dict[str, Any]:
        """The request for these counts."""
        return {"kind": self.kind} | describe_conditions(self.conditions) | describe_groups(self.groups)

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        if len(answer) != self.components + 1:
            raise ValueError("the counts are not those that this statistic needs")
        return super()._counts(answer)[: self.components]

    def _distinction(self) -> list[Any]:
        return [[each.distinction() for each in self.conditions], self.groups[0]]
