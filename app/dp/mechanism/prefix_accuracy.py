"""Bounds the errors of all sums of the first k released numbers at once, for each k up to K, whatever the data.

Let S_k be the error of the sum of the first k numbers, and e^ψ = m(θ) + p the bound of the moment of one error (see
`sum_accuracy`). The errors are independent, so e^(θS_k - kψ) is a supermartingale that begins at 1. By Ville's
inequality it ever reaches 2/α with probability at most α/2. With the other side, for every θ,

    |S_k| < (ln(2/α) + kψ)/θ for all k at once, with probability at least 1 - α.

A union bound pays for K sums, and this line for none, but it is only as narrow as for one sum near the k for which θ is
chosen. So each range of k from K/8 to K, from K/64 to K/8 and so on has a line of its own, and k = 1 its own radius.
The first one gets three quarters of α, and each other one a quarter of what the one before gets.
"""

from dataclasses import dataclass
from functools import lru_cache

from gmpy2 import mpq

from app.dp.mechanism.parameters import Parameters
from app.dp.mechanism.sum_accuracy import moment_line, sum_radius
from app.dp.numbers.exact import Rational

_RANGE = 8
_FIRST_SHARE, _NEXT_SHARE = mpq(3, 4), mpq(1, 4)


@dataclass(frozen=True, slots=True)
class PrefixRadii:
    """Radii of the sums of the first k of some released numbers: all hold at once.

    Attributes:
        lines: for each range of k from the largest on, its least k, and the radius as a start and a step for each k.
        each: the share of α of a single sum, if a radius of its own for each sum is narrower.
    """

    parameters: Parameters
    on_grid: bool
    lines: tuple[tuple[int, Rational, Rational], ...]
    each: Rational | None

    def radius(self, count: int) -> Rational:
        """Return the radius of the sum of the first `count` numbers, in normalised units; 0 for none."""
        if count == 0:
            return mpq(0)
        if self.each is not None:
            return sum_radius(self.parameters, count, self.each, on_grid=self.on_grid)
        _, start, step = next(line for line in self.lines if count >= line[0])
        return start + count * step


@lru_cache(maxsize=256)
def prefix_radii(parameters: Parameters, most: int, alpha: Rational, *, on_grid: bool) -> PrefixRadii:
    """Return radii of the sums of the first 1, 2, … `most` numbers that hold at once with probability at least 1 - α.

    Args:
        parameters: the parameters of each released number.
        most: the largest number of numbers that are added.
        alpha: α.
        on_grid: whether the true numbers are known to be multiples of the grid.
    """
    lines, end, share = [], most, alpha * _FIRST_SHARE
    while end > 1:
        least = max(end // _RANGE + 1, 2)
        start, step = moment_line(parameters, mpq(end, 2), share, on_grid=on_grid)
        lines.append((least, start, step))
        end, share = least - 1, share * _NEXT_SHARE
    lines.append((1, sum_radius(parameters, 1, share, on_grid=on_grid), mpq(0)))
    by_line = PrefixRadii(parameters, on_grid, tuple(lines), None)
    by_union = PrefixRadii(parameters, on_grid, (), alpha / most)
    return min(by_union, by_line, key=lambda radii: radii.radius((most + 1) // 2))
