"""A bound of the privacy loss of floating-point Snap for all inputs, with a proof for each case of the draft.

Write n for the noise S·ln(U)/ε. The floating-point result is w = (f(a) + n·g₁·g₂)·g₃ with factors from 1/(1 + η) to
1 + η. If w >= y, then n >= (y/g₃ - f(a))/(g₁·g₂), which is at least y - f(a) - κ with

    κ(y, f(a)) = η(1 + η)²·|y| + (2η + η²)·|y - f(a)|,

and if w < y, then n < y - f(a) + κ. So a release x comes from a real result f(a) + n between y₁ - κ and y₂ + κ, and all
real results between y₁ + κ and y₂ - κ are released as x. If U has a relative error of u, n is off by another u/ε.

The loss of the real mechanism is at most ε. The logarithm of its density changes by at most ε per unit. So if an end of
an interval with density p moves outwards by κ, the interval's probability P grows by at most p·(e^(εκ) - 1)/ε; if it
moves inwards, P falls by no more. For both ends, P changes by at most C·(e^(εκ) - 1)·P with C = (p₁ + p₂)/(εP). C is
coth(Λε/2) for an interval of width Λ that does not contain f(a), and at most that for others. The probability of a
half-line changes by at most a factor of e^(εκ). With κ' for the neighbour, the loss exceeds ε by at most

    ln(1 + C·(e^(εκ) - 1)) - ln(1 - C·(e^(εκ') - 1)),    or ε·(κ + κ') for x = ±B.

The points (y, f(a)) of a case lie in a polygon. κ is convex, so its maximum over the polygon is at a corner.
"""

from typing import TypeAlias

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.mechanism_audit.draft.cases import Case, Setting
from app.mechanism_audit.intervals import Interval, exp, ln

Corner: TypeAlias = tuple[Rational, Rational]


EXACT = mpq(0)


def excess_bound(case: Case, setting: Setting, uniform_error: Rational = EXACT) -> Rational:
    """Return a bound of the loss minus ε in a case, for all inputs, releases and roundings.

    `uniform_error` is the relative error u of U.
    """
    worst = [
        max(_error(setting, y, query + shift) for y, query in corners(case, setting)) + uniform_error / setting.epsilon
        for shift in (0, 1)
    ]
    if case in {Case.LOWEST, Case.HIGHEST}:
        return setting.epsilon * sum(worst)
    steepness = density_ratio(setting)
    gains = [steepness * (exp(Interval.point(setting.epsilon * k), setting.precision).upper - 1) for k in worst]
    return max(
        ln(Interval.point((1 + gained) / (1 - lost)), setting.precision).upper
        for gained, lost in (gains, reversed(gains))
    )


def density_ratio(setting: Setting) -> Rational:
    """Return C = coth(Λε/2), rounded up."""
    decay = exp(Interval.point(-setting.grid * setting.epsilon), setting.precision)
    return (1 + decay.upper) / (1 - decay.upper)


def corners(case: Case, setting: Setting) -> list[Corner]:
    """Return the corners of a polygon that contains all (y, f(a)) of a case; y is an end of a release's cell."""
    bound, grid = setting.bound, setting.grid
    half = grid / 2
    last = (setting.outermost - mpq(1, 2)) * grid  # can exceed B by less than Λ/2
    at_either_end = (-last, last)
    polygons: dict[Case, list[Corner]] = {
        Case.LOWEST: [(-last, -bound), (-last, bound - 1)],
        # y is below f(a).
        Case.BELOW_NEGATIVE: [(-last, -last), (-last, bound - 1), (-half, -half), (-half, bound - 1)],
        Case.BELOW_ZERO: [(y, query) for y in (-half, half) for query in (half, bound - 1)],
        Case.BELOW_POSITIVE: [(half, half), (half, bound - 1), (bound - 1, bound - 1)],
        # y is within Λ of f(a), or between f(a) and f(a'), or within Λ of f(a').
        Case.FIRST: [(y, y + off) for y in at_either_end for off in (-grid, grid)],
        Case.BOTH: [(y, y + off) for y in at_either_end for off in (-grid, grid)],
        Case.BETWEEN: [(y, y - off) for y in at_either_end for off in (0, 1)],
        Case.SECOND: [(y, y - 1 + off) for y in at_either_end for off in (-grid, grid)],
        # y is above f(a').
        Case.ABOVE_NEGATIVE: [(-half, -bound), (-half, -half - 1), (1 - bound, -bound)],
        Case.ABOVE_ZERO: [(y, query) for y in (-half, half) for query in (-bound, -half - 1)],
        Case.ABOVE_POSITIVE: [(half, -bound), (half, half - 1), (last, -bound), (last, last - 1)],
        Case.HIGHEST: [(last, -bound), (last, bound - 1)],
    }
    return polygons[case]


def _error(setting: Setting, y: Rational, query: Rational) -> Rational:
    """Return κ, the largest change by rounding of the noise that moves f(a) = `query` to y."""
    eta = setting.eta
    return eta * (1 + eta) ** 2 * abs(y) + (2 * eta + eta**2) * abs(y - query)
