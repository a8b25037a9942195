"""The mean of a column (Covington's notes, section 7.1)."""

from dataclasses import dataclass
from typing import ClassVar

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.single_column import SingleColumn
from app.dp.table.columns import Kind
from app.dp.table.sums import Answer, ColumnTotal, Total


@dataclass(frozen=True)
class Mean(SingleColumn):
    """The mean of a column's values within its bounds [a, b], in the column's units; R = b - a."""

    kind: ClassVar[str] = "mean"

    @property
    def needs(self) -> ColumnTotal:
        """The sum of the column's codes."""
        return ColumnTotal(self.column, self.codes)

    @property
    def lower(self) -> Rational:
        """The lower bound a."""
        return self.codes.lower

    @property
    def upper(self) -> Rational:
        """The upper bound b."""
        return self.codes.upper

    @property
    def date_kind(self) -> Kind | None:
        """The kind of the column if it holds dates."""
        return self.codes.date_kind

    @property
    def row_sensitivity(self) -> Rational:
        """R/n."""
        return self.codes.width / self.n

    @property
    def rounding(self) -> Rational:
        """δ, the largest error of rounding a value to its code."""
        return self.codes.rounding

    def values(self, answer: Answer) -> tuple[Rational]:
        """Return the mean a + R·S/(K·n)."""
        sums = self._check_answer(answer, Total)
        return (self.codes.lower + self.codes.width * mpq(sums.total, self.codes.steps * self.n),)
