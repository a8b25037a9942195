"""The ledger's unit, 10⁻⁹ ε, and its decimal text. No float stands between the two."""

from gmpy2 import mpq

NANO_PER_EPSILON = 10**9
_SENTENCE_DIGITS = 3
MAX_EPSILON_NANO = 10**6 * NANO_PER_EPSILON


def epsilon_text(epsilon_nano: int) -> str:
    """The decimal text of an ε, without exponent or trailing zeros: 500000000 is `0.5`, 10**10 is `10`."""
    whole, part = divmod(epsilon_nano, NANO_PER_EPSILON)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".")


def rounded_epsilon_text(epsilon_nano: int, *, up: bool = True) -> str:
    """An ε for a sentence, with three significant digits: a cost is rounded up, and what is left down."""
    step = 10 ** max(len(str(epsilon_nano)) - _SENTENCE_DIGITS, 0)
    return epsilon_text((-(-epsilon_nano // step) if up else epsilon_nano // step) * step)


def whole_units(epsilon: mpq) -> int | None:
    """ε in ledger units, or None where it is no whole number of them."""
    units = epsilon * NANO_PER_EPSILON
    return int(units) if units.denominator == 1 else None
