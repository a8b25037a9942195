"""Principals, allowances and budgets."""

from typing import Annotated

from pydantic import Field

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import Label, Name
from app.api.schemas.field_types.numbers import WHOLE, Epsilon, EpsilonLimit, Text
from app.api.schemas.field_types.roles import RoleName
from app.api.schemas.field_types.timestamps import Moment
from app.ledger.windows import MAX_DAYS

_EXPIRY = "When the key expires: a time in the future. Null: never."
_DISPLAY_NAME = "How people call the principal, such as `Ada Lovelace`. It is shown beside the name."


Reason = Annotated[Text, Field(min_length=1, max_length=1_000, description="Why, for people to read.")]


class PrincipalRequest(RequestModel):
    """A person or a program that will call this service."""

    name: Name
    role: RoleName
    key_expires_at: Moment | None = Field(default=None, description=_EXPIRY)
    display_name: Label | None = Field(default=None, description=_DISPLAY_NAME)


class DisplayNameRequest(RequestModel):
    """How people call a principal."""

    display_name: Label | None = Field(description=f"{_DISPLAY_NAME} Null removes it.")


class KeyRequest(RequestModel):
    """The properties of a new key; without a body, the defaults apply."""

    key_expires_at: Moment | None = Field(default=None, description=_EXPIRY)


class AllowanceRequest(RequestModel):
    """How much of a dataset's budget one principal may spend; 0 allows only the reuse of releases."""

    epsilon_limit: EpsilonLimit
    window_days: Annotated[int, Field(ge=1, le=MAX_DAYS), WHOLE] | None = Field(
        default=None,
        description=(
            "Renews the limit every so many days of 24 hours. Null: it is never renewed. The dataset's own limit is "
            "never renewed, and holds for all windows together."
        ),
    )


class AdjustmentRequest(RequestModel):
    """A new limit of the whole dataset, and why."""

    epsilon_limit: EpsilonLimit
    reason: Reason


class BudgetRequestBody(RequestModel):
    """By how much the caller's allowance should be raised, and why."""

    epsilon: Epsilon
    reason: Reason


class GrantRequest(RequestModel):
    """By how much to raise the allowance, and what to say; without a body, by what was asked."""

    epsilon: Epsilon | None = Field(default=None, description="Null: what was asked.")
    answer: Reason | None = Field(default=None, description="What to say to the principal that asked.")


class DeclineRequest(RequestModel):
    """What to say to the principal that asked."""

    answer: Reason | None = Field(default=None, description="What to say to the principal that asked.")
