"""The request body of releases, which plans extend."""

from functools import cached_property
from typing import ClassVar, Self

from gmpy2 import mpq
from pydantic import ConfigDict, Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.field_types.json_schema import exactly_one_of
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
from app.api.schemas.statistics import Statistic
from app.dp.mechanism.mechanism import AUTO
from app.services.planning.questions import Question


class ReleaseRequest(RequestModel):
    """A statistic, and either the ε to spend or the accuracy wanted."""

    model_config = ConfigDict(json_schema_extra=exactly_one_of("epsilon", "accuracy", "relative_accuracy"))

    statistic: Statistic
    epsilon: Epsilon | None = Field(default=None, description="What the release may cost, all bins together.")
    accuracy: PositiveNumber | None = Field(default=None, description="The radius wanted (per bin for a histogram).")
    relative_accuracy: PositiveNumber | None = Field(
        default=None, description="The radius wanted, as a part of the absolute value of `guess`: 0.01 is 1 % of it."
    )
    guess: Number | None = Field(
        default=None, description="What the statistic may be, in its units, as far as you know without the data."
    )
    alpha: Probability = Field(
        default_factory=lambda: ONE_IN_TWENTY, description=ALPHA, json_schema_extra={"default": 0.05}
    )
    gamma: Gamma = Field(default_factory=lambda: ONE_IN_TWENTY, json_schema_extra={"default": 0.05})
    grid_refinement: GridRefinement = AUTO
    reuse: Flag = Field(default=True, description="Answer with an earlier release that is accurate enough, at no cost.")
    rehearse: Rehearse = False

    _guess_alone: ClassVar[bool] = False

    @model_validator(mode="after")
    def _one_of_epsilon_and_accuracy(self) -> Self:
        if [self.epsilon, self.accuracy, self.relative_accuracy].count(None) != 2:
            raise refuse("needs exactly one of `epsilon`, `accuracy` and `relative_accuracy`")
        require_guess(self.relative_accuracy, self.guess, alone=self._guess_alone)
        return self

    @cached_property
    def question(self) -> Question:
        """The question that is asked; made once, since the same bytes are parsed once."""
        return Question(
            statistic=self.statistic.model_dump(),
            epsilon_nano=self.epsilon,
            accuracy=compute_wanted_accuracy(self.accuracy, self.relative_accuracy, self.guess),
            alpha=self.alpha,
            gamma=self.gamma,
            grid_refinement=self.grid_refinement,
            reuse=self.reuse,
        )


def require_guess(relative_accuracy: mpq | None, guess: mpq | None, *, alone: bool) -> None:
    """Refuse a relative accuracy without a guess, and, unless it may stand alone, a guess without one."""
    if relative_accuracy is not None and not guess:
        raise refuse("needs a `guess` other than 0 for `relative_accuracy`, which is a part of it")
    if relative_accuracy is None and guess is not None and not alone:
        raise refuse("needs no `guess` without `relative_accuracy`: leave it out")


def compute_wanted_accuracy(accuracy: mpq | None, relative_accuracy: mpq | None, guess: mpq | None) -> mpq | None:
    """Return the wanted radius, in the statistic's units, or None."""
    return accuracy if relative_accuracy is None or guess is None else relative_accuracy * abs(guess)
