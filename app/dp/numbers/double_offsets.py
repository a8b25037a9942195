"""One exact number added to many doubles, with the roundings of `app.dp.numbers.exact`: most of it in doubles.

As in `app.dp.mechanism.bulk_draw`, doubles only filter. By Knuth's exact sum of two doubles, `double + offset` is
t + r + δ: t is a double, r is what rounding to t left out, and δ is what the offset loses as a sum of two doubles, and
one rounding more. Where |r| is above a bound of |δ|, r + δ has the sign of r, which says on what side of t the sum
lies; it lies less than a step away, since r is at most half of one. The other sums are rounded one by one.

All sums must be far below the largest double.
"""

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.numbers.exact import Rational, round_down, to_nearest_double

Doubles = npt.NDArray[np.float64]


def add_rounding_down(doubles: Doubles, offset: Rational) -> Doubles:
    """The largest double that is at most `double + offset`, for each (`round_down`)."""
    head = to_nearest_double(offset)
    tail = to_nearest_double(offset - mpq(head))
    total, lost = _exact_sum(doubles, np.float64(head))
    rest = lost + tail
    rounded, left_out = _exact_sum(total, rest)
    below = np.where(left_out < 0, np.nextafter(rounded, -np.inf), rounded) + 0.0
    # Each rounding, of `rest` and of the tail, is off by at most 2⁻⁵³ of it, or by half of the smallest double.
    doubtful = ~(np.abs(left_out) > 2.0**-51 * (np.abs(rest) + abs(tail)) + 2.0**-1070)
    below[doubtful] = [round_down(mpq(double) + offset) for double in doubles[doubtful].tolist()]
    return below


def add_rounding_up(doubles: Doubles, offset: Rational) -> Doubles:
    """The smallest double that is at least `double + offset`, for each (`round_up`)."""
    return 0.0 - add_rounding_down(-doubles, -offset)


def _exact_sum(a: Doubles, b: Doubles | np.float64) -> tuple[Doubles, Doubles]:
    """The double nearest to a + b, and the rest of it, exactly (Knuth)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)
