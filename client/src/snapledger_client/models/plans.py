"""Plans: what a release would cost and promise, alone or along a curve. All are free."""

from typing import Any

from pydantic import Field

from snapledger_client.models.base import Answer, DisplayedAnswer, Exact
from snapledger_client.models.releases import Accuracy, Axis, Bin, Charge, ColumnTexts, Mechanism, Privacy, Treatment


class Prospect(Charge):
    """What a release would cost now, whether that can be afforded, and how often.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.25").budget.affordable
        True
    """

    affordable: bool
    repeatable: int | None


class Cliff(Answer):
    """The next ε above at which the grid halves, and the accuracy that it gives. The default grid has hardly any.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5", grid_refinement=0).cliff.epsilon
        Decimal('0.500000001')
    """

    epsilon: Exact
    accuracy: float


class Bias(Answer):
    """The bias of `value`, in the statistic's units: `at_guess` if the true statistic is `guess`, and the `largest`.

    Examples:
        >>> penguins.plan(mean("body_mass_g"), epsilon="0.5", guess=4200).bias.largest
        0.013367716072464045
    """

    guess: float
    at_guess: float
    largest: float


class CurvePoint(Answer):
    """What one ε would buy. At a `cliff` the grid is finer than at an ε that is 1e-9 smaller.

    Only a plan on a dataset has the last two members.

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


class FreePlan(DisplayedAnswer):
    """What a release would promise on any dataset of `n` rows.

    `to_frame()` has a row for each point of the curve, or one row without a curve.

    Examples:
        >>> plan = client.plan(mean("body_mass_g", bounds=(2000, 7000)), n=344, accuracy=50)
        >>> plan.privacy.epsilon
        Decimal('0.871099697')
    """

    statistic: dict[str, Any]
    bins: tuple[Bin, ...] | None = None
    edges: tuple[float, ...] | None = None
    axes: tuple[Axis, Axis] | None = None
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    treatment: dict[str, Treatment] = Field(default_factory=dict)
    unit: str = ""
    columns: dict[str, ColumnTexts] = Field(default_factory=dict)
    summary: str
    cliff: Cliff | None
    bias: Bias | None = None
    curve: tuple[CurvePoint, ...] | None = None


class Plan(FreePlan):
    """What a release would cost and promise now: free, and made without reading any data.

    If an earlier release answers, `reused_accuracy` is its accuracy, and `accuracy` that of a new one.

    Examples:
        >>> plan = penguins.plan(mean("body_mass_g"), accuracy=50)
        >>> plan.privacy.epsilon
        Decimal('0.871099697')
        >>> print(str(plan)[:53])
        mean of body_mass_g: within ± 50 (95 %) for ε = 0.872
        >>> "within 50 of the truth" in plan.summary or "at no cost" in plan.summary
        True
    """

    dataset: str
    budget: Prospect
    reused: bool
    reused_accuracy: Accuracy | None = None


class Outlook(Charge):
    """What several releases would cost together now, and whether that can be afforded.

    Examples:
        >>> penguins.plan_batch([item(mean("body_mass_g"), epsilon="0.5")]).budget.affordable
        True
    """

    affordable: bool
