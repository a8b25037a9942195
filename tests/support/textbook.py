"""The radius of a release computed again, from the definitions alone: nothing of the service's arithmetic is used."""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

DIGITS = 120


@dataclass(frozen=True)
class Shape:
    """A statistic as the mechanism sees it: one row's sensitivity, the public range, how many share one ε."""

    row_sensitivity: Fraction
    width: Fraction
    mechanisms: int
    counts: bool = False

    def normalised(self, rows_per_unit: int) -> tuple[Fraction, Fraction]:
        """The sensitivity Δ, and B' in units of it."""
        if self.mechanisms > 1:
            sensitivity = self.row_sensitivity
        else:
            sensitivity = min(rows_per_unit * self.row_sensitivity, self.width)
        half = Fraction(math.ceil(self.width / 2)) if self.counts else self.width / 2
        return sensitivity, half / sensitivity


def shape(statistic: dict[str, Any], n: int, rows_per_unit: int) -> Shape:
    """By the table of the statistics. Bounds are those written in the statistic; a column `k` is of categories."""
    kind, half = statistic["kind"], Fraction((n // 2) * (n - n // 2))
    if kind in {"count", "histogram"}:
        shared = kind == "histogram" or "group_by" in statistic
        return Shape(Fraction(1), Fraction(n), 2 * rows_per_unit if shared else 1, counts=True)
    if kind == "covariance":
        widths = [Fraction(1) if pair is None else _ends(pair)[1] - _ends(pair)[0] for pair in statistic["bounds"]]
        product = widths[0] * widths[1]
        return Shape(product / n, 2 * half * product / (n * (n - 1)), 1)
    lower, upper = _narrowed(statistic)
    width = upper - lower
    if kind == "mean":
        return Shape(width / n, width, 1)
    if kind == "variance":
        return Shape(width**2 / n, half * width**2 / (n * (n - 1)), 1)
    if statistic.get("centred"):
        return Shape(width, n * width, 1)
    partial = "where" in statistic or "group_by" in statistic
    change = max(upper, Fraction(0)) - min(lower, Fraction(0)) if partial else width
    return Shape(change, n * change, 2 * rows_per_unit if "group_by" in statistic else 1)


def _narrowed(statistic: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """The bounds of a column, of a sum within what a filter on that column leaves of them."""
    lower, upper = _ends(statistic["bounds"])
    condition = statistic.get("where", {}).get(statistic["column"], {})
    if "between" in condition:
        least, most = _ends(condition["between"])
        if max(lower, least) < min(upper, most):
            return max(lower, least), min(upper, most)
    return lower, upper


def _ends(pair: list[Any]) -> tuple[Fraction, Fraction]:
    return Fraction(str(pair[0])), Fraction(str(pair[1]))


def radius(
    of: Shape, rows_per_unit: int, epsilon: Decimal, alpha: Decimal, gamma: Decimal, refinement: int | str
) -> Decimal:
    """min(ln(1/α)·λ' + Λ'/2^(r+1), 2B)·Δ to some hundred digits; "auto" is r = 10, and of counts the grid 1."""
    sensitivity, half_range = of.normalised(rows_per_unit)
    with localcontext() as context:
        context.prec = DIGITS
        share = epsilon / of.mechanisms
        b_prime = Decimal(half_range.numerator) / half_range.denominator
        k = (2 + 24 * Decimal(2) ** -52) / (share - Decimal(2) ** -117)
        bound = b_prime + k / 2 * (1 + 2 * (1 / gamma).ln())
        bits = max(118, 2 - _exponent(share), 52 + _exponent(bound))
        eta = Decimal(2) ** -bits
        scale = (1 + 12 * bound * eta) / (share - 2 * eta)
        exponent = _exponent(scale)
        if refinement == "auto":
            refinement = min(max(exponent, 0), 30) if of.counts else 10
        grid = Decimal(2) ** exponent / 2 ** int(refinement)
        normalised = min((1 / alpha).ln() * scale + grid / 2, 2 * bound)
        return normalised * sensitivity.numerator / sensitivity.denominator


def _exponent(number: Decimal) -> int:
    """The exponent of the smallest power of two that is at least this."""
    fraction, exponent = Fraction(number), 0
    while Fraction(2) ** exponent < fraction:
        exponent += 1
    while Fraction(2) ** (exponent - 1) >= fraction:
        exponent -= 1
    return exponent


def shown(exact: Decimal) -> float:
    """A radius as it is told: the next double at or above it."""
    nearest = float(exact)
    return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)
