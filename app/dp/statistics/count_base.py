"""The base classes of all counts of rows: of histograms, two-way tables and filters."""

from abc import ABC
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.base import Statistic
from app.dp.table.sums import Answer


@dataclass(frozen=True)
class Counts(Statistic, ABC):
    """Numbers of rows, one for each component; range and sensitivity are those of one component, in rows."""

    @property
    def lower(self) -> Rational:
        """0."""
        return mpq(0)

    @property
    def upper(self) -> Rational:
        """The number of rows, n."""
        return mpq(self.n)

    @property
    def row_sensitivity(self) -> Rational:
        """1 for each component."""
        return mpq(1)

    @property
    def centre(self) -> Rational:
        """⌊n/2⌋, a whole number, so that releases are whole numbers if the grid is."""
        return mpq(self.n // 2)

    @property
    def furthest_centre(self) -> Rational:
        """⌈n/2⌉: a count may be released as n minus another one."""
        return mpq(self.n - self.n // 2)

    @property
    def b_prime(self) -> Rational:
        """⌈n/2⌉/Δ."""
        return (self.n - self.n // 2) / self.sensitivity

    @property
    def rounding(self) -> Rational:
        """0: counts are exact."""
        return mpq(0)

    def values(self, answer: Answer) -> tuple[Rational, ...]:
        """The counts."""
        return tuple(mpq(count) for count in self._counts(answer))

    def _counts(self, answer: Answer) -> tuple[int, ...]:
        """Return the counts after checking that they sum to `n` rows, for which the sensitivity holds."""
        if sum(answer) != self.n:
            raise ValueError("the counts are not those that this statistic needs")
        return tuple(answer)


@dataclass(frozen=True)
class SharedCounts(Counts, ABC):
    """Counts of disjoint bins, with a mechanism for each bin.

    One person's c rows leave at most c bins and enter at most c others, so the counts change by at most 2c in total.
    With ε/(2c) for each bin, all bins together cost ε.

    Two bins that have all n rows are one number, since n is public. Only the first count is drawn, with ε/c, since the
    c rows change it by at most c. The second count is n minus the first one: post-processing.
    """

    @property
    def sensitivity(self) -> Rational:
        """1 for each bin; `mechanisms` accounts for the number of rows of a person."""
        return mpq(1)

    @property
    def has_all_rows(self) -> bool:
        """Whether each row is in one of the bins."""
        return True

    @property
    def complementary(self) -> bool:
        """Whether the counts are two whose sum is n, so that one draw is enough."""
        return self.components == 2 and self.has_all_rows

    @property
    def mechanisms(self) -> int:
        """2c, the largest total change of the counts by one person's c rows; c if only one count is drawn."""
        return self.rows_per_unit * (1 if self.complementary else 2)

    @property
    def draws(self) -> int:
        """One for each count; 1 if the other count is n minus it."""
        return 1 if self.complementary else self.components

    def from_centre(self, answer: Answer) -> npt.NDArray[np.int64]:
        """Return the drawn counts minus the centre: whole numbers in normalised units, since the sensitivity is 1."""
        return np.array(self._counts(answer)[: self.draws], np.int64) - self.n // 2

    def _one_draw(self) -> list[str]:
        """Return what tells these counts from older releases of them, with a draw for each of two counts."""
        return ["one draw"] * self.complementary
