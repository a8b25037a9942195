"""Plans: what releases would cost and promise, alone, along a curve, or many together. All are free."""

from typing import TYPE_CHECKING, Any

from snapledger_client import frames, html, words
from snapledger_client.base import Answer, Exact
from snapledger_client.releases import Accuracy, Axis, Bin, Charge, Mechanism, Privacy

if TYPE_CHECKING:
    import pandas as pd


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


class Bias(Answer):
    """How far the mean of `value` is from the statistic, in its units, if that is `guess`; and at most in its range.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5", guess=4200).bias.at_guess
        1.251023253988033
    """

    guess: float
    at_guess: float
    largest: float


class CurvePoint(Answer):
    """What one ε would buy; at a `cliff` the grid is finer than a unit of 1e-9 before. The last two are a dataset's.

    Examples:
        >>> plan = penguins.plan(mean("body_mass_g"), epsilon="0.5", curve=("0.01", 10, 50))
        >>> plan.curve[0].epsilon, plan.curve[0].affordable
        (Decimal('0.01'), True)
    """

    epsilon: Exact
    radius: float
    tight_radius: float
    cliff: bool
    reused: bool | None = None
    affordable: bool | None = None


class FreePlan(Answer):
    """What a release would promise, on any dataset of so many rows.

    Examples:
        >>> plan = client.plan(mean("body_mass_g", bounds=(2000, 7000)), n=344, accuracy=50)
        >>> plan.privacy.epsilon
        Decimal('1.018956556')
    """

    statistic: dict[str, Any]
    bins: tuple[Bin, ...] | None = None
    edges: tuple[float, ...] | None = None
    axes: tuple[Axis, Axis] | None = None
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    summary: str
    cliff: Cliff | None
    bias: Bias | None = None
    curve: tuple[CurvePoint, ...] | None = None

    def to_frame(self) -> "pd.DataFrame":
        """The curve as a pandas frame, a row for each point.

        Raises:
            ImportError: pandas is not there.
            ValueError: no curve was asked for.

        Examples:
            >>> plan = penguins.plan(mean("body_mass_g"), epsilon="0.5", curve=("0.01", 10, 50))
            >>> plan.to_frame().columns.to_list()[:4]
            ['epsilon', 'radius', 'tight_radius', 'cliff']
        """
        if self.curve is None:
            raise ValueError("no curve was asked for: plan with curve=(first, last, points)")
        return frames.pandas().DataFrame([point.model_dump(exclude_unset=True) for point in self.curve])

    def __str__(self) -> str:
        return words.promise(self)

    def _repr_html_(self) -> str:
        return html.plan(self)


class Plan(FreePlan):
    """What a release would cost and promise now: free, and made without reading any data.

    Examples:
        >>> plan = penguins.plan(mean("body_mass_g"), accuracy=50)
        >>> plan.privacy.epsilon
        Decimal('1.018956556')
        >>> print(str(plan)[:55])
        mean of body_mass_g: within ± 50 (95 %) for ε = 1.01895
        >>> "within 50 of the truth" in plan.summary or "for nothing" in plan.summary
        True
    """

    dataset: str
    budget: Prospect
    reused: bool

    def __str__(self) -> str:
        return f"{words.promise(self)}; {words.prospect(self)}"


class Outlook(Charge):
    """What several releases would cost together now, and whether that can be afforded.

    Examples:
        >>> penguins.plan_batch([item(mean("body_mass_g"), epsilon="0.5")]).budget.affordable
        True
    """

    affordable: bool


class PlannedItem(Answer):
    """What one item of a batch would be, and cost now.

    Examples:
        >>> penguins.plan_batch([item(mean("body_mass_g"), epsilon="0.5")]).items[0].accuracy.radius
        116.15500795215091
    """

    statistic: dict[str, Any]
    bins: tuple[Bin, ...] | None = None
    edges: tuple[float, ...] | None = None
    axes: tuple[Axis, Axis] | None = None
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    summary: str
    charged: Exact
    reused: bool

    def __str__(self) -> str:
        return words.promise(self)


class BatchPlan(Answer):
    """What each item of a batch would be, in their order, and what they cost together.

    Examples:
        >>> plan = penguins.plan_batch([item(mean("body_mass_g"), weight=1), item(count(group_by="species"), weight=3)],
        ...                            epsilon="0.4")
        >>> [each.privacy.epsilon for each in plan.items]
        [Decimal('0.1'), Decimal('0.3')]
    """

    dataset: str
    items: tuple[PlannedItem, ...]
    summary: str
    budget: Outlook

    def __str__(self) -> str:
        return "\n".join([*map(str, self.items), self.summary])

    def _repr_html_(self) -> str:
        return html.card(f"Plan: {len(self.items)} statistics", html.lines([*map(str, self.items), self.summary]))
