"""The mechanism's parameters, derived from ε and the statistic's range: clamping bound, precision, noise, grid."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from gmpy2 import mpq

from app.dp.numbers.exact import Rational, down, log_up, real, up

GAMMA = mpq(1, 20)
"""The default probability γ with which the outer clamp may bind."""

MAX_REFINEMENT = 30
"""The largest r: the grid is Λ'/2^r."""

WHOLE: Final = "whole"
Refinement = int | Literal["whole"]
"""r, or "whole": the grid is 1 (in normalised units) unless the notes' grid is finer."""

GUARD_BITS = 128
"""The number of bits that the working precision and a draw's first prefix have in addition to the precision p."""

_EXACT_LOGARITHM_BITS = 118  # the notes, section 3: enough to round the logarithm of a double exactly
_MANTISSA_BITS = 52


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one mechanism in normalised units, in which the statistic's sensitivity is 1.

    Attributes:
        epsilon: ε, the privacy cost of this mechanism.
        b_prime: B', the largest absolute value of the normalised statistic.
        gamma: γ, the largest probability with which the outer clamp may bind.
        grid_refinement: r, by how many halvings the grid is finer than the notes'.
        precision_bits: p, so that η = 2^-p.
        epsilon_prime: ε', the part of ε that is left for the Laplace noise; rounded down.
        scale: λ' = 1/ε', the scale of the noise; rounded up.
        coarse_grid: Λ', the smallest power of two that is at least λ'.
        grid: Λ'/2^r, the grid that releases are rounded to.
        bound: B, the clamping bound; rounded up.
    """

    epsilon: Rational
    b_prime: Rational
    gamma: Rational
    grid_refinement: int
    precision_bits: int
    epsilon_prime: Rational
    scale: Rational
    coarse_grid: Rational
    grid: Rational
    bound: Rational


@lru_cache(maxsize=1024)
def derive_parameters(
    epsilon: Rational, b_prime: Rational, gamma: Rational = GAMMA, grid_refinement: Refinement = 0
) -> Parameters:
    """Return the parameters for a privacy cost ε and a normalised range [-B', B'] (the notes, sections 5 and 6.5).

    Every rounding favours privacy over accuracy: B up, ε' down, λ' up, and Λ' from the rounded λ'. The privacy cost
    does not depend on the grid, because the draw is post-processing of the ideal Laplace mechanism.

    Args:
        epsilon: ε, the cost of this one mechanism.
        b_prime: B', in units of the sensitivity.
        gamma: γ, the largest probability with which the outer clamp may bind.
        grid_refinement: r, or "whole".

    Raises:
        ValueError: if ε is at most 2⁻¹¹⁷, B' is not positive, γ is not in (0, 1] or r is not from 0 to 30.
    """
    if epsilon <= mpq(1, 2**117) or b_prime <= 0:
        raise ValueError("epsilon must exceed 2^-117, and b_prime 0")
    if not 0 < gamma <= 1 or (grid_refinement != WHOLE and not 0 <= grid_refinement <= MAX_REFINEMENT):
        raise ValueError("gamma must be in (0, 1], and grid_refinement from 0 to 30")
    precision_bits, bound = clamping_bound(epsilon, b_prime, gamma)
    working_precision = precision_bits + GUARD_BITS
    eta = mpq(1, 2**precision_bits)
    epsilon_prime = mpq(real((epsilon - 2 * eta) / (1 + 12 * bound * eta), down(working_precision)))
    scale = mpq(real(1 / epsilon_prime, up(working_precision)))
    coarse_grid = power_of_two_at_least(scale)
    halvings = grid_refinement if grid_refinement != WHOLE else min(max(ceil_log2(coarse_grid), 0), MAX_REFINEMENT)
    return Parameters(
        epsilon=epsilon,
        b_prime=b_prime,
        gamma=gamma,
        grid_refinement=halvings,
        precision_bits=precision_bits,
        epsilon_prime=epsilon_prime,
        scale=scale,
        coarse_grid=coarse_grid,
        grid=coarse_grid / 2**halvings,
        bound=bound,
    )


def clamping_bound(epsilon: Rational, b_prime: Rational, gamma: Rational) -> tuple[int, Rational]:
    """Return the precision p in bits and the clamping bound B, rounded up (the notes, sections 5 and 6.5.1).

    The clamp binds with probability at most γ (in fact at most γ²). The condition B·η <= 2⁻⁵² on p is added to the
    notes. Their condition 2η < ε holds with 118 bits for every ε above 2⁻¹¹⁷.
    """
    k = (2 + mpq(24, 2**52)) / (epsilon - mpq(1, 2**117))
    precision_bits = _EXACT_LOGARITHM_BITS
    while True:
        # The precision depends on the bound, which is computed with that precision. More bits never raise the bound,
        # so the loop ends.
        working_precision = precision_bits + GUARD_BITS
        logarithm = mpq(log_up(1 / gamma, working_precision))
        bound = mpq(real(b_prime + k / 2 * (1 + 2 * logarithm), up(working_precision)))
        needed = max(_EXACT_LOGARITHM_BITS, _MANTISSA_BITS + ceil_log2(bound))
        if needed <= precision_bits:
            return needed, bound
        precision_bits = needed


def power_of_two_at_least(q: Rational) -> Rational:
    """The smallest power of two that is at least `q` > 0, exactly (Covington's notes, section 4.1)."""
    return mpq(2) ** ceil_log2(q)


def ceil_log2(q: Rational) -> int:
    """The smallest whole number e with 2^e >= `q`, exactly, for `q` > 0."""
    numerator, denominator = q.numerator, q.denominator
    # The quotient lies strictly between 2^(exponent - 1) and 2^(exponent + 1).
    exponent = numerator.bit_length() - denominator.bit_length()
    reaches = denominator << exponent >= numerator if exponent >= 0 else denominator >= numerator << -exponent
    return int(exponent) if reaches else int(exponent) + 1
