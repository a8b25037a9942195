"""What is audited: an implementation at one set of parameters, with the inputs and releases that are looked at."""

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
    """The functions that are audited: those that serve releases, unless a test breaks one to see it caught.

    Attributes:
        derive: from what is asked to the parameters.
        draw: one release.
        whole: whether the draw is for whole numbers only.
    """

    derive: Callable[[Rational, Rational, Rational, Refinement], Parameters] = production_parameters.derive_parameters
    draw: Draw = production.draw
    whole: bool = False


def draw_of_many(x: Rational, parameters: Parameters, bits: Tape) -> Rational:
    """The draw of the counts of a histogram, for one of them."""
    return production_bulk.draw_whole_numbers(np.array([int(x)]), parameters, bits)[0]


SINGLE = Implementation()
"""What draws a statistic of one number."""

COUNTS = Implementation(draw=draw_of_many, whole=True)
"""What draws the counts of a histogram."""

_REACH = 2000
"""How many λ' of noise an audit follows: probabilities of 2^-2885, so that the 4,096 bits suffice to compare them."""

_MARGIN_BITS = 64


@dataclass(frozen=True, slots=True)
class Selection:
    """The cells whose releases are examined, of `total` within reach."""

    cells: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism under audit.

    Attributes:
        parameters: what the implementation derived.
        implementation: whose draw is audited.
        most_releases: as many releases are all examined; of more, a selection.
    """

    parameters: Parameters
    implementation: Implementation = SINGLE
    most_releases: int = 96
    _found: dict[Rational, Distribution] = field(default_factory=dict)

    def at(self, x: Rational) -> Distribution:
        """The distribution for the normalised statistic `x`."""
        if x not in self._found:
            self._found[x] = Distribution(x, self.parameters, self.implementation.draw)
        return self._found[x]

    @property
    def relative_bits(self) -> int:
        """To how many bits probabilities are told: λ' has p + 128, and ε' exceeds 1/λ' by less than its last."""
        return self.parameters.precision_bits + GUARD_BITS + _MARGIN_BITS

    def probability(self, x: Rational, cell: int) -> Interval:
        """The probability of a cell's release from `x`."""
        distribution = self.at(x)
        return distribution.probability(cell, distribution.length_for(cell, self.relative_bits))

    @property
    def reach(self) -> int:
        """How many grids away from an input its releases are examined."""
        return int((_REACH * self.parameters.scale / self.parameters.grid).__floor__())

    def inputs(self) -> tuple[Rational, ...]:
        """Inputs within ±B' where errors may show: on the grid, between two cells, at and near the ends, and others."""
        grid, end = self.parameters.grid, self.parameters.b_prime
        half = mpq(1, 2)
        last_tie = ((end / grid - half).__floor__() + half) * grid
        candidates = (0, grid, -grid / 2, grid / 2, -last_tie, end, -end, end - grid / 2**40, end / 3, -end * 5 / 7)
        if self.implementation.whole:
            candidates = tuple(mpq(x).__floor__() for x in candidates)
        return tuple(dict.fromkeys(mpq(x) for x in candidates if abs(x) <= end))

    def pairs(self, distance: Rational) -> tuple[tuple[Rational, Rational], ...]:
        """Every input with one at that distance, if one is within ±B'; of a distance below 1 the first three."""
        if self.implementation.whole and distance.denominator > 1:
            return ()
        towards_zero = ((x, x - distance if x > 0 else x + distance) for x in self.inputs())
        within = tuple((x, other) for x, other in towards_zero if abs(other) <= self.parameters.b_prime)
        return within if distance == 1 else within[:3]

    def selection(self, *inputs: Rational) -> Selection:
        """The cells within reach of all inputs; of many those near the inputs and the ends, and some between."""
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
