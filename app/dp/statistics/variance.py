"""The sample variance of a column (Covington's notes, section 7.2)."""

from dataclasses import dataclass
from typing import ClassVar

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.single_column import SingleColumn
from app.dp.table.sums import Answer, ColumnSums, Moments


@dataclass(frozen=True)
class Variance(SingleColumn):
    """The variance, divisor n - 1, of values within bounds of width R, in the square of the column's units."""

    kind: ClassVar[str] = "variance"

    @property
    def needs(self) -> ColumnSums:
        """The sums of the column's codes and of their squares."""
        return ColumnSums(self.column, self.codes)

    @property
    def lower(self) -> Rational:
        """0."""
        return mpq(0)

    @property
    def upper(self) -> Rational:
        """h·R²/(n(n - 1)) with h = ⌊n/2⌋·⌈n/2⌉, reached with half of the values at each bound."""
        return self._compute_largest_variance() * self.codes.width**2

    @property
    def row_sensitivity(self) -> Rational:
        """R²/n."""
        return self.codes.width**2 / self.n

    @property
    def rounding(self) -> Rational:
        """4δRh/(n(n - 1)), where δ is the largest error of rounding a value to its code."""
        return 4 * self.codes.rounding * self.codes.width * self._compute_largest_variance()

    def values(self, answer: Answer) -> tuple[Rational]:
        """Return the variance R²/K²·(n·Q - S²)/(n(n - 1))."""
        sums = self._check_answer(answer, Moments)
        spread = mpq(self.n * sums.squares - sums.total**2, self.n * (self.n - 1))
        return ((self.codes.width / self.codes.steps) ** 2 * spread,)
