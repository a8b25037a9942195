"""The statistic asked for, one model a kind. What its numbers mean is decided in `app.dp.statistics`."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.base import RequestModel
from app.api.schemas.numbers import Bound, Text, Whole

MAX_EDGES = 10_000
MAX_BINS = 1_000_000

ColumnName = Annotated[Text, Field(min_length=1, max_length=255)]
Bounds = Annotated[list[Bound], Field(min_length=2, max_length=2, examples=[[2000, 7000]])]


class MeanRequest(RequestModel):
    """The mean of a numeric or boolean column."""

    kind: Literal["mean"]
    column: ColumnName
    bounds: Bounds | None = None


class VarianceRequest(RequestModel):
    """The sample variance (n - 1) of a numeric or boolean column."""

    kind: Literal["variance"]
    column: ColumnName
    bounds: Bounds | None = None


class CovarianceRequest(RequestModel):
    """The sample covariance (n - 1) of two different columns; `bounds` has a pair for each, or null."""

    kind: Literal["covariance"]
    columns: Annotated[list[ColumnName], Field(min_length=2, max_length=2)]
    bounds: Annotated[list[Bounds | None], Field(min_length=2, max_length=2)] | None = None


class HistogramRequest(RequestModel):
    """Counts: numeric columns by `edges`, or by `bins` of equal width over `bounds`; others by category."""

    kind: Literal["histogram"]
    column: ColumnName
    edges: Annotated[list[Bound], Field(max_length=MAX_EDGES)] | None = None
    bins: Annotated[Whole, Field(ge=1, le=MAX_BINS)] | None = None
    bounds: Bounds | None = None


StatisticRequest = Annotated[
    MeanRequest | VarianceRequest | CovarianceRequest | HistogramRequest, Field(discriminator="kind")
]
