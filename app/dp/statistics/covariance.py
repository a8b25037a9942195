"""The sample covariance of two columns (Covington's notes, section 7.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.statistics.base import find_column, parse_bounds, parse_pair
from app.dp.statistics.column_pair import ColumnPair
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import Answer, CrossMoments, PairSums


@dataclass(frozen=True)
class Covariance(ColumnPair):
    """The covariance, with divisor n - 1, of two columns' values within bounds of widths R_x and R_y.

    In the product of the columns' units.
    """

    kind: ClassVar[str] = "covariance"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the covariance that a request asks for; raise InvalidStatistic if it is invalid.

        The bounds of either column may be None, for the declared ones.
        """
        names = parse_pair(spec.get("columns"), "columns")
        if names is None:
            raise InvalidStatistic("columns", "must be two columns")
        pairs = parse_pair(spec.get("bounds"), "bounds") or (None, None)
        x, y = (find_column(columns, name, f"columns.{i}") for i, name in enumerate(names))
        if x.name == y.name:
            raise InvalidStatistic("columns", "must be two different columns: for one column, ask for its variance")
        for i, column in enumerate((x, y)):
            if column.kind is Kind.CATEGORY:
                raise InvalidStatistic(
                    f"columns.{i}", "must be a numeric or boolean column: categories have no numeric values"
                )
        x_codes, y_codes = (
            codes_for(column, parse_bounds(column, pairs[i], f"bounds.{i}"), f"bounds.{i}")
            for i, column in enumerate((x, y))
        )
        return cls(n, rows_per_unit, x.name, x_codes, y.name, y_codes)

    @property
    def needs(self) -> PairSums:
        """The sums of both columns' codes and of their products, with the columns in alphabetical order."""
        if self.y < self.x:
            return PairSums(self.y, self.y_codes, self.x, self.x_codes)
        return PairSums(self.x, self.x_codes, self.y, self.y_codes)

    @property
    def lower(self) -> Rational:
        """-h·R_x·R_y/(n(n - 1)) with h = ⌊n/2⌋·⌈n/2⌉, reached with half of the rows at each pair of opposite bounds."""
        return -self.upper

    def values(self, answer: Answer) -> tuple[Rational]:
        """Return the covariance R_x·R_y/(K_x·K_y)·(n·P - S_x·S_y)/(n(n - 1))."""
        sums = self._check_answer(answer, CrossMoments)
        return (self._scale(self.n * sums.products - sums.total_x * sums.total_y),)

    def describe(self) -> dict[str, Any]:
        """The request for this covariance, with null for the bounds of a boolean."""
        return {"kind": self.kind, "columns": [self.x, self.y], "bounds": self._describe_bounds()}

    def _distinction(self) -> list[Any]:
        needs = self.needs
        ordered = ((needs.x, needs.x_codes), (needs.y, needs.y_codes))
        return [[column, str(codes.lower), str(codes.upper)] for column, codes in ordered]
