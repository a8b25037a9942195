"""Checks the exact probabilities that the clamp binds and that a release misses its radius (the notes, 6)."""

from collections.abc import Iterator

from gmpy2 import mpq

from app.dp.mechanism.accuracy import radius, tight_radius
from app.dp.mechanism.draw import REFINEMENT_BITS, first_bits
from app.dp.numbers.exact import Rational
from app.mechanism_audit import ideal
from app.mechanism_audit.findings import Finding, at_least, at_most, short
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.subject import Subject

ALPHAS = (mpq(1, 5), mpq(1, 20), mpq(1, 10**6))

_SMALLER = 1 - mpq(1, 2**40)


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield findings on the clamp and each radius: missed at most as often as claimed, and nearly so if tight."""
    parameters = subject.parameters
    extremes = (-parameters.b_prime, mpq(0), parameters.b_prime)
    clamped = max(clamp_probability(subject, x) for x in extremes if x in subject.inputs())
    yield at_most("P(clamp binds)", Interval.point(clamped), parameters.gamma, "γ").on("3 inputs")
    for alpha in ALPHAS:
        for name, distance in (("", radius(parameters, alpha)), ("tight ", tight_radius(parameters, alpha))):
            worst = worst_input(subject, distance)
            inputs = dict.fromkeys([*subject.inputs(), *([] if worst is None else [worst])])
            missed = [miss_probability(subject, x, distance) for x in inputs]
            most = Interval(max(m.lower for m in missed), max(m.upper for m in missed))
            quantity = f"P(miss the {name}radius) at {short(alpha)}"
            yield at_most(quantity, most, alpha).on(f"{len(inputs)} inputs")
        smaller = distance * _SMALLER
        worst = worst_input(subject, smaller)
        if worst is not None:
            missed_by_less = miss_probability(subject, worst, smaller).lower
            quantity = f"P(miss if 2^-40 tighter) at {short(alpha)}"
            yield at_least(quantity, missed_by_less, alpha).on("the worst input")


def clamp_probability(subject: Subject, x: Rational) -> Rational:
    """Return an upper bound of the probability that the release is -B or B."""
    distribution, length = subject.at(x), _length(subject)
    outermost = distribution.outermost
    return distribution.at_least(outermost, length).upper + 1 - distribution.at_least(1 - outermost, length).lower


def miss_probability(subject: Subject, x: Rational, distance: Rational) -> Interval:
    """Return the probability that the release is farther from `x` than `distance`."""
    above, below = _missing_cells(subject, x, distance)
    distribution, length = subject.at(x), _length(subject)
    return distribution.at_least(above, length) + Interval.point(mpq(1)) - distribution.at_least(below + 1, length)


def worst_input(subject: Subject, distance: Rational) -> Rational | None:
    """Return the input nearest to 0 with releases just beyond the distance on both sides; None if the clamp cuts them.

    It is slightly less than a whole number of grids minus the distance, so the release at that whole number is just
    beyond the distance.
    """
    parameters = subject.parameters
    grids = distance / parameters.grid
    x = (ideal.cell_of(distance, parameters) - grids) * parameters.grid - parameters.grid / 2**60
    outermost = ideal.outermost_cell(parameters)
    above, below = _missing_cells(subject, x, distance)
    if subject.implementation.whole or abs(x) > parameters.b_prime or above > outermost or below < -outermost:
        return None
    return x


def _missing_cells(subject: Subject, x: Rational, distance: Rational) -> tuple[int, int]:
    """Return the lowest cell whose release is above x + distance, and the highest one below x - distance."""
    parameters = subject.parameters
    outermost = ideal.outermost_cell(parameters)
    above = int(((x + distance) / parameters.grid).__floor__()) + 1
    below = int(((x - distance) / parameters.grid).__ceil__()) - 1
    if above >= outermost:
        above = outermost if parameters.bound > x + distance else outermost + 1
    if below <= -outermost:
        below = -outermost if -parameters.bound < x - distance else -outermost - 1
    return above, below


def _length(subject: Subject) -> int:
    return first_bits(subject.parameters) + REFINEMENT_BITS
