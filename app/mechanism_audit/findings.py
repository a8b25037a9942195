"""What an audit found: a quantity, what is claimed of it, what it exactly is, and whether the claim holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Context

from app.dp.numbers.exact import Rational, decimal_text, real, up
from app.mechanism_audit.distribution import ImpossibleRelease
from app.mechanism_audit.intervals import Interval


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of an audit. The numbers are text, for a reader; `holds` was decided on the exact ones.

    Attributes:
        quantity: what was looked at.
        claimed: what is claimed of it.
        exact: what it is.
        holds: whether that is as claimed.
        examined: on how many inputs and releases it was looked at.
    """

    quantity: str
    claimed: str
    exact: str
    holds: bool
    examined: str = ""

    def on(self, examined: str) -> "Finding":
        """The same finding, saying what was examined."""
        return replace(self, examined=examined)


def at_most(quantity: str, exact: Interval | None, limit: Rational, name: str = "") -> Finding:
    """The finding that all of `exact` is at most `limit`; None is a quantity without bounds, which never is.

    `name` is what the limit is called, by default its digits.
    """
    name = name or decimal_text(limit, 12)
    if exact is None:
        return Finding(quantity, f"≤ {name}", "unbounded", holds=False)
    return Finding(quantity, f"≤ {name}", beside(exact.upper, limit, name), bool(exact.upper <= limit))


def at_least(quantity: str, exact: Rational, limit: Rational) -> Finding:
    """The finding that `exact` is at least `limit`."""
    name = decimal_text(limit, 12)
    return Finding(quantity, f"≥ {name}", beside(exact, limit, name), bool(exact >= limit))


def negligible(quantity: str, exact: Rational, exponent: int) -> Finding:
    """The finding that `exact` is below 2^exponent."""
    return Finding(quantity, f"< 2^{exponent}", power_of_two(exact), bool(exact < Rational(2) ** exponent))


def none_of(quantity: str, wrong: int, checked: int) -> Finding:
    """The finding that nothing was wrong among all that was checked."""
    return Finding(quantity, "0", f"{wrong:,}", wrong == 0, f"{checked:,} prefixes")


def as_far_as_possible(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, up to the first of a release that cannot be, which is the last one then."""
    try:
        yield from findings
    except ImpossibleRelease:
        yield Finding("releases on the grid, within ±B", "all", "not all", holds=False)


def beside(exact: Rational, limit: Rational, name: str) -> str:
    """The number `exact` as its distance from a limit that it is very close to, else its digits."""
    distance = exact - limit
    if abs(distance) * 10**5 > abs(limit):
        return short(exact)
    if not distance:
        return name
    return f"{name} {'+' if distance > 0 else '−'} {short(abs(distance))}"


def short(q: Rational) -> str:
    """Six significant digits of `q`, or three and an exponent if it is far from 1."""
    if q == 0 or Rational(1, 10**4) <= abs(q) < 10**9:
        return decimal_text(q, 6)
    return f"{Context(prec=3).divide(int(q.numerator), int(q.denominator)):.2e}"


def power_of_two(q: Rational) -> str:
    """The number `q` >= 0 as a power of two with one decimal, rounded up."""
    if q == 0:
        return "0"
    context = up(32)
    return f"2^{float(context.log2(real(q, context))):.1f}"
