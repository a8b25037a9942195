"""The draw: the ideal real-number snapping mechanism, rounded exactly (Mironov 2012, 5.2; Covington's notes, 2 to 5).

    z = clamp_B( ⌊ clamp_B(x) + s·λ'·(-ln U) ⌉_Λ' )

The uniform U is revealed bit by bit. The first N bits u place U between u/2^N and (u + 1)/2^N. If both ends give the
same z, then every number between them gives it too, and the draw returns z. Otherwise the draw is undecided: it reads
64 more bits and computes both ends again with 64 more bits of precision. The result is post-processing of an ideal
Laplace mechanism at ε' <= ε, so no rounding error can cost privacy.

A draw starts undecided with N = p + 128 bits. Each step ends decided, undecided with N + 64 bits, or exhausted beyond
4,096 bits. All but a fraction of 2⁻¹⁰⁰ of the draws are decided at the first step, so they use the same number of bits
and operations whatever the noise is. Jin et al. (2022) attack draws whose time depends on the noise.
"""

import gmpy2
from gmpy2 import mpq

from app.dp.errors import DrawExhausted
from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, Real, down, real, up
from app.dp.numbers.random_bits import BitSource

REFINEMENT_BITS = 64
MAX_BITS = 4096


def round_to_grid(t: Rational, grid: Rational) -> Rational:
    """The multiple of `grid` nearest to `t`, ties toward +∞, as -1/2 → 0 and -3/2 → -1 (Mironov 2012, section 5.2)."""
    return grid * (t / grid + mpq(1, 2)).__floor__()


def first_bits(parameters: Parameters) -> int:
    """Return N, the number of bits of U that a draw starts with."""
    return parameters.precision_bits + GUARD_BITS


def draw(x: Rational, parameters: Parameters, bits: BitSource) -> Rational:
    """Return one release of the normalised statistic `x`, in normalised units.

    It reads one sign bit (0 is +) and N bits of U in a single call, and more bits with probability below 2⁻¹⁰⁰.

    Raises:
        DrawExhausted: if 4,096 bits of U do not decide.
    """
    length = first_bits(parameters)
    sign_bit, u = divmod(bits.bits(1 + length), 1 << length)
    return resolve_draw(x, parameters, -1 if sign_bit else 1, u, length, bits)


def resolve_draw(x: Rational, parameters: Parameters, sign: int, u: int, length: int, bits: BitSource) -> Rational:  # noqa: PLR0913, PLR0917  the state of a draw
    """Finish a draw with a known `sign` and the first `length` bits `u` of U; read more bits only if needed.

    Raises:
        DrawExhausted: if 4,096 bits of U do not decide.
    """
    while True:
        lowest, highest = _interval_ends(x, parameters, sign, u, length)
        if lowest == highest:
            return lowest
        if length + REFINEMENT_BITS > MAX_BITS:
            raise DrawExhausted
        u = u << REFINEMENT_BITS | bits.bits(REFINEMENT_BITS)
        length += REFINEMENT_BITS


def _interval_ends(x: Rational, parameters: Parameters, sign: int, u: int, length: int) -> tuple[Rational, Rational]:
    """Return the releases at both ends of the interval of U given by its first `length` bits, rounded outwards."""
    below, above = down(length), up(length)
    # In units of the grid, so that ⌊t⌉_Λ' is Λ'·⌊t/Λ' + 1/2⌋. Operators on MPFR numbers round as the thread's context
    # says, so every operation is called on a context with the wanted direction instead.
    start = _clamp(x, parameters.bound) / parameters.grid + mpq(1, 2)
    slope = real(-sign * parameters.scale / parameters.grid, below)  # exact: the scale has p + 128 bits
    least_log = below.log(mpq(u, 1 << length))  # -∞ for u = 0
    greatest_log = above.log(mpq(u + 1, 1 << length))
    low_log, high_log = (greatest_log, least_log) if sign > 0 else (least_log, greatest_log)
    lowest = below.add(below.mul(slope, low_log), start)
    highest = above.add(above.mul(slope, high_log), start)
    return _round_and_clamp(lowest, below, parameters), _round_and_clamp(highest, above, parameters)


def _round_and_clamp(t: Real, context: gmpy2.context, parameters: Parameters) -> Rational:
    """Return the largest multiple of the grid that is at most `t` grids, after the outer clamp; `t` may be infinite."""
    if t.is_infinite():
        return parameters.bound if t > 0 else -parameters.bound
    # Exact, because `t` has the context's precision; floor() without a context would round to the thread's.
    return _clamp(parameters.grid * context.floor(t), parameters.bound)


def _clamp(q: Rational, bound: Rational) -> Rational:
    return min(max(q, -bound), bound)
