"""The products of differences between pairs of selected rows, from which variances and covariances of them follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.statistics.base import find_column, parse_bounds, parse_pair
from app.dp.statistics.column_pair import ColumnPair
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column
from app.dp.table.conditions import Condition, Missing, describe_conditions
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import Answer, CellSums


@dataclass(frozen=True)
class PairDifferences(ColumnPair):
    """Σ (xᵢ - xⱼ)(yᵢ - yⱼ)/(n(n - 1)) over the pairs of selected rows; both columns may be the same.

    Selected are the rows that meet the filter and have a value in both columns. If m rows are, this is m(m - 1)/(n(n -
    1)) times their sample covariance, or variance. So if all n rows are, it is the covariance itself.

    With R_x and R_y for the widths of the bounds, it has the range and the sensitivity of the covariance of all rows:

    * Each product is in ± R_x·R_y, and the covariance of m rows is at most h/(m(m - 1))·R_x·R_y in size, where
      h = ⌊m/2⌋·⌈m/2⌉. So the sum over pairs is at most h·R_x·R_y, which is largest for m = n. If both columns are the
      same, no product is negative.
    * A row that enters m others adds Σ (x - xⱼ)(y - yⱼ), at most m·R_x·R_y <= (n - 1)·R_x·R_y in size; one that leaves
      takes as much away.
    * For a row that stays among m others, let all values be in [0, 1]. Its part of the sum is
      f(x, y) = m·x·y - a·x - b·y + c with a = Σ yⱼ and b = Σ xⱼ in [0, m]. As f is linear in x and in y, it has its
      extremes at corners. They differ by a, b, m - a, m - b, a - b or m - a - b, all at most m <= n - 1 in size.

    So Δ₁ = (n - 1)·R_x·R_y/(n(n - 1)) = R_x·R_y/n.
    """

    conditions: tuple[Condition, ...]

    kind: ClassVar[str] = "pair_differences"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds", "where"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid.

        The bounds of either column may be None, for the declared ones.
        """
        names = parse_pair(spec.get("columns"), "columns")
        if names is None:
            raise InvalidStatistic("columns", "must be two columns, or one of them twice")
        pairs = parse_pair(spec.get("bounds"), "bounds") or (None, None)
        x, y = (find_column(columns, name, f"columns.{i}") for i, name in enumerate(names))
        codes = []
        for i, column in enumerate((x, y)):
            try:
                codes.append(codes_for(column, parse_bounds(column, pairs[i], f"bounds.{i}"), f"bounds.{i}"))
            except InvalidStatistic as error:
                where = f"columns.{i}" if error.where == "column" else error.where
                raise InvalidStatistic(where, error.what) from None
        if x.name == y.name and codes[0] != codes[1]:
            raise InvalidStatistic("bounds", "must be the same for one column: give them twice")
        conditions = parse_conditions(require_values(spec.get("where"), (x, y)), columns)
        refuse_missing(conditions, (x, y))
        return cls(n, rows_per_unit, x.name, codes[0], y.name, codes[1], conditions)

    @property
    def needs(self) -> CellSums:
        """The number of selected rows, both sums of codes and that of their products, in order of the names."""
        pair = sorted(((self.x, self.x_codes), (self.y, self.y_codes)), key=lambda each: each[0])
        return CellSums((), self.conditions, *pair)

    @property
    def lower(self) -> Rational:
        """0 if both columns are the same; otherwise -h·R_x·R_y/(n(n - 1))."""
        return mpq(0) if self.x == self.y else -self.upper

    def values(self, answer: Answer) -> tuple[Rational]:
        """Return R_x·R_y/(K_x·K_y)·(m·P - S_x·S_y)/(n(n - 1)), for m selected rows."""
        selected, outside, *sums = answer
        if len(sums) != self.needs.sums or selected + outside != self.n:
            raise ValueError("the sums are not those that this statistic needs")
        total, other, products = sums
        return (self._scale(selected * products - total * other),)

    def describe(self) -> dict[str, Any]:
        """The request for this sum, with null for the bounds of a boolean, and with all conditions."""
        members = {"kind": self.kind, "columns": [self.x, self.y], "bounds": self._describe_bounds()}
        return members | describe_conditions(self.conditions)

    def _distinction(self) -> list[Any]:
        needs = self.needs
        ordered = [each for each in (needs.summed, needs.weighted) if each is not None]
        columns = [[name, str(codes.lower), str(codes.upper)] for name, codes in ordered]
        return [columns, [each.distinction() for each in self.conditions]]


def require_values(
    where: Mapping[str, Mapping[str, Any]] | None, columns: tuple[Column, ...]
) -> dict[str, Mapping[str, Any]] | None:
    """Return a request's filter with the conditions that leave out missing values of columns, where they are needed.

    A column that is declared without missing values needs none, and neither does one with a condition of its own, which
    no missing value meets.
    """
    needed = {column.name: {"is_missing": False} for column in columns if column.nullable}
    return {**needed, **(where or {})} or None


def refuse_missing(conditions: Sequence[Condition], columns: tuple[Column, ...]) -> None:
    """Raise InvalidStatistic if a condition selects the rows without a value of one of the columns."""
    names = {column.name for column in columns}
    for each in conditions:
        if isinstance(each, Missing) and each.column in names:
            raise InvalidStatistic("where", f"leaves no rows: only those with a value of {each.column} are used")
