"""Requests and responses of batches."""

from typing import Annotated, Literal, Self

from gmpy2 import mpq
from pydantic import Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.derived import DerivedBudget
from app.api.schemas.field_types.filters import MAX_REQUEST_CONDITIONS, MAX_REQUEST_VALUES, require_few_conditions
from app.api.schemas.field_types.numbers import (
    ALPHA,
    ONE_IN_TWENTY,
    Epsilon,
    Flag,
    Gamma,
    GridRefinement,
    Number,
    PositiveNumber,
    Probability,
    Rehearse,
    refuse,
)
from app.api.schemas.releases import compute_wanted_accuracy, require_guess
from app.api.schemas.responses import (
    REUSED_ACCURACY,
    AnswerModel,
    Described,
    EpsilonText,
    PlannedAccuracy,
    Rehearsed,
    Release,
    ReleaseBudget,
)
from app.api.schemas.statistics import Statistic
from app.dp.mechanism.mechanism import AUTO

MAX_ITEMS = 1_000


class BatchItem(RequestModel):
    """A statistic, with one of an ε, an accuracy and a weight; with none of them where the batch equalises."""

    statistic: Statistic
    epsilon: Epsilon | None = Field(default=None, description="What it may cost, all bins together.")
    accuracy: PositiveNumber | None = Field(default=None, description="The radius wanted (per bin for a histogram).")
    relative_accuracy: PositiveNumber | None = Field(
        default=None, description="The radius wanted, as a part of the absolute value of `guess`: 0.01 is 1 % of it."
    )
    guess: Number | None = Field(
        default=None, description="What the statistic may be, in its units, as far as you know without the data."
    )
    weight: PositiveNumber | None = Field(
        default=None, description="Its part of the batch's `epsilon`, rounded down to units."
    )

    @model_validator(mode="after")
    def _one_accuracy(self) -> Self:
        if self.accuracy is not None and self.relative_accuracy is not None:
            raise refuse("needs only one of `accuracy` and `relative_accuracy`")
        require_guess(self.relative_accuracy, self.guess, alone=False)
        return self

    @property
    def wanted_accuracy(self) -> mpq | None:
        """Return the wanted radius, in the statistic's units."""
        return compute_wanted_accuracy(self.accuracy, self.relative_accuracy, self.guess)


class BatchRequest(RequestModel):
    """Up to 1,000 questions, answered together: all are debited, or none."""

    items: Annotated[
        list[BatchItem],
        Field(
            min_length=1,
            max_length=MAX_ITEMS,
            fail_fast=True,
            description=(
                f"Their filters have at most {MAX_REQUEST_CONDITIONS:,} conditions and {MAX_REQUEST_VALUES:,} values "
                "together."
            ),
        ),
    ]
    epsilon: Epsilon | None = Field(default=None, description="What the items share, by `weight` or `equalise`.")
    equalise: Literal["relative"] | None = Field(
        default=None,
        description=(
            "`relative` shares `epsilon` so that the largest radius, as a fraction of the item's public range, is as "
            "small as possible. Each item gets the smallest ε that reaches this fraction."
        ),
    )
    alpha: Probability = Field(
        default_factory=lambda: ONE_IN_TWENTY, description=ALPHA, json_schema_extra={"default": 0.05}
    )
    gamma: Gamma = Field(default_factory=lambda: ONE_IN_TWENTY, json_schema_extra={"default": 0.05})
    grid_refinement: GridRefinement = AUTO
    reuse: Flag = Field(
        default=True,
        description="Answer items with earlier releases that are accurate enough, including those of other items.",
    )
    rehearse: Rehearse = False

    @model_validator(mode="after")
    def _require_few_conditions(self) -> Self:
        filters = (getattr(each.statistic, "where", None) for each in self.items)
        require_few_conditions(where for where in filters if where is not None)
        return self


class PlannedItem(Described):
    """What one item would promise, and what it would cost now."""

    accuracy: PlannedAccuracy
    charged: EpsilonText = Field(description="The ε that this item would cost now.")
    reused: bool = Field(description="Whether an earlier release answers this item, at no cost.")
    reused_accuracy: PlannedAccuracy | None = Field(default=None, description=REUSED_ACCURACY)


class BatchPlan(AnswerModel):
    """What each item would promise, in the order of the items, and what they would cost together."""

    dataset: str = Field(description="The name of the dataset.")
    items: list[PlannedItem] = Field(description="The plan of each item, in the order of the items.")
    summary: str = Field(description="What it means, in a sentence.")
    budget: DerivedBudget


class BatchAnswer(AnswerModel):
    """The release of each item, in the order of the items, and what they cost together."""

    rehearsed: Rehearsed = None
    dataset: str = Field(description="The name of the dataset.")
    items: list[Release] = Field(description="The release of each item, in the order of the items.")
    summary: str = Field(description="What it means, in a sentence.")
    budget: ReleaseBudget
