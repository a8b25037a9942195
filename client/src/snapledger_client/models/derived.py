"""Derived statistics, which follow from releases, and their plans."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from pydantic import Field

from snapledger_client.models.base import Answer, Date, DisplayedAnswer, Exact, make_frame
from snapledger_client.models.plans import Outlook
from snapledger_client.models.releases import (
    Accuracy,
    Bin,
    Charge,
    ColumnTexts,
    Treatment,
    list_binned_columns,
    title_bins,
)

if TYPE_CHECKING:
    import pandas as pd


class Component(Answer):
    """A release that a derived statistic follows from; in a plan, `release_id` is None if it does not exist yet.

    Examples:
        >>> plan = penguins.plan_derived(correlation("bill_length_mm", "body_mass_g"), epsilon="0.3")
        >>> [component.role for component in plan.components]
        ['covariance', 'variance_x', 'variance_y']
    """

    role: str
    statistic: dict[str, Any]
    epsilon: Exact | None = None
    accuracy: Accuracy
    release_id: str | None
    charged: Exact
    reused: bool
    reused_accuracy: Accuracy | None = None


class ExpectedWidth(Answer):
    """Half the width that a plan expects of an interval; None if it would have no ends.

    `basis` is "guesses" if it holds if these are right, and "worst_case" if it holds whatever the data. Noise makes
    intervals wider or narrower.

    Examples:
        >>> spread = standard_deviation("body_mass_g")
        >>> penguins.plan_derived(spread, accuracy=200, guesses={"standard_deviation": 800}).expected.basis
        'guesses'
    """

    half_width: float | None
    basis: str


class DerivedPlan(DisplayedAnswer):
    """The components of a derived statistic, which of them exist already, and what the others cost.

    Examples:
        >>> plan = penguins.plan_derived(standard_deviation("body_mass_g"), epsilon="0.2")
        >>> plan.budget.charged in {0, Decimal("0.2")}
        True
    """

    dataset: str
    derived: dict[str, Any]
    epsilon: Exact | None = None
    alpha: float
    treatment: dict[str, Treatment] = Field(default_factory=dict)
    units: dict[str, str] = Field(default_factory=dict)
    columns: dict[str, ColumnTexts] = Field(default_factory=dict)
    expected: ExpectedWidth | None = None
    summary: str = ""
    components: tuple[Component, ...]
    budget: Outlook


End = float | None
"""An end of an interval; None if nothing is known about it.

Examples:
    >>> from snapledger_client import End
    >>> least: End = penguins.standard_deviation("body_mass_g", epsilon="0.2").interval[0]
    >>> least >= 0
    True
