"""Plans and releases."""

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from snapledger_client import html, words
from snapledger_client.base import Answer, Exact, Time

if TYPE_CHECKING:
    import pandas as pd

Interval = tuple[float, float]
"""A lower and an upper end.

Examples:
    >>> from snapledger_client import Interval
    >>> interval: Interval = penguins.mean("body_mass_g", epsilon="0.5").interval
    >>> interval[0] < interval[1]
    True
"""


class Accuracy(Answer):
    """How far the true statistic is from the release: more than `radius` with probability `alpha` at most.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").accuracy.radius
        116.15500795215091
    """

    alpha: float
    radius: float
    tight_radius: float
    resolution: float
    simultaneous_radius: float | None = None


class EstimateAccuracy(Accuracy):
    """The accuracy of one number, with its interval.

    Examples:
        >>> penguins.mean("body_mass_g", epsilon="0.5").accuracy.alpha
        0.05
    """

    interval: Interval


class HistogramAccuracy(Accuracy):
    """The accuracy of each bin, with their intervals; `simultaneous_radius` is for all bins at once.

    Examples:
        >>> accuracy = penguins.histogram("species", epsilon="0.5").accuracy
        >>> accuracy.simultaneous_radius > accuracy.radius
        True
    """

    interval: tuple[Interval, ...]


class Privacy(Answer):
    """What the release tells of anybody, at most: ε for neighbours that differ in `rows_per_unit` rows.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").privacy.epsilon
        Decimal('0.5')
    """

    epsilon: Exact
    neighbours: str
    rows_per_unit: int
    n: int


