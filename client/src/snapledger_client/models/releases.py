"""Releases."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import product
from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic_core import from_json

from snapledger_client.formatting import REHEARSAL, label_intervals
from snapledger_client.frames import import_pandas
from snapledger_client.models.base import Answer, Date, DisplayedAnswer, Exact, Time, make_frame

if TYPE_CHECKING:
    import pandas as pd

Interval = tuple[float, float]
"""The lower and the upper end of an interval.

Examples:
    >>> from snapledger_client import Interval
    >>> interval: Interval = penguins.mean("body_mass_g", epsilon="0.5").interval
    >>> interval[0] < interval[1]
    True
"""


class Accuracy(Answer):
    """The accuracy: the true statistic differs from the release by more than `radius` with probability at most `alpha`.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").accuracy.radius
        87.11362895505789
    """

    alpha: float
    radius: float
    tight_radius: float
    resolution: float
    simultaneous_radius: float | None = None


class EstimateAccuracy(Accuracy):
    """The accuracy of one number, with its interval; for a mean of dates also as dates.

    Examples:
        >>> penguins.mean("body_mass_g", epsilon="0.5").accuracy.alpha
        0.05
    """

    interval: Interval
    interval_as_date: tuple[Date, Date] | None = None


class HistogramAccuracy(Accuracy):
    """The accuracy of each bin, with its interval; `simultaneous_radius` holds for all bins at once.

    Examples:
        >>> accuracy = penguins.histogram("species", epsilon="0.5").accuracy
        >>> accuracy.simultaneous_radius > accuracy.radius
        True
    """

    interval: tuple[Interval, ...]


class Privacy(Answer):
    """The privacy guarantee: ε for neighbouring datasets that differ in the values of `rows_per_unit` rows.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5", reuse=False).privacy.epsilon
        Decimal('0.5')
    """

    epsilon: Exact
    neighbours: str
    rows_per_unit: int
    n: int


class Mechanism(Answer):
    """The parameters of the snapping mechanism, in the statistic's units (for a histogram, per bin).

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5", reuse=False).mechanism.grid
        0.05677688953488372
    """

    name: str
    epsilon_prime: float
    sensitivity: float
    centre: float
    b_prime: float
    bound: float
    scale: float
    grid: float
    grid_refinement: int
    precision_bits: int
    gamma: float
    epsilon_per_bin: float | None = None


class Bin(Answer):
    """What a position of a histogram stands for: an `interval`, a `category`, or all `other`, `missing` or `outside`.

    Examples:
        >>> [each.label for each in penguins.plan(histogram("species"), epsilon="0.5").bins]
        ['Adelie', 'Chinstrap', 'Gentoo', 'other']
    """

    kind: str
    label: str
    lower: float | str | None = None
    upper: float | str | None = None


def _label_positions(
    bins: tuple[Bin, ...] | None, edges: tuple[float, ...] | tuple[str, ...] | None, count: int = 0
) -> list[str]:
    """Return the label of each position. If there are only edges, positions after the intervals are `missing`."""
    if bins is not None:
        return [each.label for each in bins]
    labels = label_intervals(edges or ())
    return labels + ["missing"] * (count - len(labels))


class Axis(Answer):
    """The bins of one column of a two-way table, or the edges of many.

    Examples:
        >>> of_species, of_mass = penguins.plan(table("species", "body_mass_g", bins=(None, 2)), epsilon="0.5").axes
        >>> of_mass.labels
        ['[2000, 4500)', '[4500, 7000]', 'missing']
    """

    bins: tuple[Bin, ...] | None = None
    edges: tuple[float, ...] | tuple[str, ...] | None = None

    @property
    def labels(self) -> list[str]:
        """The label of each position.

        Examples:
            >>> penguins.plan(table("species", "body_mass_g", bins=(None, 2)), epsilon="0.5").axes[0].labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        return _label_positions(self.bins, self.edges)


