"""Compares the implementation's exact distribution with the closed form of the ideal mechanism."""

import math
from collections.abc import Iterator

from gmpy2 import mpq

from app.dp.mechanism.draw import REFINEMENT_BITS, first_bits
from app.dp.numbers.exact import Rational
from app.mechanism_audit import ideal
from app.mechanism_audit.distribution import Distribution, Edge
from app.mechanism_audit.findings import Finding, negligible, none_of
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.subject import Subject

_SCATTERED = 8
_NEGLIGIBLE = -100
_TOLD_APART = mpq(1, 2**100)
"""For a smaller U, the first bits may not distinguish releases on the finest grid."""
_REFINED_BITS = 32
"""The minimum number of bits by which refinement must improve on the distance from the ideal after the first bits."""


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield findings on the distance from the ideal, on wrongly decided prefixes and on undecided prefixes."""
    difference, wrong, ends, total = mpq(0), 0, 0, 0
    inputs = subject.inputs()
    first = first_bits(subject.parameters)
    for x in inputs:
        selection = subject.selection(x)
        ends, total = ends + len(selection.cells), total + selection.total
        for cell in selection.cells:
            length = subject.at(x).length_for(cell, subject.relative_bits)
            apart, mistaken = _compare(subject.at(x), cell, max(length, first + REFINEMENT_BITS))
            difference, wrong = max(difference, apart), wrong + mistaken
    examined = f"{len(inputs)} inputs, {ends:,}/{total:,} releases"
    yield negligible("P(release): distance from the ideal", difference, -(first + _REFINED_BITS)).on(examined)
    yield none_of("ends of releases decided wrongly", wrong, 4 * ends).on(examined)

    checked = [_decides_rightly(subject.at(x), sign, u) for x in inputs for sign in (1, -1) for u in _sample(first)]
    yield none_of("scattered prefixes of U decided wrongly", checked.count(False), len(checked))
    x = inputs[-1]
    checked = [_decides_rightly(subject.at(x), sign, u) for sign in (1, -1) for u in _beside_ends(subject, x, sign)]
    yield none_of("prefixes of U beside ends decided wrongly", checked.count(False), len(checked))

    cells = subject.selection(x).cells
    apart = max(_compare(subject.at(x), cell, first)[0] for cell in cells)
    examined = f"1 input, {len(cells):,} releases"
    yield negligible(f"distance by the first {first} bits alone", apart, _NEGLIGIBLE).on(examined)
    yield negligible(f"P(first {first} bits leave a draw open)", _open(subject, x), _NEGLIGIBLE).on(examined)


def is_carried(sign: int, u: Rational, boundary: Interval) -> bool:
    """Return whether the noise of every U up to `u` moves the input beyond the boundary; ties are above."""
    return bool(u <= boundary.lower if sign > 0 else u < boundary.lower)


def not_carried(sign: int, u: Rational, boundary: Interval) -> bool:
    """Return whether the noise of no U from `u` on moves the input beyond the boundary."""
    return bool(u > boundary.upper if sign > 0 else u >= boundary.upper)


def _compare(distribution: Distribution, cell: int, length: int) -> tuple[Rational, int]:
    """Return a bound of the distance of the cell's probability from the ideal, and the number of its wrong ends."""
    wrong = 0
    mass = Interval.point(mpq(0))
    for sign, begin in ((1, cell), (1, cell + 1), (-1, cell + 1), (-1, cell)):
        boundary = ideal.boundary(distribution.x, distribution.parameters, sign, begin, length + 64)
        wrong += not _agrees(sign, distribution.edge(sign, begin, length), boundary)
        share = Interval(*(min(max(end, mpq(0)), mpq(1)) / 2 for end in (boundary.lower, boundary.upper)))
        mass = mass + share if (begin == cell) == (sign > 0) else mass - share
    found = distribution.probability(cell, length)
    return max(found.upper - mass.lower, mass.upper - found.lower), wrong


def _agrees(sign: int, edge: Edge, boundary: Interval) -> bool:
    far = edge.certain == 0 or is_carried(sign, edge.certain, boundary)
    return far and (edge.possible == 1 or not_carried(sign, edge.possible, boundary))


def _sample(length: int) -> Iterator[int]:
    """Yield prefixes of all sizes, to detect a draw that is not monotone in U, unless it is so for few U only."""
    end = 1 << length
    golden = (math.isqrt(5 << 2 * length) + end) // 2  # its multiples are evenly spread and their bits have no pattern
    lower_half = (1 << length // 2) - 1
    for i in range(1, _SCATTERED + 1):
        u = golden * i % end
        yield from (u, u | lower_half, u & ~lower_half, u & lower_half)


def _beside_ends(subject: Subject, x: Rational, sign: int) -> Iterator[int]:
    """Yield prefixes at the distances 2^j from ends of releases, to detect a draw that relies on a rounded number."""
    length = first_bits(subject.parameters)
    cells = subject.selection(x).cells
    for cell in cells[:: max(len(cells) // 4, 1)]:
        edge = subject.at(x).edge(sign, cell, length)
        if edge.certain > _TOLD_APART and edge.possible < 1:
            for distance in (2**j for j in range(1, length - 1, 3)):
                yield from (int(edge.certain * 2**length) - distance, int(edge.possible * 2**length) + distance)


def _decides_rightly(distribution: Distribution, sign: int, u: int) -> bool:
    """Return whether the prefix `u` decides, and for the release of the ideal mechanism on its whole interval."""
    parameters, length = distribution.parameters, first_bits(distribution.parameters)
    if not 0 <= u < 1 << length:
        return True
    cell = distribution.release(sign, u, length)
    if cell is None:
        return False
    nearer, farther = (cell, cell + 1) if sign > 0 else (cell + 1, cell)
    reached, beyond = (
        ideal.boundary(distribution.x, parameters, sign, begin, length + 64) for begin in (nearer, farther)
    )
    return is_carried(sign, mpq(u + 1, 1 << length), reached) and not_carried(sign, mpq(u, 1 << length), beyond)


def _open(subject: Subject, x: Rational) -> Rational:
    """Return a bound of the part of U that the first bits leave undecided: as if all ends were as bad as the worst."""
    distribution, selection = subject.at(x), subject.selection(x)
    length = first_bits(subject.parameters)
    edges = [distribution.edge(sign, cell, length) for sign in (1, -1) for cell in selection.cells]
    widest = max(edge.possible - edge.certain for edge in edges)
    return widest * selection.total + mpq(1, 2**length)
