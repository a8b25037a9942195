"""The sum of a column's values over the rows that meet a filter's conditions, in total or for each group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.base import Statistic, describe_bounds, find_column, parse_bounds, refuse_dates
from app.dp.statistics.group_by import Groups, describe_groups, groups_identity, parse_groups
from app.dp.table.bins import CategoryBins, IntervalBins
from app.dp.table.codes import MIN_GAP, Codes, codes_for
from app.dp.table.columns import Column
from app.dp.table.conditions import Between, Condition, describe_conditions
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import Answer, CellSums, PairSums


@dataclass(frozen=True)
class Sum(Statistic):
    """The sum of a column's values within bounds [a, b] over the rows inside the filter, or over all rows without one.

    A row contributes its value if it is inside, and 0 otherwise. The contribution is in [l, u], where l = min(a, 0) and
    u = max(b, 0) with a filter or groups, and l = a, u = b otherwise. Replacing a row can change its contribution from
    any number in [l, u] to any other, so Δ₁ = u - l, and the sum over n rows is in [n·l, n·u]. Both bounds are
    attained.

    With groups, each group has a mechanism with sensitivity Δ₁ and the share ε/(2c). Replacing a row changes at most
    two groups' sums, each by at most Δ₁, so the privacy loss is at most 2c·ε/(2c) = ε. (If a < 0 < b, one row cannot
    change both sums by Δ₁, so the bound is attained only if a or b is 0.)

    A missing value counts as the column's null value, as in a mean. A row without a value in a filter's column is
    outside.
    """

    column: str
    codes: Codes
    conditions: tuple[Condition, ...]
    groups: Groups | None

    kind: ClassVar[str] = "sum"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "where", "group_by", "centred"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid."""
        column = find_column(columns, spec.get("column"), "column")
        if not spec.get("centred"):
            refuse_dates(column)
        conditions = parse_conditions(spec.get("where"), columns)
        codes = narrow_codes(column, codes_for(column, parse_bounds(column, spec.get("bounds"))), conditions)
        return cls(n, rows_per_unit, column.name, codes, conditions, parse_groups(spec, columns))

    @property
    def needs(self) -> CellSums | PairSums:
        """The number of rows and the sum of codes, in total or for each group."""
        axes = () if self.groups is None else (self.groups,)
        return CellSums(axes, self.conditions, (self.column, self.codes))

    @property
    def lower(self) -> Rational:
        """n·l, for each group."""
        return self.n * self._contributions[0]

    @property
    def upper(self) -> Rational:
        """n·u, for each group."""
        return self.n * self._contributions[1]

    @property
    def row_sensitivity(self) -> Rational:
        """Δ₁ = u - l."""
        least, most = self._contributions
        return most - least

    @property
    def sensitivity(self) -> Rational:
        """Δ; with groups Δ₁, since `mechanisms` accounts for the number of rows of a person."""
        if self.groups is not None:
            return self.row_sensitivity
        return min(self.rows_per_unit * self.row_sensitivity, self.upper - self.lower)

    @property
    def mechanisms(self) -> int:
        """1, or 2c with groups: one person's c rows leave at most c groups and enter at most c others."""
        return 1 if self.groups is None else 2 * self.rows_per_unit

    @property
    def components(self) -> int:
        """1, or the number of groups."""
        return 1 if self.groups is None else self.groups[1].count

    @property
    def bins(self) -> CategoryBins | IntervalBins | None:
        """The groups, if there are any."""
        return None if self.groups is None else self.groups[1]

    @property
    def rounding(self) -> Rational:
        """n·δ, where δ is the largest error of rounding a value to its code, since all rows may be inside."""
        return self.n * self.codes.rounding

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """Return the sums a·m + R·S/K, where m is the number of rows inside and S the sum of their codes."""
        codes = self.codes
        return tuple(
            codes.lower * rows + codes.width * mpq(total, codes.steps) for rows, total in self._rows_and_totals(answer)
        )

    def _rows_and_totals(self, answer: Answer) -> Iterator[tuple[int, int]]:
        """Return the number of rows inside and the sum of their codes, in total or for each group."""
        counts, totals = answer[: self.components + 1], answer[self.components + 1 :]
        if len(totals) != self.components or sum(counts) != self.n:
            raise ValueError("the sums are not those that this statistic needs")
        return zip(counts[:-1], totals, strict=True)

    def describe(self) -> dict[str, Any]:
        """Return the request for this sum, with bounds unless the column is boolean."""
        bounds = describe_bounds(self.codes)
        members = {"kind": self.kind, "column": self.column} | ({"bounds": bounds} if bounds else {})
        return members | describe_conditions(self.conditions) | describe_groups(self.groups)

    def _distinction(self) -> list[Any]:
        bounds = [str(self.codes.lower), str(self.codes.upper)]
        group = groups_identity(self.groups)
        return [self.column, *bounds, [each.distinction() for each in self.conditions], group]

    @property
    def narrowed_by_ranges(self) -> tuple[str, ...]:
        """The columns whose bounds a range in the filter narrows, as a list of the same values does not."""
        return (self.column,)

    @property
    def _contributions(self) -> tuple[Rational, Rational]:
        """The smallest and largest contribution of a row, l and u."""
        if not self.conditions and self.groups is None:
            return self.codes.lower, self.codes.upper
        return min(self.codes.lower, mpq(0)), max(self.codes.upper, mpq(0))


def narrow_codes(column: Column, codes: Codes, conditions: Sequence[Condition]) -> Codes:
    """Return the codes with bounds narrowed to a range filter on the summed column itself, if that leaves a range.

    All summed rows have values within the filter, so narrower bounds can lower the sensitivity and never change the
    sum.
    """
    for each in conditions:
        if each.column != column.name or not isinstance(each, Between):
            continue
        unit = 10**each.scale
        lower = codes.lower if each.open_below else max(codes.lower, mpq(each.least) / unit)
        upper = codes.upper if each.open_above else min(codes.upper, mpq(each.most) / unit)
        if upper - lower >= MIN_GAP and (lower, upper) != (codes.lower, codes.upper):
            return codes_for(column, (lower, upper))
    return codes
