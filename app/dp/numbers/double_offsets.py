"""Adds one exact number to many doubles, with the roundings of `app.dp.numbers.exact`, mostly in double arithmetic.

As in `app.dp.mechanism.bulk_draw`, doubles only filter. By Knuth's exact sum of two doubles, `double + offset` is
t + r + δ. Here t is a double, r is the error of rounding to t, and δ is the error of writing the offset as two doubles
plus one more rounding. If |r| exceeds a bound of |δ|, then r + δ has the sign of r, so the sign of r tells on which
side of t the sum lies. The sum is less than one step from t, since |r| is at most half a step. All other sums are
computed exactly, one by one.

All sums must be far below the largest double.
"""

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.numbers.exact import Rational, round_down, to_nearest_double

Doubles = npt.NDArray[np.float64]


def add_rounding_down(doubles: Doubles, offset: Rational) -> Doubles:
    """Return, for each double, the largest double that is at most `double + offset` (`round_down`)."""
    head = to_nearest_double(offset)
    tail = to_nearest_double(offset - mpq(head))
    total, lost = _exact_sum(doubles, np.float64(head))
    rest = lost + tail
    rounded, left_out = _exact_sum(total, rest)
    below = np.where(left_out < 0, np.nextafter(rounded, -np.inf), rounded) + 0.0
    # The roundings of `rest` and `tail` have a relative error of at most 2⁻⁵³, or half of the smallest double.
    doubtful = ~(np.abs(left_out) > 2.0**-51 * (np.abs(rest) + abs(tail)) + 2.0**-1070)
    below[doubtful] = [round_down(mpq(double) + offset) for double in doubles[doubtful].tolist()]
    return below


def add_rounding_up(doubles: Doubles, offset: Rational) -> Doubles:
    """Return, for each double, the smallest double that is at least `double + offset` (`round_up`)."""
    return 0.0 - add_rounding_down(-doubles, -offset)


def _exact_sum(a: Doubles, b: Doubles | np.float64) -> tuple[Doubles, Doubles]:
    """Return the double nearest to a + b and the exact rounding error (Knuth's two-sum)."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)
