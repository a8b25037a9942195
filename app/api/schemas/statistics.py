"""The requests for statistics, with one model for each kind. `app.dp.statistics` decides what the numbers mean."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    Tag,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypeAliasType

from app.api.json_codec import JsonNumber
from app.api.schemas.base import RequestModel
from app.api.schemas.field_types.filters import Where
from app.api.schemas.field_types.json_schema import PlainFirst, exactly_one_of
from app.api.schemas.field_types.numbers import (
    ColumnName,
    Flag,
    NumberOrDate,
    Probability,
    refuse,
    whole,
)
from app.dp.table.calendar_bins import PERIODS
from app.spelling import suggest_name

MAX_EDGES = 10_000
MAX_BINS = 1_000_000
MAX_SEARCHED = 5

Bounds = Annotated[
    list[NumberOrDate],
    Field(
        min_length=2,
        max_length=2,
        examples=[[2000, 7000]],
        description="The smallest and the largest value that count: by default, the declared ones.",
    ),
]
Edges = Annotated[
    list[NumberOrDate],
    Field(
        max_length=MAX_EDGES,
        fail_fast=True,
        description="The edges of the bins, ascending. A bin has its lower edge; only the last one has its upper edge.",
    ),
]
Pair = Annotated[list[ColumnName], Field(min_length=2, max_length=2, description="The names of the two columns.")]
PairOfBounds = TypeAliasType(
    "PairOfBounds",
    Annotated[
        list[Bounds | None],
        Field(min_length=2, max_length=2, description="The bounds of each column; null: the declared ones."),
        PlainFirst("number", "string"),
    ],
)
PairOfEdges = TypeAliasType(
    "PairOfEdges",
    Annotated[
        list[Edges | None],
        Field(min_length=2, max_length=2, description="The edges of each column; null where it has none."),
        PlainFirst("number", "string"),
    ],
)
PeriodName = Literal["day", "iso_week", "month", "quarter", "year"]


def _bins(value: object) -> int | str:
    """Return a number of bins, or the name of a calendar period."""
    if isinstance(value, str) and not isinstance(value, JsonNumber) and value[:1].isalpha():
        if value not in PERIODS:
            raise refuse(
                f"must be a whole number, or for dates one of {', '.join(PERIODS)}{suggest_name(value, PERIODS)}"
            )
        return value
    number = whole(value)
    if not 1 <= number <= MAX_BINS:
        raise refuse("must be at least 1" if number < 1 else f"must be at most {MAX_BINS}")
    return number


Bins = TypeAliasType(
    "Bins",
    Annotated[
        int | str,
        PlainValidator(_bins),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": MAX_BINS},
                    {"type": "string", "enum": [*PERIODS]},
                ],
                "description": "How many bins of equal width; for dates also the calendar period of each bin.",
            }
        ),
    ],
)
PairOfBins = TypeAliasType(
    "PairOfBins",
    Annotated[
        list[Bins | None],
        Field(min_length=2, max_length=2, description="The bins of each column; null where it has none."),
        PlainFirst("integer", "string"),
    ],
)


class GroupByColumn(RequestModel):
    """A category column, whose name alone is enough, or a column of dates with the calendar period of each group."""

    column: ColumnName
    bins: PeriodName | None = Field(default=None, description="Dates: a group for each period between the bounds.")
    bounds: Bounds | None = Field(default=None, description="Dates: instead of the declared bounds.")


def _spell_out(group_by: object) -> object:
    return {"column": group_by} if isinstance(group_by, str) and not isinstance(group_by, JsonNumber) else group_by


class _NameAlone:
    """Adds the name of a column to the schema of groups."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {
            "anyOf": [{"type": "string", "minLength": 1, "maxLength": 255}, handler(schema)],
            "description": "The column by which rows are grouped, by its name alone or with the period of each group.",
        }


GroupBy = TypeAliasType("GroupBy", Annotated[GroupByColumn, BeforeValidator(_spell_out), _NameAlone()])


class Mean(RequestModel):
    """The mean of a numeric or boolean column."""

    kind: Literal["mean"]
    column: ColumnName
    bounds: Bounds | None = None


class Variance(RequestModel):
    """The sample variance (n - 1) of a numeric or boolean column."""

    kind: Literal["variance"]
    column: ColumnName
    bounds: Bounds | None = None


class Covariance(RequestModel):
    """The sample covariance (n - 1) of two different columns; `bounds` has a pair for each, or null."""

    kind: Literal["covariance"]
    columns: Pair
    bounds: PairOfBounds | None = None


class OneWayHistogram(RequestModel):
    """Counts: numeric columns by `edges`, or by `bins` of equal width over `bounds`; others by category.

    With `where` the bins are of the rows that meet it, and `outside` is one more.
    """

    kind: Literal["histogram"]
    column: ColumnName
    edges: Edges | None = None
    bins: Bins | None = None
    bounds: Bounds | None = None
    where: Where | None = None


