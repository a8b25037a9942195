"""Principals, allowances and budgets."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import Name
from app.api.schemas.numbers import LimitNano, Text


class PrincipalRequest(RequestModel):
    """Somebody, or some program, that will call this service."""

    name: Name
    role: Literal["admin", "owner", "auditor", "analyst"]


class AllowanceRequest(RequestModel):
    """How much of a dataset's budget one principal may spend; 0 allows the reuse of what is known."""

    epsilon_limit: LimitNano
    window_days: None = Field(default=None, description="Allowances do not renew yet: null only.")


class AdjustmentRequest(RequestModel):
    """A new limit of the whole dataset, and why."""

    epsilon_limit: LimitNano
    reason: Annotated[Text, Field(min_length=1, max_length=1_000)]
