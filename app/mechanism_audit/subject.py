"""The subject of an audit: an implementation at one set of parameters, with the examined inputs and releases."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from gmpy2 import mpq

from app.dp.mechanism import bulk_draw as production_bulk
from app.dp.mechanism import draw as production
from app.dp.mechanism import parameters as production_parameters
from app.dp.mechanism.parameters import GUARD_BITS, Parameters, Refinement
from app.dp.numbers.exact import Rational
from app.mechanism_audit import ideal
from app.mechanism_audit.distribution import Distribution, Draw
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.tape import Tape


@dataclass(frozen=True, slots=True)
class Implementation:
    """The functions under audit: by default those of the service; tests pass broken ones that the audit must detect.

    Attributes:
        derive: derives the parameters from ε, B', γ and the grid refinement.
        draw: draws one release.
        whole: whether the draw accepts whole numbers only.
    """

    derive: Callable[[Rational, Rational, Rational, Refinement], Parameters] = production_parameters.derive_parameters
    draw: Draw = production.draw
    whole: bool = False


def draw_of_many(x: Rational, parameters: Parameters, bits: Tape) -> Rational:
    """Return one release by the bulk draw of a histogram's counts, called with a single count."""
    return production_bulk.draw_whole_numbers(np.array([int(x)]), parameters, bits)[0]


SINGLE = Implementation()
"""The implementation for a statistic of one number."""

COUNTS = Implementation(draw=draw_of_many, whole=True)
"""The implementation for the counts of a histogram."""

_REACH = 2000
"""The largest noise that an audit examines, in units of λ': probabilities of 2^-2885, which 4,096 bits can compare."""

_MARGIN_BITS = 64


@dataclass(frozen=True, slots=True)
class Selection:
    """The examined cells, out of `total` cells within reach."""

    cells: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism under audit.

    Attributes:
        parameters: the parameters that the implementation derived.
        implementation: the implementation whose draw is audited.
        most_releases: up to this number, all releases are examined; otherwise a selection.
    """

    parameters: Parameters
    implementation: Implementation = SINGLE
    most_releases: int = 96
    _found: dict[Rational, Distribution] = field(default_factory=dict)

    def at(self, x: Rational) -> Distribution:
        """Return the distribution of releases of the normalised statistic `x`; cached."""
        if x not in self._found:
            self._found[x] = Distribution(x, self.parameters, self.implementation.draw)
        return self._found[x]

    @property
    def relative_bits(self) -> int:
        """The relative precision of probabilities, in bits.

        λ' has p + 128 bits, and ε' exceeds 1/λ' by less than its last bit, so the audit needs more bits than that.
        """
        return self.parameters.precision_bits + GUARD_BITS + _MARGIN_BITS

    def probability(self, x: Rational, cell: int) -> Interval:
        """Return the probability that the release of `x` is that of the cell."""
        distribution = self.at(x)
        return distribution.probability(cell, distribution.length_for(cell, self.relative_bits))

    @property
    def reach(self) -> int:
        """The distance from an input, in grids, up to which releases are examined."""
        return int((_REACH * self.parameters.scale / self.parameters.grid).__floor__())

    def inputs(self) -> tuple[Rational, ...]:
        """Return inputs within ±B' where errors are likely: on the grid, between cells, at and near the ends, etc."""
        grid, end = self.parameters.grid, self.parameters.b_prime
        half = mpq(1, 2)
        last_tie = ((end / grid - half).__floor__() + half) * grid
        candidates = (0, grid, -grid / 2, grid / 2, -last_tie, end, -end, end - grid / 2**40, end / 3, -end * 5 / 7)
        if self.implementation.whole:
            candidates = tuple(mpq(x).__floor__() for x in candidates)
        return tuple(dict.fromkeys(mpq(x) for x in candidates if abs(x) <= end))

    def pairs(self, distance: Rational) -> tuple[tuple[Rational, Rational], ...]:
        """Return pairs of inputs at this distance within ±B'; at most three for a distance below 1."""
        if self.implementation.whole and distance.denominator > 1:
            return ()
        towards_zero = ((x, x - distance if x > 0 else x + distance) for x in self.inputs())
        within = tuple((x, other) for x, other in towards_zero if abs(other) <= self.parameters.b_prime)
        return within if distance == 1 else within[:3]

    def selection(self, *inputs: Rational) -> Selection:
        """Return the cells within reach of all inputs, or some: near the inputs, near the ends and between."""
        outermost = ideal.outermost_cell(self.parameters)
        near = [ideal.cell_of(x, self.parameters) for x in inputs]
        lowest = max(-outermost, max(near) - self.reach)
        highest = min(outermost, min(near) + self.reach)
        total = highest - lowest + 1
        if total <= self.most_releases:
            return Selection(tuple(range(lowest, highest + 1)), total)
        span = self.most_releases // 16
        chosen = {lowest, lowest + 1, highest - 1, highest}
        for cell in near:
            chosen.update(range(cell - span, cell + span + 1))
            spread = (2 ** (i * math.log2(total) / (2 * span)) for i in range(2 * span))
            chosen.update(cell + side * int(distance) for distance in spread for side in (1, -1))
        return Selection(tuple(sorted(cell for cell in chosen if lowest <= cell <= highest)), total)
