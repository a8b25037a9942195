"""Requests and responses of reports."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.batches import BatchRequest, PlannedItem
from app.api.schemas.datasets import Label, Name
from app.api.schemas.field_types.numbers import WHOLE, Epsilon, Flag, Text, refuse
from app.api.schemas.responses import AnswerModel, EpsilonText, Next, NextNumber, Time
from app.services.figures.sources import MAX_RELEASES

MAX_FIGURES = 100


class ReportFigure(RequestModel):
    """A figure under whose name each run publishes some or all of its releases."""

    figure: Name = Field(description="The figure's name, the same on each dataset.")
    title: Label = Field(description="What the figure shows, such as `Body mass by species`.")
    note: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="What readers should know. It is shown as plain text."
    )
    items: (
        Annotated[
            list[Annotated[int, Field(ge=0, lt=MAX_RELEASES), WHOLE]],
            Field(min_length=1, max_length=MAX_RELEASES, fail_fast=True),
        ]
        | None
    ) = Field(default=None, description="Which items of the batch it shows, counted from 0; without it, all of them.")
    audience: Literal["viewers", "public"] = Field(
        default="viewers",
        description="Who may see it, besides those who see the dataset: its viewers, or everybody without a key.",
    )
    confirm_public: Flag = Field(
        default=False, description="Must be true to make the figure public: everybody who reaches the service reads it."
    )

    @model_validator(mode="after")
    def _confirmed(self) -> Self:
        if (self.audience == "public") != self.confirm_public:
            raise refuse('needs `confirm_public`: true together with `audience`: "public", and only then')
        return self


class ReportDefinition(RequestModel):
    """A batch, and the figures that its releases are published as."""

    batch: BatchRequest = Field(description=f"What to release: a batch of at most {MAX_RELEASES} items.")
    figures: Annotated[
        list[ReportFigure],
        Field(
            min_length=1,
            max_length=MAX_FIGURES,
            fail_fast=True,
            description="The figures, each under a name of its own.",
        ),
    ]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        items = len(self.batch.items)
        if items > MAX_RELEASES:
            raise refuse(f"must have at most {MAX_RELEASES} items in `batch`")
        if self.batch.rehearse:
            raise refuse("must not have `rehearse` in `batch`: a figure shows releases, never made-up data")
        if len({each.figure for each in self.figures}) < len(self.figures):
            raise refuse("must name each figure once in `figures`")
        if any(place >= items for each in self.figures for place in each.items or ()):
            raise refuse("must have an item in `batch` for each number in `items`, which counts from 0")
        return self


class ReportRequest(ReportDefinition):
    """A batch, its figures, and what may be spent on it."""

    epsilon_per_run: Epsilon = Field(description="The most ε that one run may cost.")
    epsilon_total: Epsilon = Field(description="The most ε that all runs may cost together, on all datasets.")


class ListedReport(AnswerModel):
    """A report and its budget."""

    dataset: str = Field(description="The dataset where it is: the next one that succeeds it is reported on.")
    report: str = Field(description="The report's name.")
    principal: str = Field(description="Who defined it: its runs are made in this name, and this allowance pays.")
    epsilon_per_run: EpsilonText = Field(description="The most ε that one run may cost.")
    epsilon_total: EpsilonText = Field(description="The most ε that all runs may cost together.")
    epsilon_spent: EpsilonText = Field(description="The ε that its runs have cost.")
    epsilon_remaining: EpsilonText = Field(description="The ε that further runs may cost.")
    changed_at: Time = Field(description="When it was defined.")


class Report(ListedReport):
    """A report with its batch and figures."""

    batch: dict[str, Any] = Field(description="The batch, as it was sent.")
    figures: list[dict[str, Any]] = Field(description="The figures, as they were sent.")


class Reports(AnswerModel):
    """A page of reports."""

    reports: list[ListedReport] = Field(description="By name.")
    next: Next


class ReportPlan(AnswerModel):
    """What a run would cost and promise on a dataset with the public facts of this one."""

    dataset: str = Field(description="The dataset's name.")
    report: str = Field(description="The report's name.")
    epsilon: EpsilonText = Field(description="The ε that a run costs at most.")
    runs: int = Field(description="How many more runs the report's budget covers.")
    epsilon_remaining: EpsilonText = Field(description="The ε that further runs may cost.")
    summary: str = Field(description="What it means, in a sentence.")
    items: list[PlannedItem] = Field(description="The plan of each item of the batch.")


class RunError(AnswerModel):
    """What is wrong with one member of the report."""

    where: str = Field(description="The path to the member, such as `batch.items.0.statistic.column`.")
    what: str = Field(description="What is wrong, and what was expected.")


class RunProblem(AnswerModel):
    """Why a run was refused: the problem that a request for the same releases would get (RFC 9457)."""

    type: str = Field(description="What kind of problem it is: a path at which the service answers a page about it.")
    title: str = Field(description="What happened, in a few words.")
    status: int = Field(description="The status that a request would get.")
    detail: str = Field(description="What happened, and what to do about it, in a sentence.")
    errors: list[RunError] | None = Field(default=None, description="What is wrong with the report, and where.")
    scope: Literal["dataset", "allowance", "report"] | None = Field(
        default=None, description="Whose budget, or whose storage for answers, does not cover the run."
    )
    requested: EpsilonText | None = Field(default=None, description="The ε that the run costs.")
    remaining: EpsilonText | None = Field(default=None, description="The ε that is left.")
    limit: EpsilonText | None = Field(default=None, description="The most ε that may be spent.")
    renews_at: Time | None = Field(default=None, description="When the allowance is renewed.")
    stored_bytes: int | None = Field(default=None, description="The bytes of answers that are stored.")
    limit_bytes: int | None = Field(default=None, description="The most bytes of answers that may be stored.")


class ReportRun(AnswerModel):
    """What a report did, or is to do, on one dataset: it has one run on each at most."""

    report: str = Field(description="The report's name.")
    number: int = Field(description="Counts the runs of the report from 1.")
    dataset: str | None = Field(
        description="The dataset that it reports on; null for callers who do not see that dataset."
    )
    state: Literal["pending", "released", "done", "refused"] = Field(
        description=(
            "`pending`: to be released. `released`: debited, and to be published. `done`: published. `refused`: "
            "nothing was debited, and `problem` says why."
        )
    )
    principal: str | None = Field(description="In whose name it was released; null before.")
    queued_at: Time = Field(
        description="When it was queued: when the dataset was registered, or later, when it was to be tried again last."
    )
    ended_at: Time | None = Field(description="When it was done or refused; null before.")
    charged: EpsilonText = Field(description="The ε that it cost.")
    releases: list[str] = Field(description="The id of the release of each item.")
    figures: list[str] = Field(description="The names of the figures.")
    problem: RunProblem | None = Field(description="Why it was refused, or why its figures could not be published.")


class ReportRuns(AnswerModel):
    """A page of a report's runs."""

    runs: list[ReportRun] = Field(description="Oldest first.")
    next: NextNumber
