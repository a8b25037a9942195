"""Statistics derived from one release: a standard deviation, a sum, a proportion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gmpy2 import mpq

from app.dp.derived.base import (
    Basis,
    DerivedStatistic,
    Estimate,
    Estimates,
    Guesses,
    KnownComponent,
    Supposed,
    reach_of,
    single_number,
)
from app.dp.derived.interval_arithmetic import Range, square_root, square_root_down
from app.dp.errors import InvalidStatistic
from app.dp.mechanism.mechanism import Mechanism
from app.dp.numbers.exact import Rational
from app.dp.statistics import build
from app.dp.statistics.base import find_column, refuse_dates
from app.dp.table.columns import Column, Kind


@dataclass(frozen=True)
class StandardDeviation(DerivedStatistic):
    """The square root of the sample variance, in the column's units; 0 if the released variance is negative."""

    kind: ClassVar[str] = "standard_deviation"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds"})
    optional_guesses: ClassVar[tuple[str, ...]] = ("standard_deviation",)
    compared: ClassVar[str | None] = "standard_deviation"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the standard deviation that a request asks for; raise InvalidStatistic if it is invalid."""
        asked = {"kind": "variance", "column": spec.get("column"), "bounds": spec.get("bounds")}
        variance = build(asked, columns, n, rows_per_unit)
        return cls(n, {"variance": asked}, variance.describe() | {"kind": cls.kind})

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the square root of the variance after clamping to its public range, which is not negative."""
        value, around = single_number(known["variance"])
        return {self.kind: Estimate(square_root_down(value), square_root(around))}

    def basis(self, guesses: Guesses) -> Basis:
        """Return what a planned width is of."""
        return "guesses" if guesses else "worst_case"

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:
        """Return the guessed variance, or the one whose root has the widest interval: it just begins at 0."""
        guess = guesses.get("standard_deviation")
        return {"variance": [reach_of(mechanisms["variance"], alpha) if guess is None else guess**2]}


@dataclass(frozen=True)
class DerivedSum(DerivedStatistic):
    """The sum of all rows: n times their mean."""

    kind: ClassVar[str] = "sum"
    members: ClassVar[frozenset[str]] = frozenset({"column", "bounds"})
    optional_guesses: ClassVar[tuple[str, ...]] = ("sum",)
    compared: ClassVar[str | None] = "sum"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the sum that a request asks for; raise InvalidStatistic if it is invalid."""
        refuse_dates(find_column(columns, spec.get("column"), "column"))
        asked = {"kind": "mean", "column": spec.get("column"), "bounds": spec.get("bounds")}
        mean = build(asked, columns, n, rows_per_unit)
        return cls(n, {"mean": asked}, mean.describe() | {"kind": cls.kind})

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return n times the mean."""
        value, around = single_number(known["mean"])
        return {self.kind: Estimate(value * self.n, around.times(mpq(self.n)))}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the middle of the range: the width is the same for all statistics that are not near its ends."""
        return {"mean": [mechanisms["mean"].statistic.centre]}


@dataclass(frozen=True)
class Proportion(DerivedStatistic):
    """The share of all rows that are true in a boolean column, have a category, or meet a filter.

    A missing value counts as in the component: as the boolean's null value in a mean, and as not meeting the filter in
    a count.
    """

    kind: ClassVar[str] = "proportion"
    members: ClassVar[frozenset[str]] = frozenset({"column", "category", "where"})
    optional_guesses: ClassVar[tuple[str, ...]] = ("proportion",)
    compared: ClassVar[str | None] = "proportion"

    @classmethod
    def build(cls, spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Self:
        """Return the proportion that a request asks for; raise InvalidStatistic if it is invalid."""
        name, category, where = (spec.get(member) for member in ("column", "category", "where"))
        if (name is None) == (where is None):
            raise InvalidStatistic("column", "is missing: a proportion needs either a `column` or a `where`")
        if name is None:
            if category is not None:
                raise InvalidStatistic("category", "does not go with `where`, which names its categories itself")
            asked: dict[str, Any] = {"kind": "count", "where": where}
            return cls(n, {"count": asked}, build(asked, columns, n, rows_per_unit).describe() | {"kind": cls.kind})
        column = find_column(columns, name, "column")
        described = {"kind": cls.kind, "column": name}
        wanted = parse_share(column, category)
        if wanted is True:
            return cls(n, {"mean": {"kind": "mean", "column": name}}, described)
        asked = {"kind": "count", "where": {name: {"one_of": [wanted]}}}
        return cls(n, {"count": asked}, described | {"category": category})

    def estimates(self, known: Mapping[str, KnownComponent]) -> Estimates:
        """Return the mean of the boolean column, or the count divided by n."""
        ((role, release),) = known.items()
        value, around = single_number(release)
        divisor = 1 if role == "mean" else self.n
        share: Range = around.times(mpq(1, divisor))
        return {self.kind: Estimate(value / divisor, share)}

    def suppose(self, guesses: Guesses, mechanisms: Mapping[str, Mechanism], alpha: Rational) -> Supposed:  # noqa: ARG002
        """Return the middle of the range: the width is the same for all statistics that are not near its ends."""
        return {role: [each.statistic.centre] for role, each in mechanisms.items()}


def parse_share(column: Column, category: Any) -> Any:  # noqa: ANN401 - whatever a request holds there
    """Return the value whose share is asked for: true for a boolean column, otherwise the declared category.

    Raises:
        InvalidStatistic: if the column is of another kind, or the category is not declared.
    """
    if column.kind is Kind.BOOLEAN and category is None:
        return True
    if column.kind is not Kind.CATEGORY:
        raise InvalidStatistic("column", "must be a boolean or category column")
    if category is None:
        raise InvalidStatistic("category", "is missing; it must be one of the declared categories", column.categories)
    if category not in column.categories:
        raise InvalidStatistic("category", "is not one of the declared categories", column.categories, category)
    return category
