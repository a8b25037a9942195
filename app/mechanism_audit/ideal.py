"""The ideal mechanism in closed form, to compare the implementation with (Mironov 2012, section 5.2).

    z = clamp_B( ⌊ clamp_B(x) + s·λ'·(-ln U) ⌉_Λ' )

Releases are numbered by their cells. Cell k contains the numbers that are rounded to k grids, so it begins at (k - 1/2)
grids. The outermost cells, at or beyond ±B, are released as ±B. To be independent of the draw's code, this module uses
exponentials instead of logarithms, and rationals instead of MPFR numbers.
"""

from gmpy2 import mpq

from app.dp.mechanism.parameters import Parameters
from app.dp.numbers.exact import Rational
from app.mechanism_audit.intervals import Interval, exp


def cell_of(t: Rational, parameters: Parameters) -> int:
    """Return the cell to which the number `t` is rounded, ties toward +∞."""
    return int((t / parameters.grid + mpq(1, 2)).__floor__())


def outermost_cell(parameters: Parameters) -> int:
    """Return the lowest cell that is released as B; its negative is the highest cell that is released as -B."""
    return int((parameters.bound / parameters.grid).__ceil__())


def value_of(cell: int, parameters: Parameters) -> Rational:
    """Return the release of a cell, in normalised units."""
    return min(max(cell * parameters.grid, -parameters.bound), parameters.bound)


def boundary(x: Rational, parameters: Parameters, sign: int, cell: int, precision: int) -> Interval:
    """Return U* = exp(s·(x - b)/λ'), at which noise of sign s moves `x` to the beginning b of the cell.

    With the sign +, the release is in this cell or above if and only if U <= U*. With the sign -, it is below this cell
    if and only if U < U*. For U* > 1 the result is just some interval above 1, and
    for a tiny U* it is an interval that starts at 0 and contains U*. The lowest cell has no beginning and the highest
    no end: the result is 2 there if the condition holds for every U, and -1 if it holds for none.
    """
    outermost = outermost_cell(parameters)
    if not -outermost < cell <= outermost:
        return Interval.point(mpq(2 if (cell > 0) == (sign < 0) else -1))
    begin = (cell - mpq(1, 2)) * parameters.grid
    start = min(max(x, -parameters.bound), parameters.bound)
    exponent = min(sign * (start - begin) / parameters.scale, mpq(1))
    if exponent < -precision:
        return Interval(mpq(0), exp(Interval.point(mpq(-precision)), precision).upper)
    return exp(Interval.point(exponent), precision)
