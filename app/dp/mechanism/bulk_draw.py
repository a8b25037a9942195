"""Many draws at once: `app.dp.mechanism.draw` for a vector of counts, mostly in doubles, with exactly the same results.

Doubles only *filter*. Every element reads its sign and N bits of U in the same layout as a single draw. In units of the
grid, with y = x/G + s·(λ'/G)·(-ln U) + ½, the draw is the multiple ⌊y⌋. The filter computes y in doubles from the first
63 bits of U. It keeps ⌊y⌋ if the distance of y from the nearest whole number exceeds the possible error of the
computation. The exact draw decides every other element, from the same bits.

**The bound.** Write c = λ'/G, which is in (2^(r-1), 2^r]. Write t for the number with those 63 bits, with 0 replaced by
1, because t = 1 never passes the margin below. One rounding of a double has a relative error of at most 2⁻⁵³.

* U is in [t, t + 1]·2⁻⁶³, so ln U and ln(t·2⁻⁶³) differ by at most 1/t, and by 2⁻⁵² more for t as a double.
* -ln(t·2⁻⁶³) is at most 63·ln 2 < 44. A double below 64 has an ulp of at most 2⁻⁴⁷, so a logarithm with an error of up
  to 4 ulp (numpy's own limit) is off by at most 2⁻⁴⁵.
* c is rounded once, and so is its product with the logarithm: 2·44·2⁻⁵³·c, less than 2⁻⁴⁶·c.
* x/G is split into a whole number, which is added to ⌊y⌋ as an integer, and a rest in [0, 1), off by at most 2⁻⁵³.
  Adding ½ and the noise to the rest adds an error of at most 2⁻⁵³·(44·c + 3), less than 2⁻⁴⁷·c + 2⁻⁵¹.
* The distance of y from a whole number is computed with an error of at most 2⁻⁵³.

In total y is off by less than c·(1/t + 2⁻⁴⁴) + 2⁻⁵⁰. The margin is twice that, c·(2/t + 2⁻⁴³) + 2⁻⁴⁹, which also
covers the rounding of the margin itself and of the exact draw's ends at N bits. For t = 1 the margin is above ½, which
no distance exceeds. The exact draw decides about c·2⁻⁴² of the elements, whatever the noise is: 1 in 4,000 at the
finest grid, and almost none otherwise.

The clamps need no margin, because every ⌊y⌋ that is kept is exact: a count beyond B takes the exact path, and the outer
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
"""The number of bits of U that the filter uses; with the sign bit they are the first eight octets of an element."""

MAX_SHIFTED = 62
"""The filter counts grids in 64 bits, so it needs a bound below 2^62 grids and a grid from 2^-62 to 2^62."""


def draw_whole_numbers(x: Integers, parameters: Parameters, bits: VectorBitSource) -> ReleasedValues:
    """Return one release of each of the whole numbers `x`, in normalised units: the same as `draw` from the same bits.

    It reads the first bits of all elements in one call, and more bits as rarely as `draw` does.

    Raises:
        DrawExhausted: if 4,096 bits of U do not decide.
    """
    length = first_bits(parameters)
    size = octets(1 + length)
    content = bits.many(1 + length, len(x))
    furthest = ceil(parameters.bound / parameters.grid)  # this multiple represents the bound, even off the grid
    exponent = ceil_log2(parameters.grid)
    if furthest < 2**MAX_SHIFTED and abs(exponent) <= MAX_SHIFTED:
        multiples, settled = _round_certain(x, _leading_words(content, size), parameters, exponent)
        multiples = np.clip(multiples, -furthest, furthest)
    else:
        multiples, settled = np.zeros(len(x), object), np.zeros(len(x), bool)  # Python integers of any size
    left = np.flatnonzero(~settled).tolist()
    for i in left:
        sign_bit, u = divmod(leading_bits(content[i * size : (i + 1) * size], 1 + length), 1 << length)
        z = resolve_draw(mpq(int(x[i])), parameters, -1 if sign_bit else 1, u, length, bits)
        multiples[i] = int(ceil(z / parameters.grid) if z > 0 else floor(z / parameters.grid))  # away from 0: ±B too
    return ReleasedValues.of(multiples, lambda multiple: _release(multiple, parameters), len(left))


def _leading_words(content: bytes, size: int) -> Integers:
    """Return the first eight octets of each element: the sign bit is the sign, the rest are the first bits of U."""
    return np.ndarray(len(content) // size, ">i8", content, strides=(size,)).astype(np.int64)


def _round_certain(x: Integers, heads: Integers, parameters: Parameters, exponent: int) -> tuple[Integers, Flags]:
    """Return the multiple of the grid 2^`exponent` nearest to each noisy number, and whether each is certain."""
    steepness = to_nearest_double(parameters.scale / parameters.grid)
    t = np.maximum(heads & (2**HEAD_BITS - 1), 1).astype(np.float64)
    minus_log = -np.log(t * 2.0**-HEAD_BITS)
    noise = np.where(heads < 0, -steepness, steepness) * minus_log
    whole, rest = _to_grid_units(x, exponent)
    y = (rest + 0.5) + noise
    below = np.floor(y)
    limit = min(floor(parameters.bound), 2**MAX_SHIFTED)
    certain = (0.5 - np.abs(y - below - 0.5) > _certainty_margin(t, steepness)) & (-limit <= x) & (x <= limit)
    return whole + below.astype(np.int64), certain


def _certainty_margin(t: npt.NDArray[np.float64], steepness: float) -> npt.NDArray[np.float64]:
    """Return the distance from a whole number that y must exceed to be certain (proof in the module's docstring)."""
    return steepness * (2 / t + 2.0**-43) + 2.0**-49


def _to_grid_units(x: Integers, exponent: int) -> tuple[Integers, npt.NDArray[np.float64] | float]:
    """Return the numbers in units of the grid 2^`exponent`, split into a whole part and a rest in [0, 1)."""
    if exponent <= 0:
        return x << -exponent, 0.0
    return x >> exponent, (x & (2**exponent - 1)) * 2.0**-exponent


def _release(multiple: int, parameters: Parameters) -> Rational:
    return min(max(multiple * parameters.grid, -parameters.bound), parameters.bound)
