"""Statistics derived for each group of a category column: the mean of another column, or the share of rows.

Each group has an interval, and all intervals hold at once. The cost is that of two releases, however many groups there
are.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.derived.base import DerivedStatistic, Estimate, Estimates, Guesses, KnownComponent, Supposed, widest
from app.dp.derived.interval_arithmetic import Range, ends
from app.dp.derived.ratios import (
    derive_centred_mean,
    guess_centred_total,
    guess_weighted_totals,
    mean_components,
    total_alpha,
)
from app.dp.derived.single_release import parse_share
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.ratio_accuracy import RatioError
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.base import find_column
from app.dp.table.bins import Bins
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind

MAX_GROUPS = 1_000
"""The limit exists because each group's interval takes some 0.3 ms, and is computed while the account is locked."""


@dataclass(frozen=True)
class ByGroup(DerivedStatistic, ABC):
    """A quotient for each group, derived from two releases by group.

    Attributes:
        groups: the declared categories of the column `group_by`, `other`, and `missing` if a row may lack a value.
    """

    groups: Bins

    @property
    def bins(self) -> Bins:
        """The groups."""
        return self.groups

    def __post_init__(self) -> None:
        """Raise InvalidStatistic if there are more than `MAX_GROUPS` groups."""
        if self.groups.count > MAX_GROUPS:
            what = f"must be a column of at most {MAX_GROUPS:,} groups: this one has {self.groups.count:,}"
            raise InvalidStatistic("group_by", what)

    def half_width(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Rational | None:
        """Return that of one group, since the guesses are the same for all."""
        supposed = self.suppose(guesses, mechanisms, alpha)
        above, below = (supposed[role][0] for role in self.components)
        first, second = (mechanisms[role] for role in self.components)
        error = RatioError.of(first, second, alpha / self.groups.count)
        return widest([self._estimate(error, above, below).range])

    @abstractmethod
    def _estimate(self, error: RatioError, above: Rational, below: Rational) -> Estimate:
        """Return the estimate of one group from both of its releases."""

    def _releases(self, known: Mapping[str, KnownComponent]) -> tuple[RatioError, list[tuple[Rational, Rational]]]:
        """Return the error bound of each group's ratio, and the pair of released numbers of each group."""
        above, below = (known[role] for role in self.components)
        error = RatioError.of(above.mechanism, below.mechanism, total_alpha(known) / self.groups.count)
        return error, list(zip(above.raw, below.raw, strict=True))


@dataclass(frozen=True)
class MeanByGroup(ByGroup):
    """The mean of a column over the rows of each group, or over those that meet a filter."""

    codes: Codes

    kind: ClassVar[str] = "mean"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "where", "group_by"})
    guess_names: ClassVar[tuple[str, ...]] = ("mean", "count")
    compared: ClassVar[str | None] = "mean"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the means that a request asks for; raise InvalidStatistic if it is invalid."""
        components, described, total = mean_components(spec, columns, n, rows_per_unit)
        groups: Any = total.bins
        return cls(n, components, described, groups, total.codes)

    @property
    def date_kind(self) -> Kind | None:
        """The kind of the column if it holds dates."""
        return self.codes.date_kind

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the means; the value is None for a group whose released count is not positive."""
        error, releases = self._releases(known)
        return {self.kind: [self._estimate(error, total, count) for total, count in releases]}

    def _estimate(self, error: RatioError, above: Rational, below: Rational) -> Estimate:
        return derive_centred_mean(self.codes, error, above, below)

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the same count and mean for every group."""
        groups = self.groups.count
        return {"sum": [guess_centred_total(self.codes, guesses)] * groups, "count": [guesses["count"]] * groups}


@dataclass(frozen=True)
class WeightedMeanByGroup(MeanByGroup):
    """The weighted mean of a column over the rows of each group, or over those that meet a filter."""

    members: ClassVar[frozenset[str]] = MeanByGroup.members | {"weight"}
    guess_names: ClassVar[tuple[str, ...]] = ("mean", "weight", "count")

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the same count, mean and weights for every group."""
        totals = guess_weighted_totals(self.codes, guesses, guesses["count"])
        return {role: each * self.groups.count for role, each in zip(self.components, totals, strict=True)}


@dataclass(frozen=True)
class ProportionByGroup(ByGroup):
    """The share of each group's rows that are true in a boolean column, or that have a category of another column.

    A missing value counts as neither true nor in the category.
    """

    kind: ClassVar[str] = "proportion"
    members: ClassVar[frozenset[str]] = frozenset({"column", "category", "where", "group_by"})
    guess_names: ClassVar[tuple[str, ...]] = ("proportion", "count")
    compared: ClassVar[str | None] = "proportion"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the proportions that a request asks for; raise InvalidStatistic if it is invalid."""
        column = find_column(columns, spec.get("column"), "column")
        where, category = dict(spec.get("where") or {}), spec.get("category")
        if column.name in where:
            raise InvalidStatistic("where", "the filter may not be about the column whose shares are asked for")
        wanted = parse_share(column, category)
        counted = {"kind": "count", "group_by": spec.get("group_by")}
        inside = counted | {"where": where | {column.name: {"one_of": [wanted]}}}
        everybody = counted | {"where": where or None}
        whole = build(everybody, columns, n, rows_per_unit)
        described = whole.describe() | {"kind": cls.kind, "column": column.name}
        described |= {} if category is None else {"category": category}
        groups: Any = whole.bins
        return cls(n, {"inside": inside, "count": everybody}, described, groups)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the shares; the value is None for a group whose released count is not positive."""
        error, releases = self._releases(known)
        return {self.kind: [self._estimate(error, inside, count) for inside, count in releases]}

    def _estimate(self, error: RatioError, above: Rational, below: Rational) -> Estimate:
        return _share(error, above, below)

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the same count and proportion for every group."""
        count, groups = guesses["count"], self.groups.count
        return {"inside": [guesses["proportion"] * count] * groups, "count": [count] * groups}


def _share(error: RatioError, inside: Rational, count: Rational) -> Estimate:
    around = Range(*error.ratios(inside, count)).cut(mpq(0), mpq(1))
    least, most = ends(around)
    return Estimate(min(max(inside / count, least), most) if count > 0 else None, around)
