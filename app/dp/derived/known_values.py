"""Means and sums of the rows that have a value, and the choice of what `"missing": "exclude"` derives.

How many rows have a value is secret, so it is released too. The mean of the known values is that of the rows which meet
the filter "is not missing".
"""

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

from gmpy2 import mpq

from app.dp.derived.base import DerivedStatistic, Estimate, Estimates, Guesses, KnownComponent, Supposed, single_number
from app.dp.derived.known_spread import (
    EXCLUDE,
    CorrelationOfKnown,
    CovarianceOfKnown,
    DeviationOfKnown,
    RegressionOfKnown,
    VarianceOfKnown,
)
from app.dp.derived.ratios import FilteredMean, guess_centred_total
from app.dp.derived.some_sums import SomeSum
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.base import find_column, parse_pair
from app.dp.statistics.pair_differences import refuse_missing, require_values
from app.dp.table.columns import Column, Kind
from app.dp.table.filters import parse_conditions

Derive: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Column], int, int], DerivedStatistic]


class MeanOfKnown(FilteredMean):
    """The mean of a column over the K rows that have a value: m₀ + T/K, where T is the sum of v - m₀ over these."""

    guess_names: ClassVar[tuple[str, ...]] = ("mean",)
    optional_guesses: ClassVar[tuple[str, ...]] = ("count",)

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the number of known values, all rows by default, and the sum of as many with the guessed mean."""
        guessed = {"count": mpq(self.n), **guesses}
        return {"sum": [guess_centred_total(self.codes, guessed)], "count": [guessed["count"]]}


@dataclass(frozen=True)
class _OfAllRows(DerivedStatistic, ABC):
    """A statistic of all rows, where no value is missing: one release."""

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the statistic that a request asks for; raise InvalidStatistic if it is invalid."""
        asked = {"kind": cls.kind, **{member: spec.get(member) for member in cls.members}}
        return cls(n, {cls.kind: asked}, build(asked, columns, n, rows_per_unit).describe())

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return what is released."""
        (release,) = known.values()
        value, around = single_number(release)
        return {self.kind: Estimate(value, around)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the middle of the range: the width is the same for all statistics that are not near its ends."""
        return {role: [each.statistic.centre] for role, each in mechanisms.items()}


@dataclass(frozen=True)
class MeanOfAll(_OfAllRows):
    """The mean of a column that is declared without missing values."""

    date_kind: Kind | None = None

    kind: ClassVar[str] = "mean"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the mean that a request asks for; raise InvalidStatistic if it is invalid."""
        mean = super().build(spec, columns, n, rows_per_unit)
        kind = find_column(columns, spec.get("column"), "column").kind
        return replace(mean, date_kind=kind if kind.temporal else None)


class VarianceOfAll(_OfAllRows):
    """The sample variance of a column that is declared without missing values."""

    kind: ClassVar[str] = "variance"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds"})


class CovarianceOfAll(_OfAllRows):
    """The sample covariance of two columns that are declared without missing values."""

    kind: ClassVar[str] = "covariance"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds"})


_KINDS: tuple[type[DerivedStatistic], ...] = (
    *(MeanOfKnown, SomeSum, VarianceOfKnown, CovarianceOfKnown, DeviationOfKnown),
    *(CorrelationOfKnown, RegressionOfKnown),
)
_OF_KNOWN = {derived.kind: derived for derived in _KINDS}

_OF_ALL: dict[str, type[DerivedStatistic]] = {
    derived.kind: derived for derived in (MeanOfAll, VarianceOfAll, CovarianceOfAll)
}


def derive_of_known(
    spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int, derive: Derive
) -> DerivedStatistic:
    """Return the statistic of the rows that have a value in each column that it uses.

    Args:
        spec: the request, with the member `missing`.
        columns: the dataset's declared columns by name.
        n: the public number of rows.
        rows_per_unit: the largest number of rows that one person has.
        derive: returns the derived statistic of a request without the member `missing`.

    Raises:
        InvalidStatistic: if the request is not valid for this dataset.
    """
    kind = str(spec.get("kind"))
    if spec["missing"] != EXCLUDE or kind not in _OF_KNOWN:
        what = f"does not belong to a {kind}: leave it out" if kind not in _OF_KNOWN else f"must be `{EXCLUDE}`"
        raise InvalidStatistic("missing", what)
    asked = {member: value for member, value in spec.items() if member != "missing"}
    used, given = _list_columns(asked, columns), asked.get("where")
    some_rows = any(asked.get(member) is not None for member in ("where", "group_by", "weight"))
    plain = derive if some_rows or kind not in _OF_ALL else _checked(_OF_ALL[kind])
    if kind in {"mean", "sum"}:
        refuse_missing(parse_conditions(given, columns), used)
        asked["where"] = require_values(given, used)
        if kind == "sum" and asked["where"]:
            plain = _checked(SomeSum)
        elif asked["where"] and not some_rows:
            plain = MeanOfKnown.build
    elif given or any(column.nullable for column in used):
        plain = _checked(_OF_KNOWN[kind])
    derived = plain(asked, columns, n, rows_per_unit)
    described = dict(derived.described)
    where = {name: each for name, each in described.pop("where", {}).items() if name in (given or {})}
    return replace(derived, described=described | ({"where": where} if where else {}) | {"missing": EXCLUDE})


def _list_columns(spec: Mapping[str, Any], columns: Mapping[str, Column]) -> tuple[Column, ...]:
    """Return the columns whose values a statistic uses."""
    if spec["kind"] in {"covariance", "correlation", "regression"}:
        names = parse_pair(spec.get("columns"), "columns") or ()
        return tuple(find_column(columns, name, f"columns.{i}") for i, name in enumerate(names))
    found = [find_column(columns, spec.get("column"), "column")]
    if spec.get("weight") is not None:
        found.append(find_column(columns, spec["weight"], "weight"))
    return tuple(found)


def _checked(derived: type[DerivedStatistic]) -> Derive:
    """Return the function that builds a statistic after checking that it has the members of a request."""

    def build_checked(
        spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int
    ) -> DerivedStatistic:
        for member, value in spec.items():
            if member != "kind" and member not in derived.members and value is not None:
                raise InvalidStatistic(member, f"does not belong to a {derived.kind}: leave it out")
        return derived.build(spec, columns, n, rows_per_unit)

    return build_checked
