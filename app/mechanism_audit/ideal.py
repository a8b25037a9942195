"""The ideal mechanism in closed form, to compare the implementation with (Mironov 2012, section 5.2).

    z = clamp_B( ⌊ clamp_B(x) + s·λ'·(-ln U) ⌉_Λ' )

Releases are numbered by their cells: cell k holds what is rounded to k grids, so that it begins at (k - 1/2) grids, and
the outermost cells, at or beyond ±B, are released as ±B. This is written with exponentials, where the draw takes
logarithms, and in rationals, where the draw has MPFR numbers: the two have nothing in common but their definition.
"""

from gmpy2 import mpq

from app.dp.mechanism.parameters import Parameters
from app.dp.numbers.exact import Rational
from app.mechanism_audit.intervals import Interval, exp


def cell_of(t: Rational, parameters: Parameters) -> int:
    """The cell that the number `t` is rounded to, ties toward +∞."""
    return int((t / parameters.grid + mpq(1, 2)).__floor__())


def outermost_cell(parameters: Parameters) -> int:
    """The first cell that is released as B; its negative is the one released as -B."""
    return int((parameters.bound / parameters.grid).__ceil__())


def value_of(cell: int, parameters: Parameters) -> Rational:
    """The release of a cell, in normalised units."""
    return min(max(cell * parameters.grid, -parameters.bound), parameters.bound)


def boundary(x: Rational, parameters: Parameters, sign: int, cell: int, precision: int) -> Interval:
    """The U* = exp(s·(x - b)/λ') at which noise of that sign carries `x` to the beginning b of the cell.

    With the sign +, the release is in this cell or above exactly if U <= U*; with the sign -, it is below this cell
    exactly if U < U*. Outside (0, 1) it is only told from what is inside, and below 2^-precision only from what is
    above. The lowest cell has no beginning, and the highest no end: every U is above it, or below.
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