class TwoWayHistogram(RequestModel):
    """Counts of the combinations of two columns' bins, row by row, at most 1,000,000.

    `edges`, `bins` and `bounds` have an item for each column, null where it has none.
    """

    kind: Literal["histogram"]
    columns: Pair
    edges: PairOfEdges | None = None
    bins: PairOfBins | None = None
    bounds: PairOfBounds | None = None
    where: Where | None = None


class Count(RequestModel):
    """How many rows meet `where`, or how many of each declared category of the column `group_by` do."""

    kind: Literal["count"]
    where: Where | None = None
    group_by: GroupBy | None = None


class Missing(RequestModel):
    """How many rows have no value of a column: the same as a count where it `is_missing`."""

    kind: Literal["missing"]
    column: ColumnName


class Sum(RequestModel):
    """The sum of a column over the rows that meet `where`, in all or for each declared category of `group_by`."""

    kind: Literal["sum"]
    column: ColumnName
    bounds: Bounds | None = None
    where: Where | None = None
    group_by: GroupBy | None = None
    centred: Flag | None = Field(
        default=None,
        description="Sum the differences from the midpoint of the bounds: cheaper, and used to derive means.",
    )
    weight: ColumnName | None = Field(
        default=None,
        description="A column with bounds of at least 0: a centred sum of each value times its weight.",
    )


class _QuantileCounts(RequestModel):
    column: ColumnName
    probabilities: Annotated[
        list[Probability], Field(min_length=1, max_length=MAX_SEARCHED, fail_fast=True, examples=[[0.5]])
    ] = Field(description="The probabilities of the quantiles: 0.5 is the median.")
    edges: Edges | None = None
    bins: Bins | None = None
    bounds: Bounds | None = None
    where: Where | None = None


class QuantileSearch(_QuantileCounts):
    """Counts of the values below a few edges of a histogram. Each edge depends on the counts before it.

    The derived statistic `quantile` can use this as a component, and compute quantiles from the counts.
    """

    kind: Literal["quantile_search"]


class AdaptiveHistogram(_QuantileCounts):
    """Counts of coarse cells of several bins, and of fine cells around the quantiles that the coarse counts show.

    The derived statistic `quantile` uses this as a component, and computes quantiles from the counts.
    """

    kind: Literal["adaptive_histogram"]


class PairDifferences(RequestModel):
    """Σ (x - x')(y - y')/(n(n - 1)) over the pairs of the rows that meet `where` and have both values.

    The variances and covariances of known values are derived from it. `columns` may be the same column twice.
    """

    kind: Literal["pair_differences"]
    columns: Pair
    bounds: PairOfBounds | None = None
    where: Where | None = None


def _ways(value: Any) -> str:  # noqa: ANN401  JSON, or a model of it
    columns = value.get("columns") if isinstance(value, dict) else getattr(value, "columns", None)
    return "one_way" if columns is None else "two_way"


HistogramEdges = TypeAliasType(
    "HistogramEdges",
    Annotated[
        Edges | PairOfEdges,
        Field(description="The edges of the bins, ascending; for two columns, those of each."),
        PlainFirst("number", "string"),
    ],
)
HistogramBounds = TypeAliasType(
    "HistogramBounds",
    Annotated[
        Bounds | PairOfBounds,
        Field(description="The ends of the first and the last of the `bins`: by default, the declared bounds."),
        PlainFirst("number", "string"),
    ],
)


class _AnyHistogram(BaseModel):
    """Counts of the bins of one `column`, or of the combinations of the bins of two `columns`, row by row.

    Numeric columns have `edges`, or `bins` of equal width over `bounds`; others are counted by category. For two
    columns, these have an item for each, null where it has none. With `where` the bins are of the rows that meet it,
    and `outside` is one more.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra=exactly_one_of("column", "columns"))

    kind: Literal["histogram"]
    column: ColumnName
    columns: Pair
    edges: HistogramEdges | None = None
    bins: Bins | PairOfBins | None = Field(
        default=None, description="How many bins of equal width; for dates also the calendar period of each bin."
    )
    bounds: HistogramBounds | None = None
    where: Where | None = None


class _OneSchema:
    """Describes both kinds of histograms as one schema, because OpenAPI maps a kind to one schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        described = handler.resolve_ref_schema(handler(_AnyHistogram.__pydantic_core_schema__))
        return described | {"required": ["kind"]}


Histogram = TypeAliasType(
    "Histogram",
    Annotated[
        Annotated[OneWayHistogram, Tag("one_way")] | Annotated[TwoWayHistogram, Tag("two_way")],
        Discriminator(_ways),
        _OneSchema(),
    ],
)

Statistic = TypeAliasType(
    "Statistic",
    Annotated[
        Mean
        | Variance
        | Covariance
        | Histogram
        | Count
        | Missing
        | Sum
        | QuantileSearch
        | AdaptiveHistogram
        | PairDifferences,
        Field(discriminator="kind", description="A statistic that can be released. `kind` says which one."),
    ],
)