class Charge(Answer):
    """What a release cost, and what remained then; the allowance's part is None if the caller has no allowance.

    Examples:
        >>> penguins.mean("body_mass_g", epsilon="0.5", reuse=False).budget.charged
        Decimal('0.5')
    """

    charged: Exact
    dataset_remaining: Exact
    allowance_remaining: Exact | None


class Treatment(Answer):
    """What happens to a column's missing values, and to its values outside the bounds; `rule` says it in words.

    `missing_as` is the value that a missing one counts as. It is "missing" for a bin of its own, "outside" if its row
    does not meet the filter, "excluded" if it is left out, and None if the column has no missing values.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").treatment["body_mass_g"].missing_as
        4500.0
    """

    missing_as: bool | float | str | None = None
    clamped_to: Interval | tuple[str, str] | None = None
    rule: str


class ColumnTexts(Answer):
    """What the owner declared of a column for people to read, each None if it is not declared.

    Examples:
        >>> plan = penguins.plan(mean("body_mass_g"), epsilon="0.5")
        >>> plan.columns, plan.unit  # nothing is declared
        ({}, '')
    """

    label: str | None = None
    unit: str | None = None
    category_labels: dict[str, str] = Field(default_factory=dict)


def title_bins(bins: Sequence[Bin] | None, labels: Sequence[Any], texts: ColumnTexts | None) -> list[str]:
    """Return the labels of bins, with the owner's labels of categories where they are declared."""
    if bins is None or texts is None:
        return list(map(str, labels))
    return [
        texts.category_labels.get(each.label, each.label) if each.kind == "category" else each.label for each in bins
    ]


def list_binned_columns(statistic: Mapping[str, Any]) -> list[str]:
    """Return the columns of the bins or groups of a statistic."""
    by = statistic.get("group_by")
    if by is not None:
        return [by if isinstance(by, str) else by["column"]]
    return list(statistic.get("columns") or [statistic.get("column", "")])


class Release(DisplayedAnswer):
    """A released statistic: an `Estimate` or a `Histogram`; `summary` is a sentence.

    `unit` is that of the value and of its error, empty if none is declared; `columns` has the labels that are declared.
    `rehearsed` is true if the numbers are of made-up data.

    Examples:
        >>> from snapledger_client import Release
        >>> isinstance(penguins.mean("body_mass_g", epsilon="0.5"), Release)
        True
    """

    id: str
    rehearsed: bool = False
    dataset: str
    statistic: dict[str, Any]
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    treatment: dict[str, Treatment] = Field(default_factory=dict)
    unit: str = ""
    columns: dict[str, ColumnTexts] = Field(default_factory=dict)
    summary: str
    budget: Charge
    reused: bool
    created_at: Time


class Estimate(Release):
    """One number; `value` is the mechanism's output, `value_in_range` the same cut to the statistic's public range.

    A mean of dates is a number of days, or of units of the column's resolution, since 1970-01-01. `value_as_date` is
    the nearest date or time, and `interval_as_date` has those that the interval touches; for other columns, None.

    Examples:
        >>> estimate = penguins.mean("body_mass_g", epsilon="0.5")
        >>> estimate.interval[0] < estimate.value_in_range < estimate.interval[1]
        True
    """

    value: float
    value_exact: Exact
    value_in_range: float
    value_as_date: Date | None = None
    accuracy: EstimateAccuracy

    @property
    def interval(self) -> Interval:
        """An interval that contains the true statistic with probability at least 1 - alpha.

        Examples:
            >>> lower, upper = penguins.mean("body_mass_g", epsilon="0.5").interval
            >>> 2000 <= lower < upper <= 7000
            True
        """
        return self.accuracy.interval

    @property
    def interval_as_date(self) -> tuple[date, date] | None:
        """The interval as dates or times, for a mean of dates; otherwise None.

        Examples:
            >>> penguins.mean("body_mass_g", epsilon="0.5").interval_as_date is None
            True
        """
        return self.accuracy.interval_as_date

    def __float__(self) -> float:
        return self.value_in_range


