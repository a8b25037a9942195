"""Variances, covariances and what follows from them, of the rows that have a value in each column that is used.

A filter may select some of these rows: all that follows holds for the rows that are used, whichever they are.

The sample covariance s of m rows follows from m and from the sum over their pairs, released as V = m(m - 1)/(n(n -
1))·s. Both have an interval, V at 9/10 of α and m at 1/10, since the relative error of m is far smaller. By the union
bound both hold together with probability at least 1 - α, and then s is in their quotient. In correlations and slopes m
cancels.
"""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

from gmpy2 import mpq

from app.dp.derived.base import (
    DerivedStatistic,
    Estimate,
    Estimates,
    Guesses,
    KnownComponent,
    Supposed,
    reach_of,
)
from app.dp.derived.interval_arithmetic import Range, ends, multiply, square_root, square_root_down, subtract
from app.dp.derived.ratios import Correlation, Regression, derive_centred_mean, guess_centred_total, total_alpha
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.ratio_accuracy import RatioError
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.base import find_column, parse_pair
from app.dp.statistics.pair_differences import PairDifferences, require_values
from app.dp.statistics.sum import Sum
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import describe_conditions

EXCLUDE = "exclude"

_COUNT_SHARE = mpq(1, 10)
"""The share of α for the number of rows."""

_MEAN_SHARE = mpq(1, 8)
"""The share of α for each mean of a line; its slope takes the rest."""


@dataclass(frozen=True)
class _OfKnownRows(DerivedStatistic, ABC):
    """What is derived from the rows that have all values and meet a filter, if there is one."""

    optional_guesses: ClassVar[tuple[str, ...]] = ("count",)

    @property
    def required_guesses(self) -> tuple[str, ...]:
        """`guess_names` and, of some rows only, their number: without a filter, it is supposed to be n."""
        return (*self.guess_names, "count") if "where" in self.described else self.guess_names


