"""The sum of the values' differences from the midpoint of their bounds, in total or for each group.

The mean of the rows inside a filter is derived from it, and never at a higher cost than from a plain sum of the same
rows.
"""

from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.sum import Sum
from app.dp.table.sums import Answer


@dataclass(frozen=True)
class CentredSum(Sum):
    """T = Σ (v - m₀) over the rows inside, where m₀ is the midpoint of the bounds [a, b]; R = b - a.

    A row contributes a number in [-R/2, R/2] if it is inside, and 0 otherwise. Replacing a row that stays inside
    changes T by at most R, and a row that enters or leaves changes T by at most R/2. So Δ₁ = R, which is never larger
    than a plain sum's max(b, 0) - min(a, 0).

    With groups, a row that moves from one group to another changes two sums by at most R/2 each. The L1 sensitivity of
    the vector of all sums is therefore R too, and c·R for c rows. Each group's sum is drawn with Δ = c·R at the full ε:
    Laplace noises of one scale on a vector cost its L1 sensitivity divided by the scale, and a draw is post-processing.
    """

    @property
    def _contributions(self) -> tuple[Rational, Rational]:
        """-R/2 and R/2."""
        return -self.codes.width / 2, self.codes.width / 2

    @property
    def sensitivity(self) -> Rational:
        """Δ = c·R for all groups together, or the width of the range if that is smaller."""
        return min(self.rows_per_unit * self.row_sensitivity, self.upper - self.lower)

    @property
    def mechanisms(self) -> int:
        """1, because the sensitivity already covers all groups together."""
        return 1

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """Return the sums R·(S/K - m/2), where m is the number of rows inside and S the sum of their codes."""
        width, steps = self.codes.width, self.codes.steps
        return tuple(width * (mpq(total, steps) - mpq(rows, 2)) for rows, total in self._rows_and_totals(answer))

    def describe(self) -> dict[str, Any]:
        """Return the request for this sum, ready for JSON."""
        return super().describe() | {"centred": True}

    def _distinction(self) -> list[Any]:
        return [*super()._distinction(), "centred"]
