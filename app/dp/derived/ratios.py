"""Statistics derived from several releases: the mean of filtered rows, a correlation, a regression line."""

from collections.abc import Mapping, Sequence
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
    single_number,
)
from app.dp.derived.correlation_interval import Release, bound_correlation
from app.dp.derived.interval_arithmetic import UNKNOWN, Range, ends, multiply, square_root_up, subtract
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.mechanism.ratio_accuracy import RatioError
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.base import parse_pair
from app.dp.statistics.centred_sum import CentredSum
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind


@dataclass(frozen=True)
class FilteredMean(DerivedStatistic):
    """The mean of a column over the N rows that meet a filter: m₀ + T/N, where T is the sum of v - m₀ over these rows.

    m₀ is the midpoint of the bounds. N is private, unlike the table's n, so both T and N are released. The mean is
    within the bounds, like every value, if any row meets the filter.
    """

    codes: Codes

    kind: ClassVar[str] = "mean"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "where"})
    guess_names: ClassVar[tuple[str, ...]] = ("mean", "count")
    compared: ClassVar[str | None] = "mean"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the mean that a request asks for; raise InvalidStatistic if it is invalid."""
        if spec.get("where") is None:
            raise InvalidStatistic(
                "where", "is missing: for the mean of all rows, release the statistic `mean`, or add `weight`"
            )
        components, described, total = mean_components(spec, columns, n, rows_per_unit)
        return cls(n, components, described, total.codes)

    @property
    def date_kind(self) -> Kind | None:
        """The kind of the column if it holds dates."""
        return self.codes.date_kind

    @property
    def weights(self) -> Mapping[str, int]:
        """Twice as much for the sum: m₀ is at most R/2 from the mean, so the count never needs as much."""
        return {"sum": 2, "count": 1}

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the mean; the value is None if the released count is not positive."""
        (total,), (count,) = known["sum"].raw, known["count"].raw
        error = RatioError.of(known["sum"].mechanism, known["count"].mechanism, total_alpha(known))
        return {self.kind: derive_centred_mean(self.codes, error, total, count)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the guessed count, and the sum of as many rows with the guessed mean."""
        return {"sum": [guess_centred_total(self.codes, guesses)], "count": [guesses["count"]]}


def guess_centred_total(codes: Codes, guesses: Guesses) -> Rational:
    """Return the sum of v - m₀ over the guessed number of rows with the guessed mean."""
    return (guesses["mean"] - (codes.lower + codes.upper) / 2) * guesses["count"]


@dataclass(frozen=True)
class WeightedMean(DerivedStatistic):
    """The weighted mean of a column over all rows: m₀ + Σ w·(v - m₀)/Σ w, with the weights w of another column.

    It is within the bounds if the weight of any row is above 0.
    """

    codes: Codes

    kind: ClassVar[str] = "mean"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds", "weight", "where"})
    guess_names: ClassVar[tuple[str, ...]] = ("mean", "weight")
    compared: ClassVar[str | None] = "mean"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the weighted mean that a request asks for; raise InvalidStatistic if it is invalid."""
        components, described, total = mean_components(spec, columns, n, rows_per_unit)
        return cls(n, components, described, total.codes)

    @property
    def date_kind(self) -> Kind | None:
        """The kind of the column if it holds dates."""
        return self.codes.date_kind

    @property
    def weights(self) -> Mapping[str, int]:
        """As for the mean of some rows."""
        return {"sum": 2, "weights": 1}

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the mean; it has no value if the released sum of weights is not positive."""
        (total,), (weights,) = known["sum"].raw, known["weights"].raw
        error = RatioError.of(known["sum"].mechanism, known["weights"].mechanism, total_alpha(known))
        return {self.kind: derive_centred_mean(self.codes, error, total, weights)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the sums that give the guessed mean and the guessed mean of the weights."""
        return dict(zip(self.components, guess_weighted_totals(self.codes, guesses, mpq(self.n)), strict=True))


@dataclass(frozen=True)
class FilteredWeightedMean(WeightedMean):
    """The weighted mean of a column over the rows that meet a filter."""

    guess_names: ClassVar[tuple[str, ...]] = ("mean", "weight", "count")

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the sums over the guessed number of rows."""
        return dict(zip(self.components, guess_weighted_totals(self.codes, guesses, guesses["count"]), strict=True))


def guess_weighted_totals(codes: Codes, guesses: Guesses, rows: Rational) -> tuple[list[Rational], list[Rational]]:
    """Return the weighted centred sum and the sum of weights of so many rows, if the guesses are right."""
    weights = guesses["weight"] * rows
    return [guess_centred_total(codes, {**guesses, "count": weights})], [weights]


def mean_components(
    spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int
) -> tuple[dict[str, Any], dict[str, Any], CentredSum]:
    """Build the centred sum and the count, or the sum of weights, from which a mean is derived.

    Returns:
        Both requests by their roles, the description of the mean, and the sum.
    """
    rows, weight = {member: spec.get(member) for member in ("where", "group_by")}, spec.get("weight")
    asked = {"kind": "sum", "centred": True, "weight": weight, "column": spec.get("column")}
    asked |= {"bounds": spec.get("bounds"), **rows}
    total = cast("CentredSum", build(asked, columns, n, rows_per_unit))
    described = {name: value for name, value in total.describe().items() if name != "centred"} | {"kind": "mean"}
    if weight is None:
        return {"sum": asked, "count": {"kind": "count", **rows}}, described, total
    return {"sum": asked, "weights": {"kind": "sum", "column": weight, **rows}}, described, total


def derive_centred_mean(codes: Codes, error: RatioError, total: Rational, count: Rational) -> Estimate:
    """Return the mean m₀ + T/N of rows with these codes, from the releases `total` of T and `count` of N."""
    middle = (codes.lower + codes.upper) / 2
    around = Range(*error.ratios(total, count)).cut(-codes.width / 2, codes.width / 2)
    least, most = ends(around)
    value = middle + min(max(total / count, least), most) if count > 0 else None
    return Estimate(value, Range(middle + least, middle + most))


def total_alpha(known: Mapping[str, KnownComponent]) -> Rational:
    """Return the total α, the sum of the components' shares."""
    return sum(each.alpha for each in known.values())


def _pair(spec: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, Any], tuple[Any, Any]]:
    """Return the request for the covariance of a request's two columns, the columns and the bounds of each."""
    names = parse_pair(spec.get("columns"), "columns")
    if names is None:
        raise InvalidStatistic("columns", "must be two columns")
    bounds = parse_pair(spec.get("bounds"), "bounds") or (None, None)
    return {"kind": "covariance", "columns": names, "bounds": bounds}, names, bounds


