"""The draw: the ideal real-number snapping mechanism, rounded exactly (Mironov 2012, 5.2; Covington's notes, 2 to 5).

    z = clamp_B( ⌊ clamp_B(x) + s·λ'·(-ln U) ⌉_Λ' )

The uniform U is revealed bit by bit. A prefix u of N bits says that U lies between u/2^N and (u + 1)/2^N; when both
ends give the same z, so does every number between them, and z is the answer. Otherwise the draw is undecided, 64 more
bits are appended and both ends are computed again, 64 bits more precisely. The result is post-processing of an ideal
Laplace mechanism at ε' <= ε, so no rounding is left that could cost privacy.

States: undecided (N = p + 128) → decided, or undecided (N + 64) → …, or exhausted beyond 4,096 bits. All but a share of
2⁻¹⁰⁰ of the draws are decided at once, with the same number of bits and the same steps, whatever the noise (Jin et al.
2022).
"""

import gmpy2
from gmpy2 import mpq

from app.dp.errors import DrawExhausted
from app.dp.mechanism.parameters import GUARD_BITS, Parameters
from app.dp.numbers.exact import Rational, Real, down, real, up
from app.dp.numbers.random_bits import BitSource

REFINEMENT_BITS = 64
MOST_BITS = 4096


def round_to_grid(t: Rational, grid: Rational) -> Rational:
    """The multiple of `grid` nearest to `t`, ties toward +∞, as -1/2 → 0 and -3/2 → -1 (Mironov 2012, section 5.2)."""
    return grid * (t / grid + mpq(1, 2)).__floor__()


def first_bits(parameters: Parameters) -> int:
    """N, how many bits of U a draw starts with."""
    return parameters.precision_bits + GUARD_BITS


def draw(x: Rational, parameters: Parameters, bits: BitSource) -> Rational:
    """One release of the normalised statistic `x`, in normalised units.

    Takes one sign bit (0 is +) and N bits of U in a single call, and further bits with probability below 2⁻¹⁰⁰.

    Raises:
        DrawExhausted: if 4,096 bits of U do not decide.
    """
    length = first_bits(parameters)
    sign_bit, u = divmod(bits.bits(1 + length), 1 << length)
    return resolve_draw(x, parameters, -1 if sign_bit else 1, u, length, bits)


def resolve_draw(x: Rational, parameters: Parameters, sign: int, u: int, length: int, bits: BitSource) -> Rational:  # noqa: PLR0913, PLR0917  the state of a draw
    """Decide a draw whose `sign` and first `length` bits `u` of U are known, with further bits only if they do not.

    Raises:
        DrawExhausted: if 4,096 bits of U do not decide.
    """
    while True:
        lowest, highest = _interval_ends(x, parameters, sign, u, length)
        if lowest == highest:
            return lowest
        if length + REFINEMENT_BITS > MOST_BITS:
            raise DrawExhausted
        u = u << REFINEMENT_BITS | bits.bits(REFINEMENT_BITS)
        length += REFINEMENT_BITS


def _interval_ends(x: Rational, parameters: Parameters, sign: int, u: int, length: int) -> tuple[Rational, Rational]:
    """The releases at both ends of what the first `length` bits of U leave open, rounded outwards at that precision."""
    below, above = down(length), up(length)
    # In units of the grid, so that ⌊t⌉_Λ' is Λ'·⌊t/Λ' + 1/2⌋. Operators would round as the thread's context says:
    # every operation on MPFR numbers is called on the context that names its direction.
    start = _clamp(x, parameters.bound) / parameters.grid + mpq(1, 2)
    slope = real(-sign * parameters.scale / parameters.grid, below)  # exact: the scale has p + 128 bits
    least_log = below.log(mpq(u, 1 << length))  # -∞ for u = 0
    greatest_log = above.log(mpq(u + 1, 1 << length))
    low_log, high_log = (greatest_log, least_log) if sign > 0 else (least_log, greatest_log)
    lowest = below.add(below.mul(slope, low_log), start)
    highest = above.add(above.mul(slope, high_log), start)
    return _round_and_clamp(lowest, below, parameters), _round_and_clamp(highest, above, parameters)


def _round_and_clamp(t: Real, context: gmpy2.context, parameters: Parameters) -> Rational:
    """The multiple of the grid at or below `t`, in units of the grid and perhaps infinite, after the outer clamp."""
    if t.is_infinite():
        return parameters.bound if t > 0 else -parameters.bound
    # Exact, as `t` has the context's precision; floor() of the number itself would round to the thread's.
    return _clamp(parameters.grid * context.floor(t), parameters.bound)


def _clamp(q: Rational, bound: Rational) -> Rational:
    return min(max(q, -bound), bound)
