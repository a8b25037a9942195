"""The base class of derived statistics: statistics that are computed from the releases of other statistics.

The computation is post-processing, so a derived statistic costs only its components. Each of m components is released
at α/m. By the union bound all their intervals hold together with probability at least 1 - α, and so does every interval
that interval arithmetic derives from them. Closer bounds that use the noise distributions have the total α.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

from gmpy2 import mpq

from app.dp.derived.interval_arithmetic import Range
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import Rational
from app.dp.statistics.treatment import Treatment
from app.dp.table.bins import Bins
from app.dp.table.columns import Column, Kind


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


Basis = Literal["guesses", "worst_case"]

Guesses = Mapping[str, Rational]
"""Of numbers of the table, by name."""

Supposed = Mapping[str, Sequence[Rational]]
"""The numbers of each component's statistic, by role."""

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

    @property
    def traded(self) -> Sequence[str]:
        """The roles whose shares of ε may be moved to each other, to narrow the interval that is planned."""
        return list(self.components)

    @classmethod
    @abstractmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the derived statistic that a request asks for; raise InvalidStatistic if it is invalid."""

    @abstractmethod
    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the estimates from the releases of all components, by their roles."""

    guess_names: ClassVar[tuple[str, ...]] = ()
    """The guesses without which the width of the interval cannot be planned. If there are none, it has a worst case."""

    optional_guesses: ClassVar[tuple[str, ...]] = ()
    """Further guesses."""

    compared: ClassVar[str | None] = None
    """The guess that a relative accuracy is a part of, if there is one: that of the estimate itself."""

    @property
    def required_guesses(self) -> tuple[str, ...]:
        """`guess_names`, and those of `optional_guesses` that this request needs too."""
        return self.guess_names

    def basis(self, guesses: Guesses) -> Basis:  # noqa: ARG002
        """Return what a planned width is of: the table that is guessed, or the worst of all tables."""
        return "guesses" if self.guess_names else "worst_case"

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:
        """Return the components' statistics by role, if the guesses are right or, without any, in the worst case.

        Raises:
            NotImplementedError: the width is computed without them, by `half_width`.
        """
        raise NotImplementedError

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational | None:
        """Return half the width of the interval, the widest of several, if each release is exactly what is supposed.

        Args:
            guesses: all of `required_guesses`, and any of `optional_guesses`.
            mechanisms: of the components, by role.
            alpha: α of the whole.

        Returns:
            The half-width, None where the interval has no ends.
        """
        share = alpha / len(mechanisms)
        supposed = self.suppose(guesses, mechanisms, share)
        known = {role: _suppose_release(each, supposed[role], share) for role, each in mechanisms.items()}
        estimates = self.estimates(known)
        found = next(iter(estimates.values()))
        return widest(each.range for each in (found if isinstance(found, list) else [found]))

    def treat(self, components: Iterable[Treatment]) -> tuple[Treatment, ...]:
        """Return what happens to missing values and to values outside the bounds, from the components' treatments."""
        first: dict[str, Treatment] = {}
        for each in components:
            first.setdefault(each.column, each)
        if "missing" not in self.described:
            return tuple(first.values())
        filtered = self.described.get("where", {})
        return tuple(
            replace(each, missing_as="excluded") if each.missing_as == "outside" and name not in filtered else each
            for name, each in first.items()
        )

    @property
    def edges(self) -> list[int | float] | list[str] | None:
        """The value up to which each number counts, for cumulative counts; otherwise None."""
        return None

    @property
    def date_kind(self) -> Kind | None:
        """The kind of dates that the estimates are, as numbers of units since 1970-01-01; None if they are no dates."""
        return None

    @property
    def bins(self) -> Bins | None:
        """What each number of the estimate stands for, if it has bins or groups; otherwise None."""
        return None


def single_number(known: KnownComponent) -> tuple[Rational, Range]:
    """Return the value and the range of a release of one number."""
    (value,), (around,) = known.values, known.ranges
    return value, around


def reach_of(mechanism: Mechanism, alpha: Rational) -> Rational:
    """Return a bound of the errors of all numbers of a release, valid with probability 1 - `alpha`."""
    several = mechanism.statistic.bins is not None
    return (mechanism.simultaneous_radius(alpha) if several else mechanism.radius(alpha)) + mechanism.resolution


def _suppose_release(mechanism: Mechanism, values: Sequence[Rational], alpha: Rational) -> KnownComponent:
    """Return what would be known if these numbers were released, or those of all possible ones that are nearest."""
    statistic, reach = mechanism.statistic, reach_of(mechanism, alpha)
    within = tuple(min(max(value, statistic.lower), statistic.upper) for value in values)
    ranges = tuple(Range(each - reach, each + reach).cut(statistic.lower, statistic.upper) for each in within)
    return KnownComponent(within, within, ranges, mechanism, alpha)


def widest(ranges: Iterable[Range]) -> Rational | None:
    """Return half the width of the widest range, or None if one has no end."""
    most = mpq(0)
    for lower, upper in ranges:
        if lower is None or upper is None:
            return None
        most = max(most, (upper - lower) / 2)
    return most
