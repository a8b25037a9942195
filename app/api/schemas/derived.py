"""Requests and responses of derived statistics, with one model for each kind of request. See `app.dp.derived`."""

from typing import Annotated, Literal, Self

from gmpy2 import mpq
from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypeAliasType

from app.api.schemas.base import RequestModel
from app.api.schemas.field_types.filters import Where
from app.api.schemas.field_types.json_schema import exactly_one_of
from app.api.schemas.field_types.numbers import (
    ALPHA,
    ONE_IN_TWENTY,
    ColumnName,
    DateText,
    Epsilon,
    Flag,
    Gamma,
    GridRefinement,
    Number,
    NumberOrDate,
    PositiveNumber,
    Probability,
    Rehearse,
    Text,
    refuse,
)
from app.api.schemas.responses import (
    COLUMNS,
    REUSED_ACCURACY,
    TREATMENT,
    AnswerModel,
    Bin,
    BinEdges,
    EpsilonText,
    PlannedAccuracy,
    Rehearsed,
    ReleaseBudget,
    TextsByColumn,
    TreatmentByColumn,
)
from app.api.schemas.statistics import (
    Bins,
    Bounds,
    Edges,
    GroupBy,
    Pair,
    PairOfBins,
    PairOfBounds,
    PairOfEdges,
    Statistic,
)
from app.dp.mechanism.mechanism import AUTO

MAX_PROBABILITIES = 100

EXCLUDED = "Use only the rows that have a value in each of the columns. How many these are is released too."
Exclusion = Annotated[Literal["exclude"] | None, Field(description=EXCLUDED)]


class StandardDeviation(RequestModel):
    """The root of the variance; 0 where a negative variance was released."""

    kind: Literal["standard_deviation"]
    column: ColumnName
    bounds: Bounds | None = None
    where: Where | None = Field(default=None, description="Only with `missing`.")
    missing: Exclusion = None


class DerivedSum(RequestModel):
    """The sum of all rows, n times the mean; or of those that meet `where`, in all or for each group.

    A sum of some rows is computed from a plain sum, or from a centred sum and a count where that costs less now. The
    interval that is planned is the same.
    """

    kind: Literal["sum"]
    column: ColumnName
    bounds: Bounds | None = None
    where: Where | None = None
    group_by: GroupBy | None = None
    missing: Exclusion = None


class Proportion(RequestModel):
    """The share of rows that are true in a boolean `column`, of one `category` of a `column`, or that meet `where`.

    With `group_by`, the share of each group's rows that are true or of the category, among those that meet `where`.
    """

    kind: Literal["proportion"]
    column: ColumnName | None = None
    category: Text | None = Field(default=None, description="The category whose share is asked.")
    where: Where | None = None
    group_by: GroupBy | None = None


class DerivedMean(RequestModel):
    """The mean over the rows that meet `where`, in all or for each group, from their number and their centred sum.

    It needs `where`, `group_by` or `weight`. If no row meets `where`, there is no mean: the interval assumes at least
    one row, or one weight above 0.
    """

    kind: Literal["mean"]
    column: ColumnName
    bounds: Bounds | None = None
    where: Where | None = None
    group_by: GroupBy | None = None
    weight: ColumnName | None = Field(
        default=None,
        description="Weight each row by this column, whose declared bounds are at least 0; without `where` and"
        " `group_by`, over all rows.",
    )
    missing: Exclusion = None


class DerivedVariance(RequestModel):
    """The sample variance of the known values. That of all rows is released: it is no derived statistic."""

    kind: Literal["variance"]
    column: ColumnName
    bounds: Bounds | None = None
    where: Where | None = None
    missing: Annotated[Literal["exclude"], Field(description=EXCLUDED)]


class DerivedCovariance(RequestModel):
    """The sample covariance of the rows that have both values. That of all rows is released."""

    kind: Literal["covariance"]
    columns: Pair
    bounds: PairOfBounds | None = None
    where: Where | None = None
    missing: Annotated[Literal["exclude"], Field(description=EXCLUDED)]


class Correlation(RequestModel):
    """Pearson's correlation, from the covariance and both variances."""

    kind: Literal["correlation"]
    columns: Pair
    bounds: PairOfBounds | None = None
    where: Where | None = Field(default=None, description="Only with `missing`.")
    missing: Exclusion = None


class Regression(RequestModel):
    """`slope` and `intercept` of the least-squares line of the second column on the first.

    If the variance of the first column may be 0, nothing is known about them: the ends of their intervals are null.
    """

    kind: Literal["regression"]
    columns: Pair
    bounds: PairOfBounds | None = None
    where: Where | None = Field(default=None, description="Only with `missing`.")
    missing: Exclusion = None


