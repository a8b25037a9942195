"""How far the mean of a release is from the statistic, for a guess of the statistic: never from the data.

In normalised units, in closed form. The notes multiply a partial expectation by a probability instead, which is wrong.
Numbers are exact rationals until an exponential is taken, by MPFR with more than 100 bits beyond what cancels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr, mpq

from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, Real


def bias(parameters: Parameters, guess: Rational) -> Rational:
    """E[z] - x for the normalised statistic x that is `guess`, cut to [-B', B'].

    With J = ⌊B/G⌋, q = B - JG, e = (J + 1/2)G, M = ⌊x/G + 1/2⌋ and θ = x - MG, G being the grid and λ the scale, it is

        G·sinh(θ/λ)/(2·sinh(G/(2λ))) - θ - 1/2·[exp((x - e)/λ) - exp(-(x + e)/λ)]·(G/(1 - exp(-G/λ)) - q)

    The first two terms are what rounding to the grid does, the last is what the outer clamp does. It is odd in x.
    The error is below 2⁻¹⁰⁰ grids.
    """
    x = min(max(guess, -parameters.b_prime), parameters.b_prime)
    return mpq(_ClosedForm.of(parameters).at(x, _cell_index(x, parameters)))


def largest_bias(parameters: Parameters) -> Rational:
    """The largest |E[z] - x| over all x in [-B', B'].

    It is at B', at an end of one of the two outermost cells, or inside these where the derivative is 0: in the cells
    further inside, the rounding's part repeats and the clamp's is smaller. Never below the truth, and above it by less
    than 2⁻⁹⁹ grids.
    """
    closed = _ClosedForm.of(parameters)
    # As rationals: abs() of an MPFR number would round to the thread's precision.
    return max(abs(mpq(closed.at(x, m))) for x, m in closed.candidates()) + parameters.grid / 2**100


def _cell_index(x: Rational, parameters: Parameters) -> int:
    return int((x / parameters.grid + mpq(1, 2)).__floor__())


@dataclass(frozen=True, slots=True)
class _ClosedForm:
    """The parts of the closed form that do not depend on x."""

    parameters: Parameters
    context: gmpy2.context
    edge: Rational  # e, where the outermost cell begins
    weight: Real  # G/(1 - exp(-G/λ)) - q: how far the clamp cuts on average, once it binds
    width: Real  # W = 2·sinh(G/(2λ))

    @classmethod
    def of(cls, parameters: Parameters) -> "_ClosedForm":
        # sinh(θ/λ)/W cancels with θ to some (G/λ)², which is 2^-2r; a weight is about λ, so 2^r grids.
        precision = parameters.precision_bits + GUARD_BITS + 4 * parameters.grid_refinement
        context = gmpy2.context(precision=precision)
        grid, scale = parameters.grid, parameters.scale
        whole = int((parameters.bound / grid).__floor__())
        left = parameters.bound - whole * grid
        # 1 - exp(-g) is -expm1(-g), which does not cancel.
        tail = context.div(mpfr(grid, 0, context), context.minus(context.expm1(mpfr(-grid / scale, 0, context))))
        return cls(
            parameters,
            context,
            edge=(whole + mpq(1, 2)) * grid,
            weight=context.sub(tail, left),
            width=context.mul(2, context.sinh(mpfr(grid / scale / 2, 0, context))),
        )

    def at(self, x: Rational, m: int) -> Real:
        """The closed form at x in the cell m, either of which may be taken where two meet."""
        context, grid, scale = self.context, self.parameters.grid, self.parameters.scale
        theta = x - m * grid
        rounded = context.div(context.mul(grid, context.sinh(mpfr(theta / scale, 0, context))), self.width)
        upper, lower = self._exp((x - self.edge) / scale), self._exp(-(x + self.edge) / scale)
        clamped = context.div(context.mul(context.sub(upper, lower), self.weight), 2)
        return context.sub(context.sub(rounded, theta), clamped)

    def candidates(self) -> Iterator[tuple[Rational, int]]:
        """Where |bias| may be largest, each with a cell: for x >= 0, since the bias is odd."""
        parameters = self.parameters
        grid, most = parameters.grid, parameters.b_prime
        last = _cell_index(most, parameters)
        yield most, last
        for m in range(max(last - 1, 0), last + 1):
            begin, end = max((m - mpq(1, 2)) * grid, mpq(0)), min((m + mpq(1, 2)) * grid, most)
            yield begin, m
            yield end, m
            for x in self._stationary(m):
                if begin < x < end:
                    yield x, m

    def _stationary(self, m: int) -> Iterator[Rational]:
        """Where the derivative in cell m is 0: x = mG + λ·ln y with a·y² - λ·y + b = 0."""
        context, grid, scale = self.context, self.parameters.grid, self.parameters.scale
        half = context.div(grid, context.mul(2, self.width))
        a, b = (
            context.sub(half, context.div(context.mul(self.weight, self._exp((side * grid - self.edge) / scale)), 2))
            for side in (m, -m)
        )
        discriminant = context.sub(mpfr(scale**2, 0, context), context.mul(4, context.mul(a, b)))
        if discriminant < 0:
            return
        root = context.sqrt(discriminant)
        # One of the two by the sum, which does not cancel, and the other from their product b/a.
        sum_ = context.add(mpfr(scale, 0, context), root)
        roots = [context.div(context.mul(2, b), sum_)] + ([context.div(sum_, context.mul(2, a))] if a else [])
        for y in roots:
            if y > 0:
                yield m * grid + scale * mpq(context.log(y))

    def _exp(self, exponent: Rational) -> Real:
        return self.context.exp(mpfr(exponent, 0, self.context))
