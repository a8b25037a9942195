"""What a statistic asks of an engine, and what it is answered: exact integers and nothing else."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from app.dp.bins import Bins
from app.dp.codes import Codes


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """The sum and the sum of squares of a column's codes; answered by `Moments`."""

    column: str
    codes: Codes


@dataclass(frozen=True, slots=True)
class PairSums:
    """The sums of two columns' codes and of their products; answered by `CrossMoments`."""

    x: str
    x_codes: Codes
    y: str
    y_codes: Codes


@dataclass(frozen=True, slots=True)
class BinCounts:
    """How many rows fall into each bin; answered by one whole number for each."""

    column: str
    bins: Bins


Needs: TypeAlias = ColumnSums | PairSums | BinCounts


class Moments(NamedTuple):
    """The sums S = Σq and Q = Σq² over the codes of all `n` rows."""

    n: int
    total: int
    squares: int


class CrossMoments(NamedTuple):
    """The sums Σx, Σy and P = Σxy over the codes of all `n` rows."""

    n: int
    total_x: int
    total_y: int
    products: int


Answer: TypeAlias = Moments | CrossMoments | tuple[int, ...]
