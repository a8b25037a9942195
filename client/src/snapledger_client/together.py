"""What is answered to questions that are several releases: batches, and what follows from components."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from pydantic_core import from_json

from snapledger_client import frames, html, words
from snapledger_client.base import Answer, Exact
from snapledger_client.plans import Outlook
from snapledger_client.releases import Accuracy, Bin, Charge, Release, parse_release

if TYPE_CHECKING:
    import pandas as pd


class Batch(Answer):
    """The releases of a batch, in the order of its items, and what they cost together.

    Examples:
        >>> batch = penguins.batch([item(mean("body_mass_g"), epsilon="0.2"), item(histogram("species"), accuracy=30)])
        >>> [type(release).__name__ for release in batch.items]
        ['Estimate', 'Histogram']
    """

    dataset: str
    items: tuple[Release, ...]
    summary: str
    budget: Charge

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Read a batch's body; each item becomes an estimate or a histogram."""
        document = from_json(content)
        if not isinstance(document, dict) or not isinstance(document.get("items"), list):
            raise ValueError("no batch")  # noqa: TRY004 - as of every other body
        return cls.model_validate(document | {"items": [parse_release(each) for each in document["items"]]})

    def to_dict(self) -> dict[str, Any]:
        """The answer as the service gave it, with every ε as an exact text.

        Examples:
            >>> batch = penguins.batch([item(mean("body_mass_g"), epsilon="0.2")])
            >>> batch.to_dict()["items"][0]["id"] == batch.items[0].id
            True
        """
        return super().to_dict() | {"items": [each.to_dict() for each in self.items]}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.items), self.summary])

    def _repr_html_(self) -> str:
        shown = "".join(html.shown(each) for each in self.items)
        return f"<div>{shown}{html.card('Together', html.lines([self.summary]))}</div>"


class Component(Answer):
    """A release that something follows from, by its `role`; in a plan `release_id` is None if it would be a new one.

    Examples:
        >>> plan = penguins.plan_derived(correlation("bill_length_mm", "body_mass_g"), epsilon="0.3")
        >>> [component.role for component in plan.components]
        ['covariance', 'variance_x', 'variance_y']
    """

    role: str
    statistic: dict[str, Any]
    accuracy: Accuracy
    release_id: str | None
    charged: Exact
    reused: bool


class DerivedPlan(Answer):
    """Which components a derived statistic has, which of them are known, and what the others cost.

    Examples:
        >>> plan = penguins.plan_derived(standard_deviation("body_mass_g"), epsilon="0.2")
        >>> plan.budget.charged in {0, Decimal("0.2")}
        True
    """

    dataset: str
    derived: dict[str, Any]
    alpha: float
    components: tuple[Component, ...]
    budget: Outlook

    def __str__(self) -> str:
        return words.derived_plan(self)

    def _repr_html_(self) -> str:
        return html.card(f"Plan: {words.statistic(self.derived)}", html.lines([str(self)]))


End = float | None
"""An end of an interval; None where nothing is known of it.

Examples:
    >>> from snapledger_client import End
    >>> least: End = penguins.standard_deviation("body_mass_g", epsilon="0.2").interval[0]
    >>> least >= 0
    True
"""


class DerivedEstimate(Answer):
    """A value and its interval, or a list of each; None where the components define or bound none.

    Examples:
        >>> line = penguins.regression("bill_length_mm", "body_mass_g", epsilon=4).estimates
        >>> list(line)
        ['slope', 'intercept']
    """

    value: float | tuple[float | None, ...] | None
    interval: tuple[tuple[End, End], ...] | tuple[End, End]

    @property
    def rows(self) -> list[tuple[float | None, End, End]]:
        """Each value with both ends of its interval.

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


class Derived(Answer):
    """What follows from releases, with conservative intervals: all of them hold with probability 1 - `alpha` at least.

    It is no release itself: its `components` are. `estimates` are by name: the kind, or `slope` and `intercept`.

    Examples:
        >>> spread = penguins.standard_deviation("body_mass_g", epsilon="0.2")
        >>> spread.interval[0] <= spread.value <= spread.interval[1]
        True
    """

    dataset: str
    derived: dict[str, Any]
    alpha: float
    estimates: dict[str, DerivedEstimate]
    edges: tuple[float, ...] | None = None
    bins: tuple[Bin, ...] | None = None
    components: tuple[Component, ...]
    budget: Charge

    @property
    def _only(self) -> DerivedEstimate:
        if len(self.estimates) != 1:
            raise ValueError(f"there is more than one number: see estimates for {' and '.join(self.estimates)}")
        return next(iter(self.estimates.values()))

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
        """Where the truth lies, or for each value of a list where; an end is None where nothing is known.

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
        """What follows, with its interval, what it cost and what remains.

        Examples:
            >>> penguins.standard_deviation("body_mass_g", epsilon="0.2").summary[:34]
            'standard_deviation of body_mass_g:'
        """
        return words.derived(self)

    @property
    def labels(self) -> Sequence[str | float]:
        """What each value of a list is of: a bin, what is below an edge, or a probability; empty for one number.

        Examples:
            >>> penguins.quantile("body_mass_g", [0.25, 0.5], bins=10, epsilon="0.5").labels
            (0.25, 0.5)
        """
        if self.bins is not None:
            return [each.label for each in self.bins]
        return self.edges if self.edges is not None else tuple(self.derived.get("probabilities", ()))

    def to_frame(self) -> "pd.DataFrame":
        """A pandas frame with a row for each value.

        Raises:
            ImportError: pandas is not there.

        Examples:
            >>> penguins.quantile("body_mass_g", [0.25, 0.5], bins=10, epsilon="0.5").to_frame().columns.to_list()
            ['estimate', 'of', 'value', 'lower', 'upper']
        """
        rows = [
            (name, self.labels[at] if at < len(self.labels) else None, *row)
            for name, each in self.estimates.items()
            for at, row in enumerate(each.rows)
        ]
        return frames.pandas().DataFrame(rows, columns=["estimate", "of", "value", "lower", "upper"])

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return html.derived(self)