class Mechanism(Answer):
    """The figures of the mechanism that draws, in the statistic's units (for a histogram, per bin).

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").mechanism.grid
        58.13953488372093
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
    """What a position of a histogram stands for: an `interval`, a `category`, all `other` texts, or `missing` values.

    Examples:
        >>> [each.label for each in penguins.plan(histogram("species"), epsilon="0.5").bins]
        ['Adelie', 'Chinstrap', 'Gentoo', 'other']
    """

    kind: str
    label: str
    lower: float | None = None
    upper: float | None = None


class Charge(Answer):
    """What a release cost, and what was left when it was answered.

    Examples:
        >>> penguins.mean("body_mass_g", epsilon="0.5", reuse=False).budget.charged
        Decimal('0.5')
    """

    charged: Exact
    dataset_remaining: Exact
    allowance_remaining: Exact


class Prospect(Charge):
    """What a release would cost now, whether that can be afforded, and how often.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.25").budget.affordable
        True
    """

    affordable: bool
    repeatable: int | None


class Cliff(Answer):
    """The next ε above at which the grid halves, and the accuracy that it gives.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").cliff.epsilon
        Decimal('0.500000001')
    """

    epsilon: Exact
    accuracy: float


class Plan(Answer):
    """What a release would cost and promise: free, and made without reading any data.

    Examples:
        >>> plan = penguins.plan(mean("body_mass_g"), accuracy=50)
        >>> plan.privacy.epsilon
        Decimal('1.018956556')
        >>> print(plan.summary[:55])
        mean of body_mass_g: within ± 50 (95 %) for ε = 1.01895
    """

    dataset: str
    statistic: dict[str, Any]
    bins: tuple[Bin, ...] | None = None
    edges: tuple[float, ...] | None = None
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    budget: Prospect
    cliff: Cliff | None
    reused: bool

    @property
    def summary(self) -> str:
        """The plan in a line.

        Examples:
            >>> penguins.plan(mean("body_mass_g"), epsilon="0.5").summary.startswith("mean of body_mass_g")
            True
        """
        within = f"within {words.radius(self.accuracy.radius, self.accuracy.alpha)} for ε = {self.privacy.epsilon:f}"
        return f"{words.statistic(self.statistic)}: {within}; {words.prospect(self)}"

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return html.plan(self)


class Release(Answer):
    """A private statistic that was released: an `Estimate` or a `Histogram`.

    Examples:
        >>> from snapledger_client import Release
        >>> isinstance(penguins.mean("body_mass_g", epsilon="0.5"), Release)
        True
    """

    id: str
    dataset: str
    statistic: dict[str, Any]
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    budget: Charge
    reused: bool
    created_at: Time

    def __str__(self) -> str:
        return words.release(self)

    @property
    def summary(self) -> str:
        """The release in a line: what, how accurate, what it cost and what remains.

        Examples:
            >>> "paid" in penguins.mean("body_mass_g", epsilon="0.5", reuse=False).summary
            True
        """
        return words.release(self)


class Estimate(Release):
    """One number; `value` is the mechanism's output, `value_in_range` is it within the statistic's public range.

    Examples:
        >>> estimate = penguins.mean("body_mass_g", epsilon="0.5")
        >>> estimate.interval[0] < estimate.value_in_range < estimate.interval[1]
        True
    """

    value: float
    value_exact: Exact
    value_in_range: float
    accuracy: EstimateAccuracy

    @property
    def interval(self) -> Interval:
        """Where the true statistic lies, with probability 1 - alpha at least.

        Examples:
            >>> lower, upper = penguins.mean("body_mass_g", epsilon="0.5").interval
            >>> 2000 <= lower < upper <= 7000
            True
        """
        return self.accuracy.interval

    def to_frame(self) -> "pd.DataFrame":
        """A pandas frame of one row.

        Raises:
            ImportError: pandas is not there.

        Examples:
            >>> penguins.mean("body_mass_g", epsilon="0.5").to_frame().columns.to_list()
            ['statistic', 'value', 'lower', 'upper', 'alpha', 'epsilon', 'charged']
        """
        import pandas as pd  # noqa: PLC0415 - not everybody has it

        lower, upper = self.interval
        row = {
            "statistic": words.statistic(self.statistic),
            "value": self.value_in_range,
            "lower": lower,
            "upper": upper,
            "alpha": self.accuracy.alpha,
            "epsilon": self.privacy.epsilon,
            "charged": self.budget.charged,
        }
        return pd.DataFrame([row])

    def _repr_html_(self) -> str:
        return html.estimate(self)


class Histogram(Release):
    """A count for each bin, all in the order of `bins`; over 1,000 intervals `edges` stands instead of `bins`.

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
    edges: tuple[float, ...] | None = None
    accuracy: HistogramAccuracy

    @property
    def interval(self) -> tuple[Interval, ...]:
        """For each bin, where its true count lies, with probability 1 - alpha at least for that bin.

        Examples:
            >>> all(lower <= upper for lower, upper in penguins.histogram("species", epsilon="0.5").interval)
            True
        """
        return self.accuracy.interval

    @property
    def labels(self) -> list[str]:
        """What each position is called.

        Examples:
            >>> penguins.histogram("species", epsilon="0.5").labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        return words.labels(self)

    def to_frame(self) -> "pd.DataFrame":
        """A pandas frame with a row for each bin.

        Raises:
            ImportError: pandas is not there.

        Examples:
            >>> penguins.histogram("species", epsilon="0.5").to_frame()["bin"].to_list()
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        import pandas as pd  # noqa: PLC0415 - not everybody has it

        lower, upper = zip(*self.interval, strict=True)
        return pd.DataFrame({"bin": self.labels, "value": self.value_in_range, "lower": lower, "upper": upper})

    def _repr_html_(self) -> str:
        return html.histogram(self)


def parse_release(content: bytes | dict[str, Any]) -> Release:
    """Read a release's JSON.

    Raises:
        ValueError: it is none.
    """
    document = from_json(content) if isinstance(content, bytes) else content
    several = isinstance(document, dict) and isinstance(document.get("value"), list)
    return (Histogram if several else Estimate).model_validate(document)
