"""The base class of the statistics of one numeric column."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.statistics.base import Statistic, describe_bounds, find_column, parse_bounds
from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column


@dataclass(frozen=True)
class SingleColumn(Statistic, ABC):
    """A statistic that is computed from the codes of one column."""

    column: str
    codes: Codes

    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the statistic that a request asks for; raise InvalidStatistic if it is invalid."""
        column = find_column(columns, spec.get("column"), "column")
        return cls(n, rows_per_unit, column.name, codes_for(column, parse_bounds(column, spec.get("bounds"))))

    def describe(self) -> dict[str, Any]:
        """Return the request for this statistic, with bounds unless the column is boolean."""
        bounds = describe_bounds(self.codes)
        return {"kind": self.kind, "column": self.column} | ({"bounds": bounds} if bounds else {})

    def _distinction(self) -> list[Any]:
        return [self.column, str(self.codes.lower), str(self.codes.upper)]
