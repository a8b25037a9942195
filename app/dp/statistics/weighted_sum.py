"""The sum of weights times the values' differences from the midpoint of their bounds; weighted means follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.statistics.base import find_column, parse_bounds
from app.dp.statistics.centred_sum import CentredSum
from app.dp.statistics.group_by import parse_groups
from app.dp.statistics.sum import Sum, narrow_codes
from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import Answer, CellSums, CrossMoments, PairSums


@dataclass(frozen=True)
class WeightedSum(CentredSum):
    """Σ w·(v - m₀) over the rows inside, where m₀ is the midpoint of the bounds [a, b], and R = b - a.

    The weights have the declared bounds [l, W] with l >= 0, so a row inside contributes a number in [-W·R/2, W·R/2],
    and one outside 0. Replacing a row changes the sum by at most W·R. Both ends are attained. With groups, a row that
    moves changes two sums by at most W·R/2 each, so that W·R is the L1 sensitivity of all groups together, as for a
    centred sum. A missing value or weight counts as its column's null value.
    """

    weight: str
    weight_codes: Codes

    kind: ClassVar[str] = "sum"
    members: ClassVar[frozenset[str]] = Sum.members | {"weight"}

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid."""
        if not spec.get("centred"):
            raise InvalidStatistic("weight", "is for centred sums only: add `centred`, or leave it out")
        column, weight = (find_column(columns, spec.get(member), member) for member in ("column", "weight"))
        if column.name == weight.name:
            raise InvalidStatistic("weight", "must be another column than the one that is summed")
        conditions = parse_conditions(spec.get("where"), columns)
        codes = narrow_codes(column, codes_for(column, parse_bounds(column, spec.get("bounds"))), conditions)
        try:
            weight_codes = codes_for(weight, None)
        except InvalidStatistic as error:
            raise InvalidStatistic("weight", error.what) from None
        if weight.kind.temporal:
            raise InvalidStatistic("weight", "must be a numeric column: it holds dates")
        if weight_codes.lower < 0:
            raise InvalidStatistic("weight", "must be a column whose declared bounds are at least 0")
        weight_codes = narrow_codes(weight, weight_codes, conditions)
        groups = parse_groups(spec, columns)
        return cls(n, rows_per_unit, column.name, codes, conditions, groups, weight.name, weight_codes)

    @property
    def needs(self) -> CellSums | PairSums:
        """The sums of both columns' codes and of their products; over all rows with the columns in order of names."""
        if self.conditions or self.groups is not None:
            weighted = self.weight, self.weight_codes
            axes = () if self.groups is None else (self.groups,)
            return CellSums(axes, self.conditions, (self.column, self.codes), weighted)
        if self.weight < self.column:
            return PairSums(self.weight, self.weight_codes, self.column, self.codes)
        return PairSums(self.column, self.codes, self.weight, self.weight_codes)

    @property
    def narrowed_by_ranges(self) -> tuple[str, ...]:
        """The summed column and that of the weights."""
        return self.column, self.weight

    @property
    def _contributions(self) -> tuple[Rational, Rational]:
        """-W·R/2 and W·R/2."""
        most = self.weight_codes.upper * self.codes.width / 2
        return -most, most

    @property
    def rounding(self) -> Rational:
        """n·(W·δ + δ_w·R/2), where δ is the largest error of rounding a value or a weight to its code."""
        values, weights = self.codes, self.weight_codes
        return self.n * (weights.upper * values.rounding + weights.rounding * values.width / 2)

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """Return the sums, in total or for each group."""
        if isinstance(answer, CrossMoments):
            sums = self._check_answer(answer, CrossMoments)
            totals = sums.total_x, sums.total_y
            return (self._value(sums.n, *(totals[::-1] if self.weight < self.column else totals), sums.products),)
        groups, rest = self.components, answer[self.components + 1 :]
        if len(rest) != 3 * groups or sum(answer[: groups + 1]) != self.n:
            raise ValueError("the sums are not those that this statistic needs")
        each = zip(answer[:groups], rest[:groups], rest[groups : 2 * groups], rest[2 * groups :], strict=True)
        return tuple(self._value(*sums) for sums in each)

    def _value(self, rows: int, total: int, total_weights: int, products: int) -> Rational:
        """Return l·(R·S/K - m·R/2) + (W - l)/K_w·(R·P/K - R·S_w/2), from the sums S, S_w and P of codes of m rows."""
        width, step = self.codes.width, self.codes.width / self.codes.steps
        weights = self.weight_codes
        even = weights.lower * (step * total - width * rows / 2)
        return even + weights.width / weights.steps * (step * products - width * total_weights / 2)

    def describe(self) -> dict[str, Any]:
        """Return the request for this sum, with bounds unless the column is boolean."""
        return super().describe() | {"weight": self.weight}

    def _distinction(self) -> list[Any]:
        bounds = [str(bound) for bound in (self.codes.lower, self.codes.upper)]
        some = [] if not self.conditions and self.groups is None else super()._distinction()[3:5]
        return [self.column, *bounds, "weight", self.weight, *some]
