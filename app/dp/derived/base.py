"""The one shape of a derived statistic: the releases that it is made of, and what follows from them.

All of it is post-processing: it costs nothing beyond its components. If these are m, each is asked for at α/m, so that
with probability at least 1 - α every one of them is in its interval (union bound), and whatever follows from that by
interval arithmetic holds as well. What is known more closely from the noises themselves uses the α of all components.
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
    """A component's release: its output as it is, the same within the public range, and what is known of the truth.

    The first three have a member for each number of the release, in order. The ranges hold all at once with probability
    at least 1 - `alpha`, whatever the data.
    """

    raw: tuple[Rational, ...]
    values: tuple[Rational, ...]
    ranges: tuple[Range, ...]
    mechanism: Mechanism
    alpha: Rational


class Estimate(NamedTuple):
    """A number that follows, None where the releases define none, and what is known of the truth."""

    value: Rational | None
    range: Range


Estimates = Mapping[str, Estimate | list[Estimate]]
"""By name: one number, or one for each edge, probability or bin."""


@dataclass(frozen=True)
class DerivedStatistic(ABC):
    """A statistic that follows from others of the same `n` rows.

    Attributes:
        n: the public number of rows.
        components: the requests for the statistics that it follows from, by what they are to it.
        described: its own request with every default filled in, ready for JSON.
    """

    n: int
    components: Mapping[str, Mapping[str, Any]]
    described: Mapping[str, Any]

    kind: ClassVar[str]
    members: ClassVar[frozenset[str]]
    """Which members of a request this kind has, beside `kind`."""

    @property
    def weights(self) -> Mapping[str, int]:
        """The share of ε that each component has, by its role: equal ones, where nothing else is said."""
        return dict.fromkeys(self.components, 1)

    @classmethod
    @abstractmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """The derived statistic that a request asks for, or InvalidStatistic."""

    @abstractmethod
    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """What follows from the releases of all components."""

    @property
    def edges(self) -> list[int | float] | None:
        """Up to which value each number of a cumulative histogram counts, if it is one."""
        return None

    @property
    def bins(self) -> Bins | None:
        """What each number of a margin counts, if it is one."""
        return None


def single_number(known: KnownComponent) -> tuple[Rational, Range]:
    """The value and the range of a release of one number."""
    (value,), (around,) = known.values, known.ranges
    return value, around
