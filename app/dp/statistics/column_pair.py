"""What the covariance and the product of differences have in common: two columns, and the range of their product."""

from dataclasses import dataclass

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.base import Statistic, describe_bounds
from app.dp.table.codes import Codes


@dataclass(frozen=True)
class ColumnPair(Statistic):
    """A sum of products of two columns' differences, divided by n(n - 1), within bounds of widths R_x and R_y.

    The columns have the order of the request, which does not change the value.
    """

    x: str
    x_codes: Codes
    y: str
    y_codes: Codes

    @property
    def upper(self) -> Rational:
        """h·R_x·R_y/(n(n - 1)) with h = ⌊n/2⌋·⌈n/2⌉, reached with half of the rows at each pair of equal bounds."""
        return self._compute_largest_variance() * self.x_codes.width * self.y_codes.width

    @property
    def row_sensitivity(self) -> Rational:
        """R_x·R_y/n."""
        return self.x_codes.width * self.y_codes.width / self.n

    @property
    def rounding(self) -> Rational:
        """2h(δ_x·R_y + δ_y·R_x)/(n(n - 1)), where δ is the largest error of rounding a value to its code."""
        x, y = self.x_codes, self.y_codes
        return 2 * self._compute_largest_variance() * (x.rounding * y.width + y.rounding * x.width)

    def _scale(self, differences: int) -> Rational:
        """Return R_x·R_y/(K_x·K_y)·differences/(n(n - 1)), for differences in codes."""
        x, y = self.x_codes, self.y_codes
        return x.width / x.steps * (y.width / y.steps) * mpq(differences, self.n * (self.n - 1))

    def _describe_bounds(self) -> list[list[int | float] | list[str] | None]:
        return [describe_bounds(self.x_codes), describe_bounds(self.y_codes)]
