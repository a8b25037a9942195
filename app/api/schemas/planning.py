"""Requests and responses of plans, with a dataset and without one."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import MAX_ROWS_PER_UNIT, DeclaredColumns
from app.api.schemas.field_types.numbers import WHOLE, Epsilon, Number, refuse
from app.api.schemas.releases import ReleaseRequest
from app.api.schemas.responses import AnswerModel, Cliff, Described, EpsilonText, Plan, PlannedAccuracy

MAX_POINTS = 1_000
MAX_ROWS = 10**15


class CurveRequest(RequestModel):
    """The ε of a plan's curve: `points` values from `from` to `to`, evenly spaced in the logarithm, and every cliff."""

    from_: Epsilon = Field(alias="from", description="The smallest ε.")
    to: Epsilon = Field(description="The largest ε.")
    points: Annotated[int, Field(ge=2, le=MAX_POINTS), WHOLE] = Field(
        description="How many points to compute, the ends included."
    )

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if self.from_ >= self.to:
            raise refuse("must have a `from` below its `to`")
        return self


class PlanRequest(ReleaseRequest):
    """The members of a release's request, and those that only a plan has."""

    _guess_alone = True

    curve: CurveRequest | None = None
    guess: Number | None = Field(
        default=None,
        description=(
            "Your guess of the statistic without the data, in its units (of each bin for a histogram): adds the bias "
            "of `value` for this guess. A guess outside the public range counts as the nearer end of the range."
        ),
    )


class FreePlanRequest(PlanRequest):
    """The members of a plan's request on a dataset, and the public facts of a dataset.

    Without `columns`, the columns follow from the statistic. A column with `bounds` or `edges` is numeric: integer if
    these are whole numbers, else real, and nullable as by default. A histogram with `bins` and no bounds is of
    categories, with so many bins in total.
    """

    n: Annotated[int, Field(ge=2, le=MAX_ROWS), WHOLE] = Field(description="The number of rows.")
    rows_per_unit: Annotated[int, Field(ge=1, le=MAX_ROWS_PER_UNIT), WHOLE] = Field(
        default=1, description="How many rows one protected unit, such as a person, may have."
    )
    columns: DeclaredColumns | None = Field(
        default=None, description="As in a registration. Required if `where` or `group_by` names a column."
    )


class Bias(AnswerModel):
    """The bias E[value] - statistic, in the statistic's units: at `guess`, and its largest absolute value."""

    guess: float = Field(description="The guess, cut to the public range.")
    at_guess: float = Field(description="The bias if the statistic is the guess.")
    largest: float = Field(description="Over the whole public range.")


class CurvePoint(AnswerModel):
    """What one ε would buy. At a `cliff` the grid is finer than at an ε that is 1e-9 smaller, so the radius jumps."""

    epsilon: EpsilonText = Field(description="The ε of this point.")
    radius: float = Field(description="The radius that it buys.")
    tight_radius: float = Field(description="The smallest radius that holds for every table.")
    cliff: bool = Field(description="Whether the grid is finer here than just below.")


class PricedPoint(CurvePoint):
    """A point of a dataset's curve: whether an earlier release answers (`reused`), and whether it is affordable now."""

    reused: bool = Field(description="Whether an earlier release answers, at no cost.")
    affordable: bool = Field(description="Whether the budget and the allowance cover it now.")


class DatasetPlan(Plan):
    """What a release would promise and cost, and the requested extras."""

    bias: Bias | None = None
    curve: list[PricedPoint] | None = Field(
        default=None, description="What other ε would buy, if a curve was asked for."
    )


class FreePlan(Described):
    """What a release would promise on a dataset with these public facts."""

    accuracy: PlannedAccuracy
    cliff: Cliff | None
    bias: Bias | None = None
    curve: list[CurvePoint] | None = Field(
        default=None, description="What other ε would buy, if a curve was asked for."
    )
