"""Checks the parameters against their definition, evaluated again with 1,000 bits (the notes, 5 and 6.5)."""

from collections.abc import Iterator

from gmpy2 import mpq

from app.dp.mechanism.parameters import Parameters, ceil_log2
from app.dp.numbers.exact import Rational
from app.mechanism_audit.findings import Finding, beside
from app.mechanism_audit.intervals import Interval, ln

_PRECISION = 1000
_TIGHT = 1 + mpq(1, 2**100)
"""The largest allowed relative rounding: more would still be private, but not as claimed."""


def findings(parameters: Parameters) -> Iterator[Finding]:
    """Yield a finding for each parameter: whether it has its defined value, rounded in the private direction."""
    epsilon, bound, scale = parameters.epsilon, parameters.bound, parameters.scale
    needed = max(118, 2 - ceil_log2(epsilon), 52 + ceil_log2(bound))
    precision_bits = parameters.precision_bits
    yield Finding("precision p", f"{needed} bits", f"{precision_bits} bits", precision_bits == needed)
    eta = mpq(1, 2**precision_bits)

    k = (2 + mpq(24, 2**52)) / (epsilon - mpq(1, 2**117))
    logarithm = ln(Interval.point(1 / parameters.gamma), _PRECISION).upper
    yield _require_rounded_up("clamping bound B", bound, parameters.b_prime + k / 2 * (1 + 2 * logarithm), "B")

    nominal = (epsilon - 2 * eta) / (1 + 12 * bound * eta)
    kept = parameters.epsilon_prime
    holds = kept <= nominal <= kept * _TIGHT and kept < epsilon
    yield Finding("ε′ of the noise", "(ε − 2η)/(1 + 12Bη), down", beside(kept, epsilon, "ε"), bool(holds))
    yield _require_rounded_up("scale λ′ of the noise", scale, 1 / kept, "1/ε′")

    coarse = parameters.coarse_grid
    fits = coarse == mpq(2) ** ceil_log2(coarse) and coarse / 2 < scale <= coarse
    claimed = f"least 2^j ≥ λ′, over 2^{parameters.grid_refinement}"
    exact = parameters.grid * 2**parameters.grid_refinement == coarse
    yield Finding("grid", claimed, beside(parameters.grid, mpq(0), ""), bool(fits and exact))


def _require_rounded_up(quantity: str, given: Rational, least: Rational, name: str) -> Finding:
    holds = least <= given <= least * _TIGHT
    return Finding(quantity, f"{name} = {beside(least, mpq(0), '')}, up", beside(given, least, name), bool(holds))
