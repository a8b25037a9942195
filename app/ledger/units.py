"""The ledger's unit, 10⁻⁹ ε, and its decimal text. No float stands between the two."""

from gmpy2 import mpq

NANO_PER_EPSILON = 10**9
MAX_EPSILON_NANO = 10**6 * NANO_PER_EPSILON


def epsilon_text(epsilon_nano: int) -> str:
    """The decimal text of an ε, without exponent or trailing zeros: 500000000 is `0.5`, 10**10 is `10`."""
    whole, part = divmod(epsilon_nano, NANO_PER_EPSILON)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".")


def whole_units(epsilon: mpq) -> int | None:
    """ε in ledger units, or None where it is no whole number of them."""
    units = epsilon * NANO_PER_EPSILON
    return int(units) if units.denominator == 1 else None
