"""A bound on the privacy loss of floating Snap for all inputs, proved for every case of the draft.

Write n for the noise S·ln(U)/ε. The floating result is w = (f(a) + n·g₁·g₂)·g₃ with factors from 1/(1 + η) to 1 + η.
From w >= y follows n >= (y/g₃ - f(a))/(g₁·g₂), which is at least y - f(a) - κ with

    κ(y, f(a)) = η(1 + η)²·|y| + (2η + η²)·|y - f(a)|,

and from w < y follows n < y - f(a) + κ. So whatever is released as x comes from real results f(a) + n between y₁ - κ
and y₂ + κ, and all between y₁ + κ and y₂ - κ are released as x. If U has a relative error of u, n is off by u/ε more.

The real mechanism's loss is at most ε. The logarithm of its density changes by at most ε per unit, so that an interval
gains at most p·(e^(εκ) - 1)/ε when an end at which the density is p moves outwards by κ, and loses no more when it
moves inwards: of its probability P, at most C·(e^(εκ) - 1)·P, where C = (p₁ + p₂)/(εP). That is coth(Λε/2) for an
interval of width Λ that f(a) is outside of, and no more for others. A half-line's changes by a factor e^(εκ) at most.
With κ' for the neighbour, the loss exceeds ε by at most

    ln(1 + C·(e^(εκ) - 1)) - ln(1 - C·(e^(εκ') - 1)),    or ε·(κ + κ') for x = ±B.

κ is convex, so that its maximum over all (y, f(a)) of a case, which lie in a polygon, is at a corner.
"""

from typing import TypeAlias

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.mechanism_audit.draft.cases import Case, Setting
from app.mechanism_audit.intervals import Interval, exp, ln

Corner: TypeAlias = tuple[Rational, Rational]


EXACT = mpq(0)


def excess_bound(case: Case, setting: Setting, uniform_error: Rational = EXACT) -> Rational:
    """At most by how much the loss exceeds ε in a case, whatever the input, the release and the roundings.

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
    """C = coth(Λε/2), rounded up."""
    decay = exp(Interval.point(-setting.grid * setting.epsilon), setting.precision)
    return (1 + decay.upper) / (1 - decay.upper)


def corners(case: Case, setting: Setting) -> list[Corner]:
    """The corners of a polygon with all (y, f(a)) of a case, y being an end of what snaps to the release."""
    bound, grid = setting.bound, setting.grid
    half = grid / 2
    last = (setting.outermost - mpq(1, 2)) * grid  # may be above B, by less than Λ/2
    at_either_end = (-last, last)
    polygons: dict[Case, list[Corner]] = {
        Case.LOWEST: [(-last, -bound), (-last, bound - 1)],
        # Below f(a) lies y.
        Case.BELOW_NEGATIVE: [(-last, -last), (-last, bound - 1), (-half, -half), (-half, bound - 1)],
        Case.BELOW_ZERO: [(y, query) for y in (-half, half) for query in (half, bound - 1)],
        Case.BELOW_POSITIVE: [(half, half), (half, bound - 1), (bound - 1, bound - 1)],
        # Within Λ of f(a), or between f(a) and f(a'), or within Λ of f(a').
        Case.FIRST: [(y, y + off) for y in at_either_end for off in (-grid, grid)],
        Case.BOTH: [(y, y + off) for y in at_either_end for off in (-grid, grid)],
        Case.BETWEEN: [(y, y - off) for y in at_either_end for off in (0, 1)],
        Case.SECOND: [(y, y - 1 + off) for y in at_either_end for off in (-grid, grid)],
        # Above f(a').
        Case.ABOVE_NEGATIVE: [(-half, -bound), (-half, -half - 1), (1 - bound, -bound)],
        Case.ABOVE_ZERO: [(y, query) for y in (-half, half) for query in (-bound, -half - 1)],
        Case.ABOVE_POSITIVE: [(half, -bound), (half, half - 1), (last, -bound), (last, last - 1)],
        Case.HIGHEST: [(last, -bound), (last, bound - 1)],
    }
    return polygons[case]


def _error(setting: Setting, y: Rational, query: Rational) -> Rational:
    """κ, how far roundings can move the noise that carries f(a) = `query` to y."""
    eta = setting.eta
    return eta * (1 + eta) ** 2 * abs(y) + (2 * eta + eta**2) * abs(y - query)
