"""The sum of a column over some rows, in total or by group: a plain sum, or m₀·K + T from a count and a centred sum.

K is the number of rows, T the sum of v - m₀ over them, and m₀ the midpoint of the bounds [a, b]. A plain sum has the
sensitivity max(b, 0) - min(a, 0), and T has b - a. So if K is known already, or is not needed because m₀ is 0, T costs
less than the plain sum with the same interval, and if T is known too, the sum is free. By group the plain sum is also
drawn at half of ε, and T at the full ε.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

from gmpy2 import mpq

from app.dp.derived.base import DerivedStatistic, Estimate, Estimates, Guesses, KnownComponent, reach_of
from app.dp.derived.interval_arithmetic import Range, ends
from app.dp.derived.ratios import total_alpha
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.ratio_accuracy import RatioError
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.sum import Sum
from app.dp.table.bins import Bins
from app.dp.table.columns import Column

MAX_GROUPS = 1_000
"""As for means by group."""

TOTAL, COUNT = "centred_sum", "count"
"""The roles of T and K."""


@dataclass(frozen=True)
class _SomeSum(DerivedStatistic):
    """A sum of some rows, from either kind of components.

    Attributes:
        plain: the plain sum, which has the range of the result.
    """

    plain: Sum

    kind: ClassVar[str] = "sum"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "where", "group_by"})
    optional_guesses: ClassVar[tuple[str, ...]] = ("sum",)
    compared: ClassVar[str | None] = "sum"

    @property
    def bins(self) -> Bins | None:
        """The groups, if there are any."""
        return cast("Bins | None", self.plain.bins)

    def _name(self, found: list[Estimate]) -> Estimates:
        return {self.kind: found if self.bins is not None else found[0]}


@dataclass(frozen=True)
class CentredSomeSum(_SomeSum):
    """m₀·K + T, from a centred sum and, unless m₀ is 0, a count."""

    middle: Rational

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid."""
        plain = cast("Sum", build(_plain(spec), columns, n, rows_per_unit))
        if plain.components > MAX_GROUPS:
            what = f"must be a column of at most {MAX_GROUPS:,} groups: this one has {plain.components:,}"
            raise InvalidStatistic("group_by", what)
        middle = (plain.codes.lower + plain.codes.upper) / 2
        components = {TOTAL: _plain(spec) | {"centred": True}}
        if middle:
            components[COUNT] = {"kind": "count", "where": spec.get("where"), "group_by": spec.get("group_by")}
        return cls(n, components, plain.describe(), plain, middle)

    def reach(self, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational:
        """Return the bound of the errors of all sums: that of T + m₀·K is the sum of two noises, as in a ratio."""
        if COUNT not in mechanisms:
            return reach_of(mechanisms[TOTAL], alpha)
        share = alpha / self.plain.components
        return RatioError.of(mechanisms[TOTAL], mechanisms[COUNT], share).reach(self.middle)

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational:  # noqa: ARG002
        """Return that of a sum that is not near the ends of its range: it is the same for all."""
        return min(self.reach(mechanisms, alpha), (self.plain.upper - self.plain.lower) / 2)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the sums, in the public range."""
        reach = self.reach({role: each.mechanism for role, each in known.items()}, total_alpha(known))
        counts = known[COUNT].raw if COUNT in known else (mpq(0),) * self.plain.components
        found = []
        for total, count in zip(known[TOTAL].raw, counts, strict=True):
            value = total + self.middle * count
            around = Range(value - reach, value + reach).cut(self.plain.lower, self.plain.upper)
            least, most = ends(around)
            found.append(Estimate(min(max(value, least), most), around))
        return self._name(found)


@dataclass(frozen=True)
class SomeSum(_SomeSum):
    """A plain sum of some rows, which may cost more than the same sum from a centred one.

    Attributes:
        centred: the same sum from a centred sum and a count.
    """

    centred: CentredSomeSum = field(compare=False)

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid."""
        centred = CentredSomeSum.build(spec, columns, n, rows_per_unit)
        return cls(n, {"sum": _plain(spec)}, centred.described, centred.plain, centred)

    def reach(self, mechanism: Mechanism, alpha: Rational) -> Rational:
        """Return the bound of the errors of all sums."""
        return reach_of(mechanism, alpha)

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational:  # noqa: ARG002
        """Return that of a sum that is not near the ends of its range: it is the same for all."""
        return min(self.reach(mechanisms["sum"], alpha), (self.plain.upper - self.plain.lower) / 2)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return what is released."""
        release = known["sum"]
        return self._name([Estimate(*each) for each in zip(release.values, release.ranges, strict=True)])


def _plain(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for the plain sum."""
    return {"kind": "sum", **{member: spec.get(member) for member in ("column", "bounds", "where", "group_by")}}
