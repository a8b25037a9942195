"""What all counts of rows have in common: a histogram's, a table's, a filter's."""

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
    """Numbers of rows, one for each component; range, sensitivity and all the rest are one component's, in rows."""

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
        """⌊n/2⌋, a whole number, so that releases are whole numbers where the grid is."""
        return mpq(self.n // 2)

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
        """The components, out of counts that must be of all `n` rows: the sensitivity holds for no other number."""
        if sum(answer) != self.n:
            raise ValueError("the counts are not those that this statistic needs")
        return tuple(answer)


@dataclass(frozen=True)
class SharedCounts(Counts, ABC):
    """Counts of bins of which each row is in one at most, each bin a mechanism of its own.

    One person's c rows leave at most c bins and enter others, so the counts change by at most 2c in all: with ε/(2c)
    for each bin, all of them together cost ε.
    """

    @property
    def sensitivity(self) -> Rational:
        """1 for each bin: the number of rows of a person is in the number of mechanisms."""
        return mpq(1)

    @property
    def mechanisms(self) -> int:
        """2c, by how much one person's c rows can change the counts in all."""
        return 2 * self.rows_per_unit

    def from_centre(self, answer: Answer) -> npt.NDArray[np.int64]:
        """The counts less the centre: whole numbers, and normalised ones, as the sensitivity is 1."""
        return np.array(self._counts(answer), np.int64) - self.n // 2
