"""The exact privacy loss of an implementation between two inputs.

The loss of a release is |ln(P/P')|, where P is its probability from one input and P' from the other (Dwork, McSherry,
Nissim and Smith 2006). Prefixes that leave a draw undecided count as possible for the releases on both sides (see
`distribution`), so they can only increase the computed loss.
"""

from collections.abc import Iterator

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.mechanism_audit.findings import Finding, at_most, short
from app.mechanism_audit.intervals import Interval, ln
from app.mechanism_audit.subject import Subject

DISTANCES = (mpq(1), mpq(1, 2), mpq(1, 3), mpq(1, 2**20))
"""The examined distances of inputs: the sensitivity is 1, so neighbours are at most 1 apart."""


def loss(subject: Subject, x: Rational, neighbour: Rational) -> Interval | None:
    """Return the largest loss over the examined releases; None (unbounded) if only one input may give some release."""
    least, greatest = mpq(1), mpq(1)
    for cell in subject.selection(x, neighbour).cells:
        one, other = (subject.probability(at, cell) for at in (x, neighbour))
        for numerator, denominator in ((one, other), (other, one)):
            if not denominator.lower:
                return None
            least = max(least, numerator.lower / denominator.upper)
            greatest = max(greatest, numerator.upper / denominator.lower)
    return ln(Interval(least, greatest), subject.relative_bits + 64)


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the findings that the largest loss at each distance is at most ε and at most ε′."""
    parameters = subject.parameters
    for distance in DISTANCES:
        pairs = subject.pairs(distance)
        if not pairs:
            continue
        selections = [subject.selection(*pair) for pair in pairs]
        cells, total = sum(len(s.cells) for s in selections), sum(s.total for s in selections)
        examined = f"{len(pairs)} pairs, {cells:,}/{total:,} releases"
        greatest = maximum(loss(subject, *pair) for pair in pairs)
        quantity = f"privacy loss at distance {short(distance)}"
        if distance == 1:
            yield at_most(quantity, greatest, parameters.epsilon, "ε").on(examined)
        yield at_most(quantity, greatest, parameters.epsilon_prime, "ε′").on(examined)


def maximum(losses: Iterator[Interval | None]) -> Interval | None:
    """Return the largest of some losses; None, an unbounded loss, is larger than all others."""
    greatest = Interval.point(mpq(0))
    for each in losses:
        if each is None:
            return None
        greatest = Interval(max(greatest.lower, each.lower), max(greatest.upper, each.upper))
    return greatest
