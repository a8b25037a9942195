"""Principals, allowances and budgets."""

from typing import Annotated

from pydantic import Field

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import Name
from app.api.schemas.numbers import LimitNano, Text, Whole
from app.api.schemas.roles import RoleName
from app.api.schemas.timestamps import Moment
from app.ledger.windows import MOST_DAYS

_EXPIRY = "From when on the key opens nothing; in the future. Null: it never expires."


class PrincipalRequest(RequestModel):
    """Somebody, or some program, that will call this service."""

    name: Name
    role: RoleName
    key_expires_at: Moment | None = Field(default=None, description=_EXPIRY)


class KeyRequest(RequestModel):
    """The properties of a new key; without a body, the defaults apply."""

    key_expires_at: Moment | None = Field(default=None, description=_EXPIRY)


class AllowanceRequest(RequestModel):
    """How much of a dataset's budget one principal may spend; 0 allows only the reuse of releases."""

    epsilon_limit: LimitNano
    window_days: Annotated[Whole, Field(ge=1, le=MOST_DAYS)] | None = Field(
        default=None,
        description=(
            "The limit is for this many days of 24 hours, and for as many again each time that they have passed. Null: "
            "it is for ever. The dataset's own limit is never renewed, and holds for all windows together."
        ),
    )


class AdjustmentRequest(RequestModel):
    """A new limit of the whole dataset, and why."""

    epsilon_limit: LimitNano
    reason: Annotated[Text, Field(min_length=1, max_length=1_000)]
