"""Broken mechanisms, each in one way; what is left of it is the production code.

Some evaluate the mechanism at one point, as published implementations do: `at_point` rounds and clamps like the draw.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from gmpy2 import mpq

from app.dp.mechanism import draw as production
from app.dp.mechanism.draw import first_bits, resolve_draw, round_to_grid
from app.dp.mechanism.parameters import Parameters, derive_parameters
from app.dp.numbers.exact import down, real
from app.dp.numbers.random_bits import BitSource
from app.mechanism_audit.draft.notes import draw_of_the_notes
from app.mechanism_audit.subject import SINGLE, Implementation

PRECISE = down(400)


def at_point(x: mpq, parameters: Parameters, sign: int, minus_log: mpq) -> mpq:
    nearest = round_to_grid(x + sign * parameters.scale * minus_log, parameters.grid)
    return min(max(nearest, -parameters.bound), parameters.bound)


def minus_log(u: mpq) -> mpq:
    return -mpq(PRECISE.log(u))


def sign_and_u(bits: BitSource, length: int) -> tuple[int, int]:
    sign_bit, u = divmod(bits.bits(1 + length), 1 << length)
    return (-1 if sign_bit else 1), u


def uniform_of_53_bits(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    sign, u = sign_and_u(bits, 53)
    return at_point(x, parameters, sign, minus_log(mpq(2 * u + 1, 2**54)))


def logarithm_as_a_double(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    length = first_bits(parameters)
    sign, u = sign_and_u(bits, length)
    return at_point(x, parameters, sign, mpq(float(minus_log(mpq(2 * u + 1, 2 << length)))))


def biased_sign(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    """Negative only if two bits say so."""
    length = first_bits(parameters)
    both = bits.bits(2)
    return resolve_draw(x, parameters, -1 if both == 3 else 1, bits.bits(length), length, bits)


def slightly_biased_sign(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    """Positive as well if the last twelve bits of U are 0."""
    length = first_bits(parameters)
    sign, u = sign_and_u(bits, length)
    return resolve_draw(x, parameters, 1 if u % 2**12 == 0 else sign, u, length, bits)


def sign_reused(position: int) -> Callable[..., mpq]:
    """The sign bit is a bit of U as well, counted from the highest."""

    def draw(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
        length = first_bits(parameters)
        sign, u = sign_and_u(bits, length)
        bit = 1 << length - 1 - position
        return resolve_draw(x, parameters, sign, u | bit if sign < 0 else u & ~bit, length, bits)

    return draw


def refinement_picks_the_lower_end(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    length = first_bits(parameters)
    sign, u = sign_and_u(bits, length)
    return production._interval_ends(x, parameters, sign, u, length)[0]


def refinement_redraws(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    length = first_bits(parameters)
    sign, u = sign_and_u(bits, length)
    while True:
        lowest, highest = production._interval_ends(x, parameters, sign, u, length)
        if lowest == highest:
            return lowest
        u = bits.bits(length)


def refinement_redraws_the_last_bits(x: mpq, parameters: Parameters, bits: BitSource) -> mpq:
    length = first_bits(parameters)
    sign, u = sign_and_u(bits, length)
    while True:
        lowest, highest = production._interval_ends(x, parameters, sign, u, length)
        if lowest == highest:
            return lowest
        u = u >> 64 << 64 | bits.bits(64)


def ties_away_from_zero(t: object, context: object, parameters: Parameters) -> mpq:
    """In place of the draw's `_release`, which is given t/Λ' + 1/2."""
    if t.is_infinite():
        return parameters.bound if t > 0 else -parameters.bound
    grids = mpq(t) - mpq(1, 2)
    nearest = math.floor(abs(grids) + mpq(1, 2)) * parameters.grid
    return min(max(nearest if grids > 0 else -nearest, -parameters.bound), parameters.bound)


def without_outer_clamp(t: object, context: object, parameters: Parameters) -> mpq:
    """In place of the draw's `_release`."""
    if t.is_infinite():
        return parameters.grid * (10**9 if t > 0 else -(10**9))
    return parameters.grid * context.floor(t)


