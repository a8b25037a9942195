"""The ledger's unit, 10⁻⁹ ε, and its decimal text. The conversions use no floating-point numbers."""

from gmpy2 import mpq

NANO_PER_EPSILON = 10**9
_SENTENCE_DIGITS = 3
MAX_EPSILON_NANO = 10**6 * NANO_PER_EPSILON


def epsilon_text(epsilon_nano: int) -> str:
    """Return an ε as decimal text without an exponent or trailing zeros: 500000000 is `0.5`, 10**10 is `10`."""
    whole, part = divmod(epsilon_nano, NANO_PER_EPSILON)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".")


def stored_epsilon_text(stored: object) -> str:
    """Return a stored amount as text; SQLite takes any value in any column, and no record has the text of another."""
    return epsilon_text(stored) if isinstance(stored, int) else "not a number"


def format_rounded_epsilon(epsilon_nano: int, *, up: bool = True) -> str:
    """Return an ε with three significant digits, for a sentence. Round a cost up and a remaining budget down.

    A cost is told to the unit at least, and what is left to hundredths, so that it shows what was paid.
    """
    coarsest = 9 if up else 7
    step = 10 ** min(max(len(str(epsilon_nano)) - _SENTENCE_DIGITS, 0), coarsest)
    return epsilon_text((-(-epsilon_nano // step) if up else epsilon_nano // step) * step)


def whole_units(epsilon: mpq) -> int | None:
    """Return ε in ledger units, or None if it is not a whole number of units."""
    units = epsilon * NANO_PER_EPSILON
    return int(units) if units.denominator == 1 else None