"""


class DerivedEstimate(Answer):
    """A value and its interval, or lists of both. A value or an end is None if the components do not define it.

    Examples:
        >>> line = penguins.regression("bill_length_mm", "body_mass_g", epsilon=4).estimates
        >>> list(line)
        ['slope', 'intercept']
    """

    value: float | tuple[float | None, ...] | None
    interval: tuple[tuple[End, End], ...] | tuple[End, End]
    value_as_date: Date | tuple[Date | None, ...] | None = None
    interval_as_date: tuple[tuple[Date | None, Date | None], ...] | tuple[Date | None, Date | None] | None = None

    @property
    def date_rows(self) -> list[tuple[date | None, date | None, date | None]] | None:
        """Like `rows`, with the nearest date or time and those that the interval touches; None if it is of no dates.

        Examples:
            >>> spread = penguins.standard_deviation("body_mass_g", epsilon="0.2")
            >>> spread.estimates["standard_deviation"].date_rows is None
            True
        """
        if self.interval_as_date is None:
            return None
        if isinstance(self.value, tuple):
            values = cast("tuple[date | None, ...]", self.value_as_date)
            pairs = cast("tuple[tuple[date | None, date | None], ...]", self.interval_as_date)
            return [(each, least, most) for each, (least, most) in zip(values, pairs, strict=True)]
        least, most = cast("tuple[date | None, date | None]", self.interval_as_date)
        return [(cast("date | None", self.value_as_date), least, most)]

    @property
    def rows(self) -> list[tuple[float | None, End, End]]:
        """Tuples of each value and both ends of its interval.

        Examples:
            >>> [(sd, least, most)] = penguins.standard_deviation("body_mass_g", epsilon="0.2").estimates[
            ...     "standard_deviation"].rows
            >>> least <= sd <= most
            True
        """
        if isinstance(self.value, tuple):
            pairs = cast("tuple[tuple[End, End], ...]", self.interval)
            return [(each, least, most) for each, (least, most) in zip(self.value, pairs, strict=True)]
        least, most = cast("tuple[End, End]", self.interval)
        return [(self.value, least, most)]


class Derived(DisplayedAnswer):
    """A derived statistic with conservative intervals: together they hold with probability at least 1 - `alpha`.

    It is not a release itself; its `components` are. The keys of `estimates` are the kind, or `slope` and `intercept`;
    `units` has the units of those that have one.

    Examples:
        >>> spread = penguins.standard_deviation("body_mass_g", epsilon="0.2")
        >>> spread.interval[0] <= spread.value <= spread.interval[1]
        True
    """

    rehearsed: bool = False
    dataset: str
    derived: dict[str, Any]
    epsilon: Exact | None = None
    alpha: float
    treatment: dict[str, Treatment] = Field(default_factory=dict)
    units: dict[str, str] = Field(default_factory=dict)
    columns: dict[str, ColumnTexts] = Field(default_factory=dict)
    estimates: dict[str, DerivedEstimate]
    edges: tuple[float, ...] | tuple[str, ...] | None = None
    bins: tuple[Bin, ...] | None = None
    components: tuple[Component, ...]
    budget: Charge

    @property
    def _only(self) -> DerivedEstimate:
        if len(self.estimates) != 1:
            raise ValueError(f"this has more than one number: see `estimates` for {' and '.join(self.estimates)}")
        return next(iter(self.estimates.values()))

    def __float__(self) -> float:
        value = self.value
        if isinstance(value, tuple):
            if len(value) != 1:
                raise ValueError(f"this has {len(value)} numbers: see `value` or `to_frame()`")
            (value,) = value
        if value is None:
            raise ValueError("the releases do not define this number; its `interval` says what is known")
        return value

    @property
    def value(self) -> float | tuple[float | None, ...] | None:
        """The value, or the values of a list.

        Raises:
            ValueError: there are several estimates, as of a regression.

        Examples:
            >>> 0 <= penguins.proportion("species", "Gentoo", epsilon="0.2").value <= 1
            True
        """
        return self._only.value

    @property
    def interval(self) -> tuple[tuple[End, End], ...] | tuple[End, End]:
        """The interval of the value, or of each value of a list; an end is None if nothing is known about it.

        Raises:
            ValueError: there are several estimates, as of a regression.

        Examples:
            >>> least, most = penguins.correlation("bill_length_mm", "body_mass_g", epsilon="0.3").interval
            >>> -1 <= least <= most <= 1
            True
        """
        return self._only.interval

    @property
    def summary(self) -> str:
        """The derived value with its interval, its cost and the remaining budget.

        Examples:
            >>> penguins.standard_deviation("body_mass_g", epsilon="0.2").summary[:34]
            'standard deviation of body_mass_g:'
        """
        return str(self)

    @property
    def labels(self) -> Sequence[str | float]:
        """The label of each value of a list: a bin, an edge or a probability; empty for one number.

        Examples:
            >>> penguins.quantile("body_mass_g", [0.25, 0.5], bins=10, epsilon="0.5").labels
            (0.25, 0.5)
        """
        if self.bins is not None:
            return [each.label for each in self.bins]
        return self.edges if self.edges is not None else tuple(self.derived.get("probabilities", ()))

    @property
    def titles(self) -> list[str]:
        """Like `labels`, as texts, with the labels of categories that the owner declared.

        Examples:
            >>> penguins.quantile("body_mass_g", [0.25, 0.5], bins=10, epsilon="0.5").titles
            ['0.25', '0.5']
        """
        column = self.derived["column"] if self.derived["kind"] == "margin" else list_binned_columns(self.derived)[0]
        return title_bins(self.bins, self.labels, self.columns.get(column))

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas frame with a row for each value; those of a column of dates are there as dates.

        Raises:
            ImportError: pandas is not installed.

        Examples:
            >>> penguins.quantile("body_mass_g", [0.25, 0.5], bins=10, epsilon="0.5").to_frame().columns.to_list()
            ['estimate', 'of', 'value', 'lower', 'upper']
        """
        rows = [
            (name, self.labels[at] if at < len(self.labels) else None, *row)
            for name, each in self.estimates.items()
            for at, row in enumerate(each.date_rows or each.rows)
        ]
        names = ("estimate", "of", "value", "lower", "upper")
        return make_frame(self, [dict(zip(names, row, strict=True)) for row in rows])
