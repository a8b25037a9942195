"""The schema of ledger entries that an operator writes by hand."""

from typing import Annotated

from pydantic import Field

from app.api.schemas.base import RequestModel
from app.api.schemas.field_types.numbers import Epsilon, Text


class WriteOffRequest(RequestModel):
    """A debit without a release, and why."""

    epsilon: Epsilon
    reason: Annotated[Text, Field(min_length=1, max_length=1_000)]
