"""Describes what is drawn of an answer: marks on two axes, which `svg` and `matplotlib_axes` draw."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

TICKS = 6
MAX_NAMES = 24
Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`; `names` label positions, as of categories."""

    title: str
    low: float
    high: float
    names: tuple[tuple[float, str], ...] = ()
    log: bool = False
    separators: bool = True
    ticked: bool = True

    def place(self, number: float) -> float:
        """Return where a number is between both ends, as a part of the axis from 0 to 1."""
        low, high, at = (self.low, self.high, number)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return min(max((at - low) / ((high - low) or 1.0), 0.0), 1.0)


@dataclass(frozen=True)
class Bar:
    """A bar from 0 to `top` between two positions, with an interval if it is known; `text` is shown on hovering."""

    left: float
    right: float
    top: float
    text: str
    interval: Point | None = None


@dataclass(frozen=True)
class Whisker:
    """A value with its interval at a position, along the x axis if `across`; a missing value has no dot."""

    at: float
    value: float | None
    interval: Point
    text: str
    across: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a two-way table around a position, the darker the larger its share (0 to 1)."""

    x: float
    y: float
    share: float
    number: str
    text: str


@dataclass(frozen=True)
class Picture:
    """Marks on two axes. `label` is what a screen reader says, and `title` stands above.

    `band` has lower and upper ends along x.
    """

    label: str
    x: Axis
    y: Axis
    bars: Sequence[Bar] = ()
    whiskers: Sequence[Whisker] = ()
    line: Sequence[Point] = ()
    band: Sequence[tuple[float, float, float]] = ()
    dots: Sequence[Point] = ()
    cells: Sequence[Cell] = ()
    title: str = ""


def make_axis(title: str, numbers: Sequence[float], *, from_zero: bool = False, separators: bool = True) -> Axis:
    """Return an axis that has all numbers, with some room."""
    low, high = min(numbers), max(numbers)
    room = 0.05 * ((high - low) or abs(high) or 1.0)
    return Axis(title, min(low, 0.0) if from_zero else low - room, high + room, separators=separators)


def name_axis(title: str, names: Sequence[str], *, ticked: bool = False) -> Axis:
    """Return an axis of categories at 0, 1, …; of many names only some are shown."""
    every = -(-len(names) // MAX_NAMES)
    shown = tuple((float(at), name) for at, name in enumerate(names) if at % every == 0)
    return Axis(title, -0.5, len(names) - 0.5, shown, ticked=ticked)


def find_ticks(axis: Axis) -> list[float]:
    """Return round numbers in an axis: multiples of 1, 2 or 5, or powers of ten on a logarithmic one."""
    if not axis.ticked:
        return []
    if axis.log:
        powers = range(math.ceil(math.log10(axis.low) - 1e-9), math.floor(math.log10(axis.high) + 1e-9) + 1)
        every = -(-len(powers) // TICKS) or 1
        return [10.0**power for power in powers[::every]] if len(powers) > 1 else [axis.low, axis.high]
    rough = (axis.high - axis.low) / TICKS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (unit, 2 * unit, 5 * unit, 10 * unit) if step >= rough * (1 - 1e-9))
    first = math.ceil(axis.low / step - 1e-9)
    return [at * step for at in range(first, math.floor(axis.high / step + 1e-9) + 1)]


def format_tick(number: float, axis: Axis) -> str:
    """Return a number as short as an axis needs it."""
    text = f"{number:,.4g}" if abs(number) < 1e4 or abs(number) >= 1e9 else f"{number:,.0f}"
    return text if axis.separators else text.replace(",", "")
