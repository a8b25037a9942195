"""The sum of how far values are from the middle of their bounds, over the rows inside, in all or for each group.

What a sum over all rows or a mean of the rows inside follow from, and cheaper than a plain sum of the same rows.
"""

from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.sum import Sum
from app.dp.table.sums import Answer


@dataclass(frozen=True)
class CentredSum(Sum):
    """T = Σ (v - m₀) over the rows inside, m₀ being the midpoint of the bounds [a, b]; R = b - a.

    A row contributes a number in [-R/2, R/2] if it is inside and 0 if not. Replacing a row that stays inside changes T
    by R at most, and one that enters or leaves by R/2: Δ₁ = R, where a plain sum has max(b, 0) - min(a, 0), which is
    never smaller.

    Of groups, a row that moves from one to another changes two sums by R/2 each at most: the L1 sensitivity of all sums
    together is R as well, c·R for c rows. Each group's sum is drawn with Δ = c·R at the full ε: Laplace noises of one
    scale on a vector cost its L1 sensitivity divided by the scale, and a draw is post-processing of that noise.
    """

    @property
    def _contributions(self) -> tuple[Rational, Rational]:
        """-R/2 and R/2."""
        return -self.codes.width / 2, self.codes.width / 2

    @property
    def sensitivity(self) -> Rational:
        """Δ = c·R, of all groups together; at most the width of the range."""
        return min(self.rows_per_unit * self.row_sensitivity, self.upper - self.lower)

    @property
    def mechanisms(self) -> int:
        """1: the sensitivity is that of all groups together."""
        return 1

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """The sums R·(S/K - m/2), m being the number of rows inside and S the sum of their codes."""
        width, steps = self.codes.width, self.codes.steps
        return tuple(width * (mpq(total, steps) - mpq(rows, 2)) for rows, total in self._rows_and_totals(answer))

    def describe(self) -> dict[str, Any]:
        """The request for this sum."""
        return super().describe() | {"centred": True}

    def _distinction(self) -> list[Any]:
        return [*super()._distinction(), "centred"]
