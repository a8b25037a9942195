"""The sampler of Covington's notes, section 3, with exact arithmetic except for its U of 53 bits."""

from gmpy2 import mpq

from app.dp.mechanism.draw import REFINEMENT_BITS, first_bits, round_to_grid
from app.dp.mechanism.parameters import Parameters
from app.dp.numbers.exact import Rational, down
from app.mechanism_audit.tape import Tape

_MANTISSA_BITS = 53
_PRECISION = 400


def draw_of_the_notes(x: Rational, parameters: Parameters, bits: Tape) -> Rational:
    """Return a release with U* = (1.m₁…m₅₂)·2^-e, where the exponent is geometric and the mantissa uniform.

    Such a U* is a real U truncated to its first 53 significant bits, and is drawn in this way.
    """
    length = first_bits(parameters)
    sign_bit, u = divmod(bits.bits(1 + length), 1 << length)
    while u.bit_length() < _MANTISSA_BITS:
        u = u << REFINEMENT_BITS | bits.bits(REFINEMENT_BITS)
        length += REFINEMENT_BITS
    dropped = u.bit_length() - _MANTISSA_BITS
    shortened = mpq(u >> dropped << dropped, 1 << length)
    noise = -parameters.scale * mpq(down(_PRECISION).log(shortened))
    nearest = round_to_grid(x - noise if sign_bit else x + noise, parameters.grid)
    return min(max(nearest, -parameters.bound), parameters.bound)
