"""The exact distribution of an implementation of the draw, found by bisection over its random bits.

For a fixed sign the noise falls as U grows, so the prefixes of U that give each release form an interval. A search runs
the implementation at chosen prefixes to find the ends of the interval; the closed form only gives the first guess. If a
prefix decides the draw, every U with that prefix gives the same release. Prefixes that leave the draw undecided count
as possible for the releases on both sides.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gmpy2 import mpq

from app.dp.errors import DrawExhausted
from app.dp.mechanism.draw import MAX_BITS, REFINEMENT_BITS, first_bits
from app.dp.mechanism.parameters import Parameters
from app.dp.numbers.exact import Rational
from app.mechanism_audit import ideal
from app.mechanism_audit.intervals import Interval
from app.mechanism_audit.tape import Tape, Undecided

Draw: TypeAlias = Callable[[Rational, Parameters, Tape], Rational]


class ImpossibleRelease(Exception):  # noqa: N818  what was found
    """The implementation released a number that is neither ±B nor a multiple of the grid within ±B."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The part of U that moves `x` beyond the beginning of a cell: every U below `certain`, none above `possible`."""

    certain: Rational
    possible: Rational


class Distribution:
    """The distribution of the releases of `draw` for the normalised statistic `x`."""

    def __init__(self, x: Rational, parameters: Parameters, draw: Draw) -> None:
        self.x = x
        self.parameters = parameters
        self.outermost = ideal.outermost_cell(parameters)
        self._draw = draw
        self._released: dict[tuple[int, int, int], int | None] = {}
        self._edges: dict[tuple[int, int, int], Edge] = {}

    def release(self, sign: int, u: int, length: int) -> int | None:
        """Return the released cell if U begins with the `length` bits `u`; None if they do not decide.

        Raises:
            ImpossibleRelease: if the release is not that of any cell.
        """
        key = sign, u, length
        if key not in self._released:
            self._released[key] = self._ask(*key)
        return self._released[key]

    def _ask(self, sign: int, u: int, length: int) -> int | None:
        try:
            z = self._draw(self.x, self.parameters, Tape((sign < 0) << length | u, 1 + length))
        except (Undecided, DrawExhausted):
            return None
        if abs(z) == self.parameters.bound:
            return self.outermost if z > 0 else -self.outermost
        cell = z / self.parameters.grid
        if cell.denominator != 1 or abs(cell) >= self.outermost:
            raise ImpossibleRelease
        return int(cell)

    def length_for(self, cell: int, relative_bits: int) -> int:
        """Return how many bits of U give the cell's probability to `relative_bits` bits, at most `MAX_BITS`."""
        parameters = self.parameters
        distance = float(abs(cell * parameters.grid - self.x) / parameters.scale) / math.log(2)
        narrowness = -math.log2(-math.expm1(-float(parameters.grid / parameters.scale)))
        wanted = max(distance, self._span()) + narrowness + relative_bits
        first = first_bits(parameters)
        rounds = max(math.ceil((wanted - first) / REFINEMENT_BITS), 0)
        return first + REFINEMENT_BITS * min(rounds, (MAX_BITS - first) // REFINEMENT_BITS)

    def edge(self, sign: int, cell: int, length: int) -> Edge:
        """Return the part of U, to `length` bits, that moves x to the cell or above (sign +), or below it (sign -)."""
        if not -self.outermost < cell <= self.outermost:  # every release is above, or every one below
            everything = (cell > 0) == (sign < 0)
            return Edge(mpq(everything), mpq(everything))
        key = sign, cell, length
        if key not in self._edges:
            self._edges[key] = self._search(*key)
        return self._edges[key]

    def _search(self, sign: int, cell: int, length: int) -> Edge:
        def carried(u: int) -> bool | None:
            released = self.release(sign, u, length)
            return None if released is None else (released >= cell) == (sign > 0)

        end = 1 << length
        guess = int(ideal.boundary(self.x, self.parameters, sign, cell, length).lower * end)
        blur = 1 << max(math.ceil(self._span()) - 8, 0)  # finer prefixes are within the noise's rounding
        last_certain, _ = bracket(lambda u: carried(u) is not True, guess, end, blur)
        _, first_impossible = bracket(lambda u: carried(u) is False, max(guess, last_certain) + 1, end, blur)
        return Edge(mpq(last_certain + 1, end), mpq(first_impossible, end))

    def _span(self) -> float:
        """Return the largest number of bits by which the rounding of the noise exceeds a prefix's, for U near 1."""
        return math.log2(float(2 * self.parameters.bound / self.parameters.scale) + 1)

    def at_least(self, cell: int, length: int) -> Interval:
        """Return the probability of the cell and all cells above it."""
        above, below = self.edge(1, cell, length), self.edge(-1, cell, length)
        return Interval((above.certain + 1 - below.possible) / 2, (above.possible + 1 - below.certain) / 2)

    def probability(self, cell: int, length: int) -> Interval:
        """Return the probability of the cell."""
        above, further_above = self.edge(1, cell, length), self.edge(1, cell + 1, length)
        below, further_below = self.edge(-1, cell + 1, length), self.edge(-1, cell, length)
        lower = above.certain - further_above.possible + below.certain - further_below.possible
        upper = above.possible - further_above.certain + below.possible - further_below.certain
        return Interval(max(lower, mpq(0)) / 2, upper / 2)


def bracket(holds: Callable[[int], bool], guess: int, end: int, blur: int) -> tuple[int, int]:
    """Return the last number known not to hold (or -1) and the first known to hold (or `end`), at most `blur` apart.

    `holds` must be monotone: true for every number after one for which it is true. The search starts at `guess`, moves
    away from it in growing steps, and bisects as soon as it has a number on both sides.
    """
    low, high = -1, end
    probe, step = min(guess, end - 1), 1
    while high - low > blur:
        if holds(probe):
            high, probe = probe, probe - step
        else:
            low, probe = probe, probe + step
        step = min(max(step * step, 2, blur), end)
        if not low < probe < high:
            probe = (low + high) // 2
    return low, high