@dataclass(frozen=True)
class Correlation(DerivedStatistic):
    """Pearson's correlation of two columns: their covariance divided by the square root of their variances' product."""

    kind: ClassVar[str] = "correlation"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds"})
    guess_names: ClassVar[tuple[str, ...]] = ("correlation", "standard_deviation_x", "standard_deviation_y")
    compared: ClassVar[str | None] = "correlation"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the correlation that a request asks for; raise InvalidStatistic if it is invalid."""
        asked, names, bounds = _pair(spec)
        covariance = build(asked, columns, n, rows_per_unit)
        x, y = ({"kind": "variance", "column": name, "bounds": b} for name, b in zip(names, bounds, strict=True))
        components = {"covariance": asked, "variance_x": x, "variance_y": y}
        return cls(n, components, covariance.describe() | {"kind": cls.kind})

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the quotient within [-1, 1]; the value is None if a released variance is not positive."""
        found = [
            Release(each.raw[0], each.ranges[0], each.mechanism) for each in map(known.__getitem__, self.components)
        ]
        around = bound_correlation(found[0], found[1], found[2], total_alpha(known))
        together, x, y = (single_number(known[role])[0] for role in self.components)
        least, most = ends(around)
        value = min(max(together / square_root_up(x * y), least), most) if x > 0 and y > 0 else None
        return {self.kind: Estimate(value, around)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the variances, and the covariance that gives the guessed correlation."""
        correlation, x, y = (guesses[name] for name in self.guess_names)
        return {"covariance": [correlation * x * y], "variance_x": [x**2], "variance_y": [y**2]}


_OF_SLOPE = mpq(3, 4)
"""The part of α that the slope takes; the intercept takes the rest, which a radius of each mean takes too."""


def _intercepts(slopes: Range, x: KnownComponent, y: KnownComponent, alpha: Rational) -> Range:
    """Return the range of the intercept: for the true slope b, the error of Y - b·X is that of a ratio (see there)."""
    if None in slopes:
        return UNKNOWN
    reach = RatioError.of(y.mechanism, x.mechanism, alpha).reach(max(map(abs, ends(slopes))))
    without = subtract(Range(y.raw[0], y.raw[0]), multiply(slopes, Range(x.raw[0], x.raw[0])))
    return without.widen(reach)


@dataclass(frozen=True)
class Regression(DerivedStatistic):
    """The least-squares line of the second column on the first: slope Cov/Var(x), intercept mean(y) - slope·mean(x)."""

    kind: ClassVar[str] = "regression"
    members: ClassVar[frozenset[str]] = frozenset({"columns", "bounds"})
    guess_names: ClassVar[tuple[str, ...]] = ("slope", "standard_deviation_x", "mean_x", "mean_y")
    compared: ClassVar[str | None] = "slope"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the line that a request asks for; raise InvalidStatistic if it is invalid."""
        asked, (x, y), (x_bounds, y_bounds) = _pair(spec)
        covariance = build(asked, columns, n, rows_per_unit)
        components = {
            "covariance": asked,
            "variance_x": {"kind": "variance", "column": x, "bounds": x_bounds},
            "mean_x": {"kind": "mean", "column": x, "bounds": x_bounds},
            "mean_y": {"kind": "mean", "column": y, "bounds": y_bounds},
        }
        return cls(n, components, covariance.describe() | {"kind": cls.kind})

    @property
    def weights(self) -> Mapping[str, int]:
        """Larger shares for the components of the slope, since the intercept depends on the slope too."""
        return {"covariance": 3, "variance_x": 3, "mean_x": 2, "mean_y": 2}

    @property
    def traded(self) -> Sequence[str]:
        """Only those of the slope, whose width is planned: the intercept needs the means too."""
        return "covariance", "variance_x"

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return slope and intercept: None if the released variance is not positive, unbounded if it may be 0."""
        together, x, x_mean, y_mean = (single_number(known[role]) for role in self.components)
        covariance, variance = known["covariance"], known["variance_x"]
        alpha = total_alpha(known)
        error = RatioError.of(covariance.mechanism, variance.mechanism, alpha * _OF_SLOPE)
        slopes = Range(*error.ratios(*covariance.raw, *variance.raw))
        intercepts = _intercepts(slopes, known["mean_x"], known["mean_y"], alpha * (1 - _OF_SLOPE))
        slope = slopes.nearest(together[0] / x[0]) if x[0] > 0 else None
        intercept = None if slope is None else intercepts.nearest(y_mean[0] - slope * x_mean[0])
        return {"slope": Estimate(slope, slopes), "intercept": Estimate(intercept, intercepts)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the variance, the covariance that gives the guessed slope, and the means."""
        slope, deviation, mean_x, mean_y = (guesses[name] for name in self.guess_names)
        variance = deviation**2
        return {"covariance": [slope * variance], "variance_x": [variance], "mean_x": [mean_x], "mean_y": [mean_y]}
