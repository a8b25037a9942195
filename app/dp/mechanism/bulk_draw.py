"""Many draws at once: `app.dp.mechanism.draw` for a vector of counts, mostly in doubles, with the very same outcomes.

Doubles only *filter*. Every element takes its sign and N bits of U, laid out as a single draw's. In units of the grid,
with y = x/G + s·(λ'/G)·(-ln U) + ½, the draw is the multiple ⌊y⌋. The filter computes y in doubles from the first 63
bits of U and keeps ⌊y⌋ where y is farther from a whole number than the computation can be wrong; every other element is
handed, with its bits, to the exact draw.

**The bound.** Write c = λ'/G, which is in (2^(r-1), 2^r]; t for the number that the 63 bits are, but 1 for 0, which no
margin below lets pass; and 2⁻⁵³ for the largest relative error of one rounding of a double.

* U is in [t, t + 1]·2⁻⁶³, so ln U and ln(t·2⁻⁶³) differ by at most 1/t, and by 2⁻⁵² more for t as a double.
* -ln(t·2⁻⁶³) is at most 63·ln 2 < 44. A double below 64 has an ulp of at most 2⁻⁴⁷, so a logarithm of nothing better
  than 4 ulp (what numpy asks of its own) is off by at most 2⁻⁴⁵.
* c is rounded once, and so is its product with the logarithm: 2·44·2⁻⁵³·c, less than 2⁻⁴⁶·c.
* x/G is split into a whole number, added to ⌊y⌋ as an integer, and a rest in [0, 1), off by at most 2⁻⁵³. Adding ½ to
  the rest, and the noise to that, costs at most 2⁻⁵³·(44·c + 3), less than 2⁻⁴⁷·c + 2⁻⁵¹.
* The distance of y from a whole number is computed with an error of at most 2⁻⁵³.

In all y is off by less than c·(1/t + 2⁻⁴⁴) + 2⁻⁵⁰. The margin is c·(2/t + 2⁻⁴³) + 2⁻⁴⁹: larger by so much that neither
its own rounding nor that of the exact draw's ends, of N bits, can matter, and for t = 1 it is above ½, as no distance
is. The share of the exact path is about c·2⁻⁴², whatever the noise: 1 in 4,000 at the finest grid, else next to none.

The clamps need no margin, since ⌊y⌋ is exact where it is kept: a count beyond B takes the exact path, and the outer
clamp compares whole numbers.
"""

from math import ceil, floor

import numpy as np
import numpy.typing as npt
from gmpy2 import mpq

from app.dp.mechanism.draw import first_bits, resolve_draw
from app.dp.mechanism.parameters import Parameters, ceil_log2
from app.dp.mechanism.released_values import ReleasedValues
from app.dp.numbers.exact import Rational, to_nearest_double
from app.dp.numbers.random_bits import VectorBitSource, leading_bits, octets

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

HEAD_BITS = 63
"""How many bits of U the filter looks at: with the sign, the first eight octets of an element."""

MOST_SHIFTED = 62
"""The filter counts grids in 64 bits: the bound has fewer than 2^62, and the grid is from 2^-62 to 2^62."""


def draw_whole_numbers(x: Integers, parameters: Parameters, bits: VectorBitSource) -> ReleasedValues:
    """One release of each of the whole numbers `x`, in normalised units: as `draw` would release it from its bits.

    Takes the bits of all in one call, and further bits as seldom as `draw` does.

    Raises:
        DrawExhausted: if 4,096 bits of U do not decide.
    """
    length = first_bits(parameters)
    size = octets(1 + length)
    content = bits.many(1 + length, len(x))
    furthest = ceil(parameters.bound / parameters.grid)  # as a multiple, stands for the bound itself, on grid or not
    exponent = ceil_log2(parameters.grid)
    if furthest < 2**MOST_SHIFTED and abs(exponent) <= MOST_SHIFTED:
        multiples, settled = _round_certain(x, _leading_words(content, size), parameters, exponent)
        multiples = np.clip(multiples, -furthest, furthest)
    else:
        multiples, settled = np.zeros(len(x), object), np.zeros(len(x), bool)  # whole numbers of any size
    left = np.flatnonzero(~settled).tolist()
    for i in left:
        sign_bit, u = divmod(leading_bits(content[i * size : (i + 1) * size], 1 + length), 1 << length)
        z = resolve_draw(mpq(int(x[i])), parameters, -1 if sign_bit else 1, u, length, bits)
        multiples[i] = int(ceil(z / parameters.grid) if z > 0 else floor(z / parameters.grid))  # away from 0: ±B too
    return ReleasedValues.of(multiples, lambda multiple: _release(multiple, parameters), len(left))


def _leading_words(content: bytes, size: int) -> Integers:
    """The first eight octets of each element: its sign as the sign, then the first bits of its U."""
    return np.ndarray(len(content) // size, ">i8", content, strides=(size,)).astype(np.int64)


def _round_certain(x: Integers, heads: Integers, parameters: Parameters, exponent: int) -> tuple[Integers, Flags]:
    """The multiple of the grid 2^`exponent` nearest to each noisy number, and whether it is certain."""
    steepness = to_nearest_double(parameters.scale / parameters.grid)
    t = np.maximum(heads & (2**HEAD_BITS - 1), 1).astype(np.float64)
    minus_log = -np.log(t * 2.0**-HEAD_BITS)
    noise = np.where(heads < 0, -steepness, steepness) * minus_log
    whole, rest = _to_grid_units(x, exponent)
    y = (rest + 0.5) + noise
    below = np.floor(y)
    limit = min(floor(parameters.bound), 2**MOST_SHIFTED)
    certain = (0.5 - np.abs(y - below - 0.5) > _certainty_margin(t, steepness)) & (-limit <= x) & (x <= limit)
    return whole + below.astype(np.int64), certain


def _certainty_margin(t: npt.NDArray[np.float64], steepness: float) -> npt.NDArray[np.float64]:
    """How far from a whole number y must be: more than its error, by the proof above."""
    return steepness * (2 / t + 2.0**-43) + 2.0**-49


def _to_grid_units(x: Integers, exponent: int) -> tuple[Integers, npt.NDArray[np.float64] | float]:
    """The numbers in units of the grid 2^`exponent`: the whole part, and a rest in [0, 1)."""
    if exponent <= 0:
        return x << -exponent, 0.0
    return x >> exponent, (x & (2**exponent - 1)) * 2.0**-exponent


def _release(multiple: int, parameters: Parameters) -> Rational:
    return min(max(multiple * parameters.grid, -parameters.bound), parameters.bound)
