"""Requests and responses of collections of figures."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import Label
from app.api.schemas.field_types.numbers import Flag, Text, refuse
from app.api.schemas.responses import AnswerModel
from app.services.figures.collection_changes import MAX_FIGURES
from app.services.names import NAME_PATTERN

_Name = Annotated[Text, Field(pattern=NAME_PATTERN)]


class CollectedFigureRequest(RequestModel):
    """A figure to put into a collection."""

    dataset: _Name = Field(description="The name of a dataset that you own; admins name any.")
    figure: _Name = Field(description="The name of a published figure of the dataset.")


class CollectionRequest(RequestModel):
    """What a collection is to be."""

    title: Label = Field(description="What the collection shows, such as `Penguins of 2009`.")
    note: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="What readers should know. It is shown as plain text."
    )
    figures: Annotated[list[CollectedFigureRequest], Field(min_length=1, max_length=MAX_FIGURES)] = Field(
        description="The figures in the order in which they are shown, each once."
    )
    audience: Literal["viewers", "public"] = Field(
        default="viewers",
        description="Who may see the collection: its viewers, or everybody without a key, who see its public figures.",
    )
    confirm_public: Flag = Field(
        default=False, description="Must be true to make the collection public: everybody reads its title and note."
    )

    @model_validator(mode="after")
    def _are_consistent(self) -> Self:
        names = [(each.dataset, each.figure) for each in self.figures]
        if len(set(names)) != len(names):
            raise refuse("has a figure twice in `figures`")
        if (self.audience == "public") != self.confirm_public:
            raise refuse('needs `confirm_public`: true together with `audience`: "public", and only then')
        return self


class CollectedFigure(AnswerModel):
    """A figure of a collection; of a withdrawn one, only those who manage the collection are told the names."""

    dataset: str | None = Field(description="The dataset's name.")
    figure: str | None = Field(description="The figure's name.")
    version: int | None = Field(description="The number of its latest version.")
    title: str | None = Field(description="What the figure shows.")
    note: str | None = Field(description="What readers should know.")
    published_at: str | None = Field(description="When the latest version was published.")
    withdrawn: bool = Field(description="Whether the figure is withdrawn: then it shows nothing.")


class CollectionSummary(AnswerModel):
    """A collection, without its figures."""

    name: str = Field(description="The collection's name.")
    title: str = Field(description="What the collection shows.")
    note: str | None = Field(description="What readers should know.")
    audience: Literal["viewers", "public"] = Field(description="Its viewers, or everybody without a key.")
    owner: str | None = Field(description="Who made it, for those who manage it.")
    changed_at: str = Field(description="When it was made or changed last.")


class Collection(CollectionSummary):
    """A collection with those of its figures that the caller may see."""

    figures: list[CollectedFigure] = Field(description="In the order in which they are shown.")


class Collections(AnswerModel):
    """A page of collections."""

    collections: list[CollectionSummary] = Field(description="By name.")
    next: str | None = Field(description="The `after` of the next page; null on the last one.")


class CollectionViewer(AnswerModel):
    """A principal that may see a collection."""

    name: str = Field(description="The principal's name.")
    display_name: str | None = Field(description="How people call the principal.")
    granted_at: str = Field(description="When it was granted.")


class CollectionViewers(AnswerModel):
    """A page of a collection's viewers."""

    viewers: list[CollectionViewer] = Field(description="By name.")
    next: str | None = Field(description="The `after` of the next page; null on the last one.")
