"""The bias of a release in closed form: the difference between its mean and a guessed statistic, never the true one.

All numbers are in normalised units. The formula differs from the notes, which multiply a partial expectation by a
probability by mistake. Numbers are exact rationals until MPFR takes an exponential, with over 100 bits to spare after
cancellation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import gmpy2
from gmpy2 import mpfr, mpq

from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, Real


def bias(parameters: Parameters, guess: Rational) -> Rational:
    """Return the bias E[z] - x for the normalised statistic x = `guess`, clamped to [-B', B'] (mathematics, "Bias").

    With J = ⌊B/G⌋, q = B - JG, e = (J + 1/2)G, M = ⌊x/G + 1/2⌋ and θ = x - MG, G being the grid and λ the scale, it is

        G·sinh(θ/λ)/(2·sinh(G/(2λ))) - θ - 1/2·[exp((x - e)/λ) - exp(-(x + e)/λ)]·(G/(1 - exp(-G/λ)) - q)

    The first two terms are the effect of rounding to the grid, the last is the effect of the outer clamp. The bias is
    an odd function of x. The error of the computation is below 2⁻¹⁰⁰ grids.
    """
    x = min(max(guess, -parameters.b_prime), parameters.b_prime)
    return mpq(_ClosedForm.of(parameters).at(x, _cell_index(x, parameters)))


def largest_bias(parameters: Parameters) -> Rational:
    """Return the largest bias |E[z] - x| over all x in [-B', B'], rounded up by less than 2⁻⁹⁹ grids.

    The maximum is at B', at an end of one of the two outermost cells, or inside them where the derivative is 0. Cells
    further inside cannot have a larger bias: the effect of rounding repeats and the effect of the clamp is smaller.
    """
    closed = _ClosedForm.of(parameters)
    # Convert to rationals first, because abs() of an MPFR number rounds to the precision of the thread's context.
    return max(abs(mpq(closed.at(x, m))) for x, m in closed.candidates()) + parameters.grid / 2**100


def _cell_index(x: Rational, parameters: Parameters) -> int:
    return int((x / parameters.grid + mpq(1, 2)).__floor__())


@dataclass(frozen=True, slots=True)
class _ClosedForm:
    """The parts of the closed form that do not depend on x."""

    parameters: Parameters
    context: gmpy2.context
    edge: Rational  # e, where the outermost cell begins
    weight: Real  # G/(1 - exp(-G/λ)) - q: the mean distance that the clamp removes when it binds
    width: Real  # W = 2·sinh(G/(2λ))

    @classmethod
    def of(cls, parameters: Parameters) -> "_ClosedForm":
        # G·sinh(θ/λ)/W - θ loses about 2r bits by cancellation, (G/λ)² = 2^-2r; the weight is about λ, so 2^r grids.
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
        """Return the closed form at x in the cell m; where two cells meet, both are valid."""
        context, grid, scale = self.context, self.parameters.grid, self.parameters.scale
        theta = x - m * grid
        rounded = context.div(context.mul(grid, context.sinh(mpfr(theta / scale, 0, context))), self.width)
        upper, lower = self._exp((x - self.edge) / scale), self._exp(-(x + self.edge) / scale)
        clamped = context.div(context.mul(context.sub(upper, lower), self.weight), 2)
        return context.sub(context.sub(rounded, theta), clamped)

    def candidates(self) -> Iterator[tuple[Rational, int]]:
        """Yield the x >= 0 at which |bias| can be largest, each with its cell; x < 0 is symmetric."""
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
        """Yield the x at which the derivative in cell m is 0: x = mG + λ·ln y with a·y² - λ·y + b = 0."""
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
        # Compute one root from the sum, which does not cancel, and the other from the product of both, b/a.
        sum_ = context.add(mpfr(scale, 0, context), root)
        roots = [context.div(context.mul(2, b), sum_)] + ([context.div(sum_, context.mul(2, a))] if a else [])
        for y in roots:
            if y > 0:
                yield m * grid + scale * mpq(context.log(y))

    def _exp(self, exponent: Rational) -> Real:
        return self.context.exp(mpfr(exponent, 0, self.context))
