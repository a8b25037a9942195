"""The request body of releases, which plans extend."""

from typing import Self

from gmpy2 import mpq
from pydantic import Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.numbers import Accuracy, Alpha, EpsilonNano, Flag, Gamma, Refinement, refuse
from app.api.schemas.statistics import StatisticRequest

ONE_IN_TWENTY = mpq(1, 20)


class ReleaseRequest(RequestModel):
    """A statistic, and either the ε to spend or the accuracy wanted."""

    statistic: StatisticRequest
    epsilon: EpsilonNano | None = Field(default=None, description="What the release may cost, all bins together.")
    accuracy: Accuracy | None = Field(default=None, description="The radius wanted (per bin for a histogram).")
    alpha: Alpha = Field(default_factory=lambda: ONE_IN_TWENTY, json_schema_extra={"default": 0.05})
    gamma: Gamma = Field(default_factory=lambda: ONE_IN_TWENTY, json_schema_extra={"default": 0.05})
    grid_refinement: Refinement = 0
    reuse: Flag = Field(default=True, description="Answer with an earlier release that is accurate enough, at no cost.")

    @model_validator(mode="after")
    def _one_of_epsilon_and_accuracy(self) -> Self:
        if (self.epsilon is None) == (self.accuracy is None):
            raise refuse("needs either `epsilon` or `accuracy`, not both")
        return self
