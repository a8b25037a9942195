"""Filters. What their values mean to a column is decided in `app.dp.conditions`."""

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from app.api.json_codec import JsonNumber
from app.api.schemas.base import RequestModel
from app.api.schemas.numbers import Bound, ColumnName, exact, refuse, text

MAX_VALUES = 10_000


def _value(value: object) -> Any:  # noqa: ANN401  one of three types
    """A boolean, an exact number, or a text, which is a number too where a column has numbers."""
    if isinstance(value, bool):
        return value
    if isinstance(value, JsonNumber):
        return exact(value)
    if isinstance(value, str):
        return text(value)
    raise refuse("is neither a text, a number, nor true or false")


Value = Annotated[
    Any,
    PlainValidator(_value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}),
]


class ConditionRequest(RequestModel):
    """Which values of a column meet it: those `in` a list, or numbers `between` two, the ends included."""

    one_of: Annotated[list[Value], Field(min_length=1, max_length=MAX_VALUES)] | None = Field(
        default=None,
        alias="in",
        description="Declared categories, true and false, or numbers that the column can hold.",
        examples=[["Adelie"]],
    )
    between: Annotated[list[Bound], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="Numeric columns.", examples=[[2007, 2008]]
    )


Where = Annotated[
    dict[ColumnName, ConditionRequest],
    Field(
        min_length=1,
        description="Conditions by column, all of which a row must meet. A missing value meets none.",
        examples=[{"species": {"in": ["Adelie"]}, "year": {"between": [2007, 2008]}}],
    ),
]
