"""The sum of weights times the values' differences from the midpoint of their bounds; weighted means follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import Rational
from app.dp.statistics.base import Statistic, describe_bounds, find_column, parse_pair
from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column
from app.dp.table.sums import Answer, CrossMoments, PairSums


@dataclass(frozen=True)
class WeightedSum(Statistic):
    """Σ w·(v - m₀) over all rows, where m₀ is the midpoint of the bounds [a, b], and R = b - a.

    The weights have the declared bounds [l, W] with l >= 0, so a row contributes a number in [-W·R/2, W·R/2], and
    replacing it changes the sum by at most W·R. Both ends are attained. A missing value or weight counts as its
    column's null value.
    """

    column: str
    codes: Codes
    weight: str
    weight_codes: Codes

    kind: ClassVar[str] = "sum"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "centred", "weight"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid."""
        if not spec.get("centred"):
            raise InvalidStatistic("weight", "is for centred sums only: add `centred`, or leave it out")
        column, weight = (find_column(columns, spec.get(member), member) for member in ("column", "weight"))
        if column.name == weight.name:
            raise InvalidStatistic("weight", "must be another column than the one that is summed")
        codes = codes_for(column, parse_pair(spec.get("bounds"), "bounds"))
        try:
            weight_codes = codes_for(weight, None)
        except InvalidStatistic as error:
            raise InvalidStatistic("weight", error.what) from None
        if weight_codes.lower < 0:
            raise InvalidStatistic("weight", "must be a column whose declared bounds are at least 0")
        return cls(n, rows_per_unit, column.name, codes, weight.name, weight_codes)

    @property
    def needs(self) -> PairSums:
        """The sums of both columns' codes and of their products, with the columns in alphabetical order."""
        if self.weight < self.column:
            return PairSums(self.weight, self.weight_codes, self.column, self.codes)
        return PairSums(self.column, self.codes, self.weight, self.weight_codes)

    @property
    def lower(self) -> Rational:
        """-n·W·R/2."""
        return -self.upper

    @property
    def upper(self) -> Rational:
        """n·W·R/2."""
        return self.n * self.row_sensitivity / 2

    @property
    def row_sensitivity(self) -> Rational:
        """W·R."""
        return self.weight_codes.upper * self.codes.width

    @property
    def rounding(self) -> Rational:
        """n·(W·δ + δ_w·R/2), where δ is the largest error of rounding a value or a weight to its code."""
        values, weights = self.codes, self.weight_codes
        return self.n * (weights.upper * values.rounding + weights.rounding * values.width / 2)

    def values(self, answer: Answer) -> tuple[Rational]:
        """Return l·(R·S/K - n·R/2) + (W - l)/K_w·(R·P/K - R·S_w/2), from the sums S, S_w and P of codes."""
        sums = self._answered(answer, CrossMoments)
        total, total_weights = sums.total_x, sums.total_y
        if self.weight < self.column:
            total, total_weights = total_weights, total
        width, step = self.codes.width, self.codes.width / self.codes.steps
        weights = self.weight_codes
        even = weights.lower * (step * total - width * self.n / 2)
        beyond = weights.width / weights.steps * (step * sums.products - width * total_weights / 2)
        return (even + beyond,)

    def describe(self) -> dict[str, Any]:
        """Return the request for this sum, with bounds unless the column is boolean."""
        bounds = describe_bounds(self.codes)
        members = {"kind": self.kind, "column": self.column} | ({"bounds": bounds} if bounds else {})
        return members | {"centred": True, "weight": self.weight}

    def _distinction(self) -> list[Any]:
        bounds = [mpq(bound) for bound in (self.codes.lower, self.codes.upper)]
        return [self.column, *map(str, bounds), "weight", self.weight]