@dataclass(frozen=True)
class _SpreadOfKnown(_OfKnownRows, ABC):
    """A sample variance or covariance of the m >= 2 rows that are used, or what follows from it.

    Attributes:
        pairs: the sum over pairs.
    """

    pairs: PairDifferences

    @property
    def weights(self) -> Mapping[str, int]:
        """A larger share for the sum over pairs, whose relative error is larger."""
        return {"pairs": 3, "count": 1}

    def _estimate(self, known: Mapping[str, KnownComponent]) -> Estimate:
        """Return the variance or covariance; the value is None if fewer than 2 rows were released."""
        pairs, count, alpha = known["pairs"], known["count"], total_alpha(known)
        ((total,), (rows,)), all_pairs = (pairs.values, count.values), self.n * (self.n - 1)
        reach = reach_of(count.mechanism, alpha * _COUNT_SHARE)
        least = max((rows - reach).__ceil__(), 2)
        few, many = (m * (m - 1) for m in (least, max(min((rows + reach).__floor__(), self.n), least)))
        reach = reach_of(pairs.mechanism, alpha * (1 - _COUNT_SHARE))
        low, high = ends(Range(total - reach, total + reach).cut(self.pairs.lower, self.pairs.upper))
        around = Range(
            low * all_pairs / (many if low >= 0 else few),
            high * all_pairs / (few if high >= 0 else many),
        )
        # h/(m(m - 1)), the largest variance of m values, falls with m.
        most = self.pairs.x_codes.width * self.pairs.y_codes.width * mpq((least // 2) * (least - least // 2), few)
        around = around.cut(mpq(0) if self.pairs.x == self.pairs.y else -most, most)
        if rows < 2:
            return Estimate(None, around)
        least_value, most_value = ends(around)
        return Estimate(min(max(total * all_pairs / (rows * (rows - 1)), least_value), most_value), around)

    def _suppose(self, spread: Rational, guesses: Guesses) -> Supposed:
        rows = guesses.get("count", mpq(self.n))
        return {"pairs": [spread * _share_of_pairs(rows, self.n)], "count": [rows]}


def _share_of_pairs(rows: Rational, n: int) -> Rational:
    return rows * (rows - 1) / (n * (n - 1))


@dataclass(frozen=True)
class VarianceOfKnown(_SpreadOfKnown):
    """The sample variance of the known values of a column."""

    kind: ClassVar[str] = "variance"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "where"})
    guess_names: ClassVar[tuple[str, ...]] = ("standard_deviation",)

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the statistic that a request asks for; raise InvalidStatistic if it is invalid."""
        column = find_column(columns, spec.get("column"), "column")
        _require_numbers(column, "column")
        asked = {"kind": "variance", "column": column.name, "bounds": spec.get("bounds")}
        described = build(asked, columns, n, rows_per_unit).describe() | {"kind": cls.kind}
        components = _pairs_and_count((column, column), (spec.get("bounds"),) * 2, spec.get("where"))
        pairs = _build_pairs(components["pairs"], columns, n, rows_per_unit)
        return cls(n, components, described | describe_conditions(pairs.conditions), pairs)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the variance."""
        return {self.kind: self._estimate(known)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the number of known values, all rows by default, and the sum over their pairs."""
        return self._suppose(guesses["standard_deviation"] ** 2, guesses)


@dataclass(frozen=True)
class DeviationOfKnown(VarianceOfKnown):
    """The square root of the sample variance of the known values of a column."""

    kind: ClassVar[str] = "standard_deviation"
    compared: ClassVar[str | None] = "standard_deviation"

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the square root of the variance, which is not negative."""
        variance = self._estimate(known)
        value = None if variance.value is None else square_root_down(variance.value)
        return {self.kind: Estimate(value, square_root(variance.range))}


@dataclass(frozen=True)
class CovarianceOfKnown(_SpreadOfKnown):
    """The sample covariance of two columns over the rows that have both values."""

    kind: ClassVar[str] = "covariance"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds", "where"})
    guess_names: ClassVar[tuple[str, ...]] = Correlation.guess_names

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the covariance that a request asks for; raise InvalidStatistic if it is invalid."""
        described, pair, bounds = _parse_pair_of_columns(spec, columns, n, rows_per_unit)
        components = _pairs_and_count(pair, bounds, spec.get("where"))
        pairs = _build_pairs(components["pairs"], columns, n, rows_per_unit)
        return cls(n, components, described | describe_conditions(pairs.conditions), pairs)

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the covariance."""
        return {self.kind: self._estimate(known)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the number of rows that have both values, all by default, and the sum over their pairs."""
        correlation, x, y = (guesses[name] for name in self.guess_names)
        return self._suppose(correlation * x * y, guesses)


@dataclass(frozen=True)
class CorrelationOfKnown(_OfKnownRows, Correlation):
    """Pearson's correlation of two columns over the rows that have both values, from three sums over their pairs."""

    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds", "where"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the correlation that a request asks for; raise InvalidStatistic if it is invalid."""
        described, (x, y), bounds = _parse_pair_of_columns(spec, columns, n, rows_per_unit)
        where = require_values(spec.get("where"), (x, y))
        components = {
            role: _ask_pairs(pair, bounds_of, where)
            for role, pair, bounds_of in (
                ("covariance", (x, y), bounds),
                ("variance_x", (x, x), bounds[:1] * 2),
                ("variance_y", (y, y), bounds[1:] * 2),
            )
        }
        pairs = _build_pairs(components["covariance"], columns, n, rows_per_unit)
        return cls(n, components, described | {"kind": cls.kind} | describe_conditions(pairs.conditions))

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:
        """Return what all rows would have, for the guessed number of those that have both values."""
        share = _share_of_pairs(guesses.get("count", mpq(self.n)), self.n)
        return {
            role: [share * each for each in values]
            for role, values in super().suppose(guesses, mechanisms, alpha).items()
        }


@dataclass(frozen=True)
class RegressionOfKnown(_OfKnownRows, Regression):
    """The least-squares line of the second column on the first, over the rows that have both values.

    The slope follows from two sums over pairs, at 3/4 of α. Each mean follows from a centred sum and the number of
    rows, at 1/8 of α. By the union bound, the intercept is what all three allow.

    Attributes:
        codes: the codes of both centred sums.
    """

    codes: tuple[Codes, Codes]

    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds", "where"})

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the line that a request asks for; raise InvalidStatistic if it is invalid."""
        described, (x, y), bounds = _parse_pair_of_columns(spec, columns, n, rows_per_unit)
        where = require_values(spec.get("where"), (x, y))
        summed = {"kind": "sum", "centred": True, "where": where}
        components = {
            "covariance": _ask_pairs((x, y), bounds, where),
            "variance_x": _ask_pairs((x, x), bounds[:1] * 2, where),
            "sum_x": summed | {"column": x.name, "bounds": bounds[0]},
            "sum_y": summed | {"column": y.name, "bounds": bounds[1]},
            "count": {"kind": "count", "where": where},
        }
        pairs = _build_pairs(components["covariance"], columns, n, rows_per_unit)
        described |= {"kind": cls.kind} | describe_conditions(pairs.conditions)
        # A range of the filter on a column narrows the bounds of its sum, and with them the midpoint.
        of_x, of_y = (
            cast("Sum", build(components[role], columns, n, rows_per_unit)).codes for role in ("sum_x", "sum_y")
        )
        return cls(n, components, described, (of_x, of_y))

    @property
    def weights(self) -> Mapping[str, int]:
        """Larger shares for the components of the slope, since the intercept depends on the slope too."""
        return {"covariance": 3, "variance_x": 3, "sum_x": 2, "sum_y": 2, "count": 2}

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return slope and intercept: None if the released variance is not positive, unbounded if it may be 0."""
        covariance, variance, *sums, count = (known[role] for role in self.components)
        alpha = total_alpha(known)
        error = RatioError.of(covariance.mechanism, variance.mechanism, alpha * (1 - 2 * _MEAN_SHARE))
        slopes = Range(*error.ratios(*covariance.raw, *variance.raw))
        x, y = (
            derive_centred_mean(
                codes, RatioError.of(each.mechanism, count.mechanism, alpha * _MEAN_SHARE), *each.raw, *count.raw
            )
            for codes, each in zip(self.codes, sums, strict=True)
        )
        slope = slopes.nearest(covariance.values[0] / variance.values[0]) if variance.values[0] > 0 else None
        intercept, intercepts = None, subtract(y.range, multiply(slopes, x.range))
        if slope is not None and x.value is not None and y.value is not None:
            intercept = intercepts.nearest(y.value - slope * x.value)
        return {"slope": Estimate(slope, slopes), "intercept": Estimate(intercept, intercepts)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:
        """Return the sums that the guesses give for the guessed number of rows that have both values."""
        of_all, rows = super().suppose(guesses, mechanisms, alpha), guesses.get("count", mpq(self.n))
        share = _share_of_pairs(rows, self.n)
        sums = {
            f"sum_{axis}": [guess_centred_total(codes, {"mean": guesses[f"mean_{axis}"], "count": rows})]
            for axis, codes in zip("xy", self.codes, strict=True)
        }
        spreads = {role: [share * each for each in of_all[role]] for role in ("covariance", "variance_x")}
        return spreads | sums | {"count": [rows]}


def _parse_pair_of_columns(
    spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int
) -> tuple[dict[str, Any], tuple[Column, Column], tuple[Any, Any]]:
    """Return the description of the covariance, both columns and the bounds of each; the covariance checks them."""
    asked = {"kind": "covariance", "columns": spec.get("columns"), "bounds": spec.get("bounds")}
    described = build(asked, columns, n, rows_per_unit).describe()
    x, y = (columns[name] for name in described["columns"])
    return described, (x, y), parse_pair(spec.get("bounds"), "bounds") or (None, None)


def _require_numbers(column: Column, where: str) -> None:
    if column.kind is Kind.CATEGORY:
        raise InvalidStatistic(where, "must be a numeric or boolean column: categories have no numeric values")


def _ask_pairs(pair: tuple[Column, Column], bounds: tuple[Any, ...], where: Mapping[str, Any] | None) -> dict[str, Any]:
    asked = None if bounds == (None, None) else bounds
    return {"kind": "pair_differences", "columns": tuple(each.name for each in pair), "bounds": asked, "where": where}


def _pairs_and_count(
    pair: tuple[Column, Column], bounds: tuple[Any, ...], given: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    where = require_values(given, pair)
    return {"pairs": _ask_pairs(pair, bounds, where), "count": {"kind": "count", "where": where}}


def _build_pairs(
    asked: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int
) -> PairDifferences:
    return cast("PairDifferences", build(asked, columns, n, rows_per_unit))
