"""The base class of derived statistics: statistics that are computed from the releases of other statistics.

The computation is post-processing, so a derived statistic costs only its components. Each of m components is released
at α/m. By the union bound all their intervals hold together with probability at least 1 - α, and so does every interval
that interval arithmetic derives from them. Closer bounds that use the noise distributions have the total α.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from app.dp.derived.interval_arithmetic import Range
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import Rational
from app.dp.table.bins import Bins
from app.dp.table.columns import Column


class KnownComponent(NamedTuple):
    """A component's release and what it says about the true values.

    Attributes:
        raw: the released numbers, in the component's units.
        values: the released numbers, clamped to the public range.
        ranges: an interval for each true value; all hold at once with probability at least 1 - `alpha`.
        mechanism: the mechanism that released the numbers.
        alpha: the component's share of α.
    """

    raw: tuple[Rational, ...]
    values: tuple[Rational, ...]
    ranges: tuple[Range, ...]
    mechanism: Mechanism
    alpha: Rational


class Estimate(NamedTuple):
    """A derived number, or None if the releases define none, and an interval for its true value."""

    value: Rational | None
    range: Range


Estimates = Mapping[str, Estimate | list[Estimate]]
"""The estimates by name: one for a single number, or a list with one for each edge, probability or bin."""


@dataclass(frozen=True)
class DerivedStatistic(ABC):
    """A statistic that is derived from other statistics of the same `n` rows.

    Attributes:
        n: the public number of rows.
        components: the requests for the component statistics, by their roles.
        described: the request for this statistic with all defaults filled in, ready for JSON.
    """

    n: int
    components: Mapping[str, Mapping[str, Any]]
    described: Mapping[str, Any]

    kind: ClassVar[str]
    members: ClassVar[frozenset[str]]
    """The members that a request of this kind may have besides `kind`."""

    @property
    def weights(self) -> Mapping[str, int]:
        """The relative share of ε for each component, by its role; equal by default."""
        return dict.fromkeys(self.components, 1)

    @classmethod
    @abstractmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the derived statistic that a request asks for; raise InvalidStatistic if it is invalid."""

    @abstractmethod
    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the estimates from the releases of all components, by their roles."""

    @property
    def edges(self) -> list[int | float] | None:
        """The value up to which each number counts, for cumulative counts; otherwise None."""
        return None

    @property
    def bins(self) -> Bins | None:
        """What each number of the estimate stands for, if it has bins or groups; otherwise None."""
        return None


def single_number(known: KnownComponent) -> tuple[Rational, Range]:
    """Return the value and the range of a release of one number."""
    (value,), (around,) = known.values, known.ranges
    return value, around
