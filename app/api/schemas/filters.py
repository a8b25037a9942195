"""The schema of filters. `app.dp.table.conditions` decides what their values mean for a column."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from app.api.json_codec import JsonNumber
from app.api.schemas.base import RequestModel, limit_members
from app.api.schemas.numbers import BoundOrDate, ColumnName, refuse, text, to_exact

MAX_VALUES = 10_000
"""The limit on values in one list."""

MAX_CONDITIONS = 100
"""The limit on conditions in one filter."""

MAX_REQUEST_VALUES, MAX_REQUEST_CONDITIONS = 20_000, 5_000
"""The limits on all filters of a request together, including those of a batch's items."""


def _value(value: object) -> Any:  # noqa: ANN401  one of three types
    """Return a boolean, an exact number, or a text, which a numeric column will read as a number."""
    if isinstance(value, bool):
        return value
    if isinstance(value, JsonNumber):
        return to_exact(value)
    if isinstance(value, str):
        return text(value)
    raise refuse("must be a string, a number, true or false")


Value = Annotated[
    Any,
    PlainValidator(_value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}),
]


class ConditionRequest(RequestModel):
    """The values of a column that meet the condition: those `in` a list, or numbers `between` two, both included."""

    one_of: Annotated[list[Value], Field(min_length=1, max_length=MAX_VALUES, fail_fast=True)] | None = Field(
        default=None,
        alias="in",
        description="Declared categories, true and false, or numbers or dates that the column can hold.",
        examples=[["Adelie"]],
    )
    between: Annotated[list[BoundOrDate], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="Columns of numbers or dates.", examples=[[2007, 2008]]
    )


def require_few_conditions(filters: Iterable[Mapping[str, ConditionRequest]]) -> None:
    """Refuse a request whose filters together have too many conditions or values.

    Raises:
        PydanticCustomError: there are more than the limits allow.
    """
    conditions = [condition for each in filters for condition in each.values()]
    if len(conditions) > MAX_REQUEST_CONDITIONS:
        raise refuse(f"has too many conditions: at most {MAX_REQUEST_CONDITIONS:,} are allowed in all its filters")
    if sum(len(each.one_of or ()) for each in conditions) > MAX_REQUEST_VALUES:
        raise refuse(f"has too many values: at most {MAX_REQUEST_VALUES:,} are allowed in all its filters")


def _require_few_values(where: dict[str, ConditionRequest]) -> dict[str, ConditionRequest]:
    require_few_conditions([where])
    return where


Where = Annotated[
    dict[ColumnName, ConditionRequest],
    Field(
        min_length=1,
        max_length=MAX_CONDITIONS,
        description=(
            f"Conditions by column, all of which a row must meet: at most {MAX_CONDITIONS}, with at most "
            f"{MAX_REQUEST_VALUES:,} values in all lists together. A missing value meets none."
        ),
        examples=[{"species": {"in": ["Adelie"]}, "year": {"between": [2007, 2008]}}],
    ),
    limit_members(MAX_CONDITIONS),
    AfterValidator(_require_few_values),
]