class Cumulative(RequestModel):
    """How many rows have a value below each edge of a histogram, never descending."""

    kind: Literal["cumulative"]
    column: ColumnName
    edges: Edges | None = None
    bins: Bins | None = None
    bounds: Bounds | None = None
    where: Where | None = None


class Quantile(RequestModel):
    """The value at each of the `probabilities`, as precisely as the bins allow."""

    kind: Literal["quantile"]
    column: ColumnName
    probabilities: Annotated[
        list[Probability], Field(min_length=1, max_length=MAX_PROBABILITIES, fail_fast=True, examples=[[0.25, 0.5]])
    ] = Field(description="The probabilities of the quantiles: 0.5 is the median.")
    edges: Edges | None = None
    bins: Bins | None = None
    bounds: Bounds | None = None
    where: Where | None = None
    method: Literal["histogram", "search", "adaptive"] | None = Field(
        default=None,
        description="`histogram` uses the counts of all bins. `adaptive` counts coarse cells, and then fine cells"
        " around the quantiles. The default is the one of both with narrower intervals for the same ε. `search` counts"
        " the values below one edge after the other: it answers from earlier releases of such counts.",
    )


class Margin(RequestModel):
    """The counts of one `column`'s bins, added up from the two-way table of `columns`."""

    kind: Literal["margin"]
    column: ColumnName
    columns: Pair
    edges: PairOfEdges | None = None
    bins: PairOfBins | None = None
    bounds: PairOfBounds | None = None
    where: Where | None = None


DerivedStatistic = TypeAliasType(
    "DerivedStatistic",
    Annotated[
        StandardDeviation
        | DerivedSum
        | Proportion
        | DerivedMean
        | DerivedVariance
        | DerivedCovariance
        | Correlation
        | Regression
        | Cumulative
        | Quantile
        | Margin,
        Field(discriminator="kind", description="A statistic that is derived from releases. `kind` says which one."),
    ],
)


class Guesses(RequestModel):
    """What numbers of the table may be, as far as you know without the data: those that the statistic takes.

    A mean takes `mean` and `count` (of each group), a weighted one `weight` (the mean of the weights) too, and no
    `count` over all rows, a proportion by group `proportion` and `count`, a correlation `correlation` and both standard
    deviations, a regression `slope`, `standard_deviation_x`, `mean_x` and `mean_y`, quantiles `mean` and
    `standard_deviation` of a normal distribution, and perhaps `count`. The mean of a column of dates is a date.
    """

    mean: NumberOrDate | None = None
    count: Number | None = None
    weight: Number | None = None
    sum: Number | None = None
    proportion: Number | None = None
    standard_deviation: Number | None = None
    standard_deviation_x: Number | None = None
    standard_deviation_y: Number | None = None
    correlation: Number | None = None
    slope: Number | None = None
    mean_x: NumberOrDate | None = None
    mean_y: NumberOrDate | None = None

    def given(self) -> dict[str, mpq]:
        """Return the guesses that were made, by name."""
        return {name: guess for name, guess in self if guess is not None}


class DerivedRequest(RequestModel):
    """A derived statistic, and either what its components may cost together if none is known, or an accuracy."""

    model_config = ConfigDict(json_schema_extra=exactly_one_of("epsilon", "accuracy", "relative_accuracy"))

    derived: DerivedStatistic
    epsilon: Epsilon | None = Field(
        default=None,
        description="Shared by the components: with `guesses`, so that the planned interval is as narrow as possible. A"
        " component costs nothing if an earlier release is as accurate as its"
        " share would make it.",
    )
    accuracy: PositiveNumber | None = Field(
        default=None,
        description="Half the width of the interval, in the statistic's units: the smallest ε for which it is planned."
        " It is the widest of several intervals, and the slope's of a regression.",
    )
    relative_accuracy: PositiveNumber | None = Field(
        default=None, description="The same as a part of the absolute value of the guess of the statistic."
    )
    guesses: Guesses = Field(
        default_factory=Guesses,
        description="For an accuracy, to plan the width of the interval, and to share ε among the components so that it"
        " is narrow. They read no data.",
        json_schema_extra={"default": {}},
    )
    alpha: Probability = Field(
        default_factory=lambda: ONE_IN_TWENTY, description=ALPHA, json_schema_extra={"default": 0.05}
    )
    gamma: Gamma = Field(default_factory=lambda: ONE_IN_TWENTY, json_schema_extra={"default": 0.05})
    grid_refinement: GridRefinement = AUTO
    reuse: Flag = Field(default=True, description="Take components from earlier releases that are accurate enough.")
    rehearse: Rehearse = False

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if [self.epsilon, self.accuracy, self.relative_accuracy].count(None) != 2:
            raise refuse("needs exactly one of `epsilon`, `accuracy` and `relative_accuracy`")
        return self