class Histogram(Release):
    """A number for each bin or group, in the order of `bins`. With more than 1,000 intervals, `edges` replaces `bins`.

    The cells of a two-way table are listed row by row, and `axes` has the bins of both columns.

    Examples:
        >>> histogram = penguins.histogram("species", epsilon="0.5")
        >>> [each.label for each in histogram.bins]
        ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        >>> len(histogram.value) == len(histogram.interval) == 4
        True
    """

    value: tuple[float, ...]
    value_exact: tuple[Exact, ...]
    value_in_range: tuple[float, ...]
    bins: tuple[Bin, ...] | None
    edges: tuple[float, ...] | tuple[str, ...] | None = None
    axes: tuple[Axis, Axis] | None = None
    accuracy: HistogramAccuracy

    @property
    def interval(self) -> tuple[Interval, ...]:
        """For each bin, an interval that contains its true count with probability at least 1 - alpha.

        Examples:
            >>> all(lower <= upper for lower, upper in penguins.histogram("species", epsilon="0.5").interval)
            True
        """
        return self.accuracy.interval

    @property
    def labels(self) -> list[str]:
        """The label of each position.

        Examples:
            >>> penguins.histogram("species", epsilon="0.5").labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        if self.axes is None:
            return _label_positions(self.bins, self.edges, len(self.value))
        cells = [", ".join(labels) for labels in product(*(axis.labels for axis in self.axes))]
        return cells + [each.label for each in self.bins or ()]

    @property
    def titles(self) -> list[str]:
        """The label of each position for people: of a category, the one that the owner declared, if there is one.

        Examples:
            >>> penguins.histogram("species", epsilon="0.5").titles
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        texts = [self.columns.get(name) for name in list_binned_columns(self.statistic)]
        if self.axes is None:
            return title_bins(self.bins, self.labels, texts[0])
        axes = (title_bins(axis.bins, axis.labels, text) for axis, text in zip(self.axes, texts, strict=True))
        return [", ".join(titles) for titles in product(*axes)] + [each.label for each in self.bins or ()]

    def to_table(self) -> "pd.DataFrame":
        """Return the values of a two-way table as a pandas frame, with a row for each bin of the first column.

        Raises:
            ImportError: pandas is not installed.
            ValueError: this is not a two-way table.

        Examples:
            >>> penguins.table("species", "body_mass_g", bins=(None, 2), epsilon="0.5").to_table().shape
            (4, 3)
        """
        if self.axes is None:
            raise ValueError("only a two-way table has rows and columns")
        rows, columns = (axis.labels for axis in self.axes)
        cells = self.value_in_range[: len(rows) * len(columns)]  # the count `outside` a filter is not a cell
        values = [cells[at : at + len(columns)] for at in range(0, len(cells), len(columns))]
        frame = import_pandas().DataFrame(values, index=rows, columns=columns)
        return frame.rename_axis(index=REHEARSAL) if self.rehearsed else frame

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas frame with a row for each bin.

        Raises:
            ImportError: pandas is not installed.

        Examples:
            >>> penguins.histogram("species", epsilon="0.5").to_frame()["bin"].to_list()
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        series = import_pandas().Series
        lower, upper = ([ends[at] for ends in self.interval] for at in (0, 1))
        numbers = {"value": self.value_in_range, "lower": lower, "upper": upper}
        # With a type, pandas does not look at each of a million numbers for one.
        return make_frame(self, {"bin": self.labels} | {name: series(of, dtype=float) for name, of in numbers.items()})


def parse_release(content: bytes | dict[str, Any]) -> Release:
    """Parse the JSON of a release.

    Raises:
        ValueError: it is not a release.
    """
    document = from_json(content) if isinstance(content, bytes) else content
    several = isinstance(document, dict) and isinstance(document.get("value"), list)
    return (Histogram if several else Estimate).model_validate(document)