def grid_from_a_double(*asked: mpq) -> Parameters:
    """Λ' from λ' rounded to a double: at ε = 1 that is 1, though λ' is above."""
    parameters = derive_parameters(*asked)
    scale = mpq(float(parameters.scale))
    coarse = mpq(2) ** math.ceil(math.log2(scale))
    return replace(parameters, coarse_grid=coarse, grid=coarse / 2**parameters.grid_refinement)


def scale_a_millionth_too_small(*asked: mpq) -> Parameters:
    parameters = derive_parameters(*asked)
    return replace(parameters, scale=parameters.scale * (1 - mpq(1, 10**6)))


def scale_rounded_down(*asked: mpq) -> Parameters:
    """λ' = 1/ε', rounded down: the privacy loss is above ε' by less than 10^-70."""
    parameters = derive_parameters(*asked)
    precision = parameters.precision_bits + 128
    return replace(parameters, scale=mpq(real(1 / parameters.epsilon_prime, down(precision))))


def epsilon_prime_not_reduced(*asked: mpq) -> Parameters:
    """λ' = 1/ε."""
    parameters = derive_parameters(*asked)
    return replace(parameters, epsilon_prime=parameters.epsilon, scale=1 / parameters.epsilon)


def bound_too_small(*asked: mpq) -> Parameters:
    parameters = derive_parameters(*asked)
    return replace(parameters, bound=parameters.b_prime + parameters.grid / 4)


@dataclass(frozen=True)
class Mutant:
    """How the mechanism is broken, and a word of each finding that must say so."""

    caught_by: tuple[str, ...]
    draw: Callable[..., mpq] = production.draw
    derive: Callable[..., Parameters] = derive_parameters
    patch: tuple[str, Callable[..., object]] | None = None

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Implementation:
        if self.patch:
            monkeypatch.setattr(production, *self.patch)
        return replace(SINGLE, draw=self.draw, derive=self.derive)


DISTANCE, ENDS, SCATTERED, FIRST = "distance from the ideal", "ends of", "scattered", "distance by the first"
LOSS = "privacy loss at distance 1"

MUTANTS = {
    "a 53-bit U": Mutant((DISTANCE, ENDS, FIRST, LOSS), draw=uniform_of_53_bits),
    "the notes' U*": Mutant((DISTANCE, ENDS, FIRST, LOSS), draw=draw_of_the_notes),
    "ln rounded to a double": Mutant((DISTANCE, ENDS), draw=logarithm_as_a_double),
    "ties away from zero": Mutant((ENDS,), patch=("_round_and_clamp", ties_away_from_zero)),
    "the grid from a double": Mutant(("grid",), derive=grid_from_a_double),
    "λ' a millionth too small": Mutant(("scale", LOSS), derive=scale_a_millionth_too_small),
    "λ' rounded down": Mutant(("scale", LOSS), derive=scale_rounded_down),
    "λ' = 1/ε": Mutant(("ε′",), derive=epsilon_prime_not_reduced),
    "a bound too small": Mutant(("clamping bound", "P(clamp binds)"), derive=bound_too_small),
    "no outer clamp": Mutant(("on the grid, within",), patch=("_round_and_clamp", without_outer_clamp)),
    "a biased sign": Mutant((DISTANCE,), draw=biased_sign),
    "a slightly biased sign": Mutant((SCATTERED,), draw=slightly_biased_sign),
    "the sign reused as the first bit of U": Mutant((DISTANCE, SCATTERED, LOSS), draw=sign_reused(0)),
    "the sign reused as a middle bit of U": Mutant((DISTANCE, ENDS), draw=sign_reused(100)),
    "the sign reused as the last bit of U": Mutant((ENDS,), draw=sign_reused(245)),
    "a refinement that picks the lower end": Mutant((ENDS,), draw=refinement_picks_the_lower_end),
    "a refinement that redraws": Mutant((DISTANCE,), draw=refinement_redraws),
    "a refinement that redraws the last bits": Mutant((DISTANCE, ENDS), draw=refinement_redraws_the_last_bits),
}
