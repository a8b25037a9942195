"""What the bare endpoints parse."""

from typing import Any

from pydantic import BaseModel


class Question(BaseModel):
    """The body of a plan or a release, as pydantic parses it."""

    statistic: dict[str, Any]
    epsilon: str
    alpha: float = 0.05
    gamma: float = 0.05
    grid_refinement: int = 0
    reuse: bool = True