End = float | None
EstimateValue = TypeAliasType(
    "EstimateValue", Annotated[float | list[float | None] | None, Field(description="A number, or a list of numbers.")]
)
EstimateInterval = TypeAliasType(
    "EstimateInterval",
    Annotated[
        Annotated[list[End], Field(min_length=2, max_length=2)] | list[list[End]],
        Field(description="The two ends of an interval, or a list of intervals."),
    ],
)
EstimateDate = TypeAliasType(
    "EstimateDate",
    Annotated[DateText | list[DateText | None], Field(description="An ISO date or time, or a list of them.")],
)
EstimateDateInterval = TypeAliasType(
    "EstimateDateInterval",
    Annotated[
        list[DateText | None] | list[list[DateText | None]],
        Field(description="The two ends of an interval of dates or times, or a list of intervals."),
    ],
)


class Estimate(AnswerModel):
    """A derived value and its interval. The value is null if the components define none.

    An end of the interval is null if nothing is known about it. The interval holds with probability at least
    1 - alpha; in lists, all intervals hold at once.
    """

    value: EstimateValue = Field(description=("The derived value; null if the components define none."))
    interval: EstimateInterval = Field(
        description=("The ends of the interval, or of each interval; null where nothing is known about an end.")
    )
    value_as_date: EstimateDate | None = Field(
        default=None, description="Of dates: the date or time nearest to the value."
    )
    interval_as_date: EstimateDateInterval | None = Field(
        default=None, description="Of dates: the first and the last date or time that the interval touches."
    )


class _Component(AnswerModel):
    """A release that the statistic follows from; its `accuracy` is at alpha divided by the number of components."""

    role: str = Field(description="What the statistic takes from this component.")
    statistic: Statistic
    epsilon: EpsilonText = Field(description="Its share of the ε.")
    accuracy: PlannedAccuracy
    charged: EpsilonText = Field(description="The ε that was debited for it, or would be.")
    reused: bool = Field(description="Whether an earlier release is the component, at no cost.")


class PlannedComponent(_Component):
    """A component of a plan; `release_id` is null if it would be a new release."""

    release_id: str | None = Field(description="The earlier release; null if it would be a new one.")
    reused_accuracy: PlannedAccuracy | None = Field(default=None, description=REUSED_ACCURACY)


class Component(_Component):
    """A component of a derived statistic, with the id of its release."""

    release_id: str = Field(description="The identifier of its release.")


class DerivedBudget(ReleaseBudget):
    """What it would cost now."""

    affordable: bool = Field(description="Whether the budget and the allowance cover it now.")


class _Derived(AnswerModel):
    dataset: str = Field(description="The name of the dataset.")
    derived: DerivedStatistic
    epsilon: EpsilonText = Field(description="What the components share.")
    alpha: float = Field(description="The chance, at most, that the statistic lies outside its interval.")
    treatment: TreatmentByColumn | None = TREATMENT
    units: dict[str, str] | None = Field(
        default=None, description="The unit of each estimate, by its name, where it is declared."
    )
    columns: TextsByColumn | None = COLUMNS


class ExpectedWidth(AnswerModel):
    """Half the width of the interval, or of the widest of several, if each component is released exactly.

    `basis` says of which table: of the guessed one, or of the one with the widest interval. Noise makes intervals wider
    or narrower. Null if the interval would have no ends.
    """

    half_width: float | None = Field(description="Half the width; null if the interval would have no ends.")
    basis: Literal["guesses", "worst_case"] = Field(
        description=("Whether the width is that of the guessed table, or the widest of all tables.")
    )


class DerivedPlan(_Derived):
    """The components, and which of them exist already."""

    expected: ExpectedWidth | None = Field(description="Null if the guesses that it needs are missing.")
    summary: str = Field(description="What it means, in a sentence.")
    components: list[PlannedComponent] = Field(description="The releases that the statistic follows from.")
    budget: DerivedBudget


class DerivedAnswer(_Derived):
    """A derived statistic and its components. It is not a release itself; its components are."""

    rehearsed: Rehearsed = None
    estimates: dict[str, Estimate] = Field(description="By name: the kind, or `slope` and `intercept`.")
    edges: BinEdges | None = Field(default=None, description="Cumulative counts: each is of the values below it.")
    bins: list[Bin] | None = Field(default=None, description="Margins and groups: what each number is about.")
    components: list[Component] = Field(description="The releases that the statistic follows from.")
    budget: ReleaseBudget
