"""Requests and responses of figures."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import Label
from app.api.schemas.derived import DerivedRequest
from app.api.schemas.field_types.numbers import Flag, Probability, Text, refuse
from app.api.schemas.field_types.roles import RoleName
from app.api.schemas.responses import AnswerModel
from app.api.schemas.statistics import Statistic
from app.services.figures.sources import MAX_RELEASES
from app.services.names import is_release_id


def _check_release_id(value: str) -> str:
    if not is_release_id(value):
        raise refuse("must be the id of a release: `GET …/releases` and `snapledger releases` list them")
    return value


ReleaseId = Annotated[Text, AfterValidator(_check_release_id)]


class ReleasedAnswer(RequestModel):
    """An answer as you got it: a release, and what you asked if it was an earlier release of something else."""

    release: ReleaseId = Field(description="The id of a release of this dataset.")
    statistic: Statistic | None = Field(
        default=None, description="The statistic that you asked for; without it, the release is shown as it is."
    )
    alpha: Probability | None = Field(
        default=None, description="The α that you asked for, beside `statistic`; without it, that of the release."
    )

    @model_validator(mode="after")
    def _has_a_question(self) -> Self:
        if self.alpha is not None and self.statistic is None:
            raise refuse("needs `statistic` together with `alpha`")
        return self


class FigureRequest(RequestModel):
    """An answer to publish, from exactly one of `release`, `releases`, `answers` and `derived`."""

    title: Label = Field(description="What the figure shows, such as `Body mass by species`.")
    note: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="What readers should know. It is shown as plain text."
    )
    release: ReleaseId | None = Field(default=None, description="The id of a release of this dataset.")
    statistic: Statistic | None = Field(
        default=None,
        description=(
            "Beside a single release: the statistic that you asked for, if an earlier release of another one answered "
            "it, such as a sum for a mean. The figure then shows this one."
        ),
    )
    releases: Annotated[list[ReleaseId], Field(min_length=1, max_length=MAX_RELEASES)] | None = Field(
        default=None, description="The ids of releases of this dataset, such as those of a batch."
    )
    answers: Annotated[list[ReleasedAnswer], Field(min_length=1, max_length=MAX_RELEASES)] | None = Field(
        default=None,
        description=(
            "Answers as you got them, such as those of a batch. Where an earlier release of another statistic "
            "answered, such as a sum for a mean, the figure shows what you asked for."
        ),
    )
    derived: DerivedRequest | None = Field(
        default=None,
        description="The request of a derived answer that follows from earlier releases alone, at no cost.",
    )
    audience: Literal["viewers", "public"] = Field(
        default="viewers",
        description="Who may see it, besides those who see the dataset: its viewers, or everybody without a key.",
    )
    confirm_public: Flag = Field(
        default=False, description="Must be true to make the figure public: everybody who reaches the service reads it."
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if [self.release, self.releases, self.answers, self.derived].count(None) != 3:
            raise refuse("needs exactly one of `release`, `releases`, `answers` and `derived`")
        if self.statistic is not None and self.release is None and len(self.releases or ()) != 1:
            raise refuse("needs exactly one release together with `statistic`")
        if self.derived is not None and self.derived.rehearse:
            raise refuse("must not have `rehearse` in `derived`: a figure shows releases, never made-up data")
        if (self.audience == "public") != self.confirm_public:
            raise refuse('needs `confirm_public`: true together with `audience`: "public", and only then')
        return self

    def list_releases(self) -> list[str]:
        """Return the ids of the releases."""
        return self.releases or ([] if self.release is None else [self.release])


class FigureRow(AnswerModel):
    """One number of a figure."""

    measure: str = Field(description="What the number is, such as `mean`, `count` or `slope`.")
    columns: str = Field(description="The columns of the table that it is about, with commas between them.")
    group: str | None = Field(description="The group, or in a two-way table the first column's bin.")
    label: str = Field(description="The bin, group, probability or measure: what an axis shows.")
    lower_edge: float | str | None = Field(description="The lower edge of an interval's bin; a date is ISO text.")
    upper_edge: float | str | None = Field(description="The upper edge of an interval's bin; a date is ISO text.")
    value: float | None = Field(description="The number, within its public range; null if it is undefined.")
    value_as_date: str | None = Field(description="The value as an ISO date, if it is a date.")
    interval_lower: float | None = Field(description="The lower end of the confidence interval; null if unbounded.")
    interval_upper: float | None = Field(description="The upper end of the confidence interval; null if unbounded.")
    alpha: float = Field(description="The probability that the interval misses the true value.")
    unit: str | None = Field(description="The unit of the value, as declared.")
    epsilon: str = Field(description="What the answer cost when it was released.")
    released_at: str = Field(description="When the answer was released.")
    interval_lower_as_date: str | None = Field(
        description="The lower end as an ISO date, rounded down, if the value is a date."
    )
    interval_upper_as_date: str | None = Field(
        description="The upper end as an ISO date, rounded up, if the value is a date."
    )
    conditions: str = Field(
        description="Which rows and values it is of, in words: the filter, and the rules for missing values and values "
        "outside the bounds. Empty if there is nothing to tell."
    )


class FigureVersion(AnswerModel):
    """One version of a figure, without its rows."""

    dataset: str = Field(description="The dataset's name.")
    figure: str = Field(description="The figure's name.")
    version: int = Field(description="The number of the version; the first one is 1.")
    title: str = Field(description="What the figure shows.")
    note: str | None = Field(description="What readers should know.")
    source: dict[str, object] = Field(
        description="The ids of its releases, with what they answered, or the request of its derived answer."
    )
    published_by: str | None = Field(
        description="The name of the principal that published it; null for callers who do not see the dataset."
    )
    published_at: str = Field(description="When it was published.")


class Figure(FigureVersion):
    """A figure with its rows."""

    rows: list[FigureRow] = Field(description="One for each number.")


class ListedFigureVersion(FigureVersion):
    """A version of a figure, and who may see it."""

    audience: Literal["viewers", "public"] = Field(description="The dataset's viewers, or everybody without a key.")


class Figures(AnswerModel):
    """A page of figures."""

    figures: list[ListedFigureVersion] = Field(description="The latest versions, by the names of dataset and figure.")
    next: str | None = Field(
        description="The `after` of the next page; null on the last one. A page of a search before it may be empty."
    )


class FigureVersions(AnswerModel):
    """A page of a figure's versions."""

    versions: list[ListedFigureVersion] = Field(description="Oldest first.")
    next: int | None = Field(description="The `after` of the next page; null on the last one.")


class FigureReader(AnswerModel):
    """Who reads figures."""

    name: str = Field(description="The caller's name.")
    display_name: str | None = Field(description="How people call the caller.")
    role: RoleName


class Viewer(AnswerModel):
    """A principal that may see the dataset's figures."""

    name: str = Field(description="The principal's name.")
    display_name: str | None = Field(description="How people call the principal.")
    granted_at: str = Field(description="When it was granted.")


class Viewers(AnswerModel):
    """A page of viewers."""

    viewers: list[Viewer] = Field(description="By name.")
    next: str | None = Field(description="The `after` of the next page; null on the last one.")
