"""The findings of an audit: a quantity, the claim about it, its exact value, and whether the claim holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Context

from app.dp.numbers.exact import Rational, decimal_text, real, up
from app.mechanism_audit.distribution import ImpossibleRelease
from app.mechanism_audit.intervals import Interval


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of an audit. The numbers are rounded text for people; `holds` is decided with exact numbers.

    Attributes:
        quantity: the examined quantity.
        claimed: the claim about it.
        exact: its value.
        holds: whether the claim holds.
        examined: the number of examined inputs and releases.
    """

    quantity: str
    claimed: str
    exact: str
    holds: bool
    examined: str = ""

    def on(self, examined: str) -> "Finding":
        """Return the finding with the text `examined`."""
        return replace(self, examined=examined)


def at_most(quantity: str, exact: Interval | None, limit: Rational, name: str = "") -> Finding:
    """Return the finding that all of `exact` is at most `limit`; it fails for None, an unbounded quantity.

    `name` is the name of the limit, by default its digits.
    """
    name = name or decimal_text(limit, 12)
    if exact is None:
        return Finding(quantity, f"≤ {name}", "unbounded", holds=False)
    return Finding(quantity, f"≤ {name}", beside(exact.upper, limit, name), bool(exact.upper <= limit))


def at_least(quantity: str, exact: Rational, limit: Rational) -> Finding:
    """Return the finding that `exact` is at least `limit`."""
    name = decimal_text(limit, 12)
    return Finding(quantity, f"≥ {name}", beside(exact, limit, name), bool(exact >= limit))


def negligible(quantity: str, exact: Rational, exponent: int) -> Finding:
    """Return the finding that `exact` is below 2^`exponent`."""
    return Finding(quantity, f"< 2^{exponent}", power_of_two(exact), bool(exact < Rational(2) ** exponent))


def none_of(quantity: str, wrong: int, checked: int) -> Finding:
    """Return the finding that none of the `checked` prefixes was wrong."""
    return Finding(quantity, "0", f"{wrong:,}", wrong == 0, f"{checked:,} prefixes")


def as_far_as_possible(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; stop with a failed finding at the first impossible release."""
    try:
        yield from findings
    except ImpossibleRelease:
        yield Finding("releases on the grid, within ±B", "all", "not all", holds=False)


def beside(exact: Rational, limit: Rational, name: str) -> str:
    """Return the number as its distance from the limit if it is very close to it, otherwise as its digits."""
    distance = exact - limit
    if abs(distance) * 10**5 > abs(limit):
        return short(exact)
    if not distance:
        return name
    return f"{name} {'+' if distance > 0 else '−'} {short(abs(distance))}"


def short(q: Rational) -> str:
    """Return six significant digits of `q`, or three and an exponent if it is far from 1."""
    if q == 0 or Rational(1, 10**4) <= abs(q) < 10**9:
        return decimal_text(q, 6)
    return f"{Context(prec=3).divide(int(q.numerator), int(q.denominator)):.2e}"


def power_of_two(q: Rational) -> str:
    """Return the number `q` >= 0 as a power of two with one decimal, rounded up."""
    if q == 0:
        return "0"
    context = up(32)
    return f"2^{float(context.log2(real(q, context))):.1f}"
